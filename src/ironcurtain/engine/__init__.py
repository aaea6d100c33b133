"""Steps 3 to 6: a canonical call goes in, a decision comes out. Pure: no input, no output, no clock, no names.

- `evaluate` is the plan on one screen.
- `invariants` holds whatever no policy can change; `protected` knows the places.
- `access` is the layered allow and deny of whole tools.
- `rules` splits a call into claims and runs them through a chain; `chain` finds the rules that can matter without
  looking at the others; `conditions` says whether one rule's conditions hold.
- `pattern` matches regular expressions in linear time.
- `explain` tells a person how it came about.

`docs/engine.md` is the contract. Standard library only.
"""
