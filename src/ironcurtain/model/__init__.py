"""The nouns. Frozen values, standard library only; every other room speaks in these.

Words used here and everywhere:

- *call*: what an agent asks for. A `ToolCall` has been read; a `CanonicalCall` has been resolved.
- *leaf*: one argument of a tool, nested ones written `files[].path`.
- *role*: what a leaf's value means to the policy (`read-path`, `recipient`, ...).
- *claim*: one thing a call asks permission for; rules decide claims.
- *decision*: allow, deny or escalate, with the stage, the code and the reasons.

What never happens here: input, output, the clock, a decision.
"""
