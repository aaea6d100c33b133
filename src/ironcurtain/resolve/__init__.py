"""Step 2: names become things. The only room that touches the names of files and hosts.

- `paths`, `urls`, `hosts`, `parties`, `commands`: one canonical form each, or a refusal.
- `text`: characters that hide, and names that look alike.
- `call`: takes a validated call apart by its tool's annotation and puts the canonical call together.

INVARIANT: what is checked is what is forwarded. Everything the engine looks at is made here, from the same value that
is written back into the arguments.

What never happens here: a decision. A refusal here means "this has no single meaning", not "this is forbidden".
"""
