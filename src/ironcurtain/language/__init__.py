"""The plain language: statements in controlled English, one line and one meaning each.

    MOOD ACT THING [limits] [, except ...] .

`grammar.lark` is the grammar; `statement.py` the typed statement; `parsing.py` reads a line into one and says what was
expected where it cannot; `writing.py` writes it back. INVARIANT: `parse(write(statement)) == statement`.

Words: a *mood* says what holds (may, must ask before, must never, must ask otherwise before); an *act* is one of eleven
verbs; a *thing* is a noun that tools are about, a tool or a server; a *limit* says where, to whom, with which
arguments, how many or about what; an *exception* takes back.

Nothing here knows tools, a set-up or a policy: what a statement means for these is `compiler/`.
"""
