"""Step 1: bytes become a `ToolCall`, or are refused with a code.

- `strict_json` reads JSON that has one meaning only.
- `call` reads a call from it.
- `schema` admits a tool's pinned schema once, then fills in defaults and validates arguments.
- `limits` names every bound.

Who calls: the command line and the gateway. What never happens here: a decision, a file, the network.
"""
