"""Readers turn the sentences of a constitution into statements: the parser, a model, or the owner.

Words: a *reading* is what one sentence came to: statements, or that it is no rule, or that it was skipped; an *unread*
sentence is one that no reader understood. A reading that the owner agreed to is kept in `readings.json` and used again
while the sentence and its headings stay as they are.

INVARIANT: a reader proposes. What it wrote is parsed, compiled and shown like any other statement, and nothing that a
model says reaches the policy in any other way.
"""
