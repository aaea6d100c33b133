"""The reference model: a slow, naive evaluator to hold the production engine against.

Written from `docs/engine.md` and `docs/formats.md` alone. It shares no code with the engine, keeps no state, builds no
index and caches nothing: for each claim it walks the whole chain of rules. When the two disagree, one of them has
misread the contract; the contract says which, and where it does not, the contract is what needs the change.

Words used here, in the order in which a call meets them:

leaf        one argument as the annotation spells it: `path`, `files[].path`, `options.target`
occurrence  one place in the arguments where a leaf occurs, or is missing
mode        a set of roles a leaf has, perhaps only `when` a sibling argument has some value
role        what a value is to the world: `read-path`, `recipient`, `outbound-content` ...
value       one canonical thing with one role; *known*, *unknown* (left to the server) or *opaque* (cannot be read)
stray       a string in the arguments that looks like a path although no path role says so
claim       what must be permitted: a value of a resource role, all values of a carried role, or the call itself
naming      a rule names the roles its conditions mention; that decides to which claims it applies
unanswered  `assess` and `origin`: nobody has answered yet, so the rule can tighten but not end the scan
exception   a group of conditions in `unless`, read with the polarity turned round: it takes back and never grants
contained   a path to read or write inside the sandbox, with no other name outside it
joined      the stricter of two outcomes: deny > escalate > allow; a `joined` escalate tightens like an unanswered rule
folded      how a deny or escalate compares texts: compatibility form, no case, no blanks around, no `#` and `@` before
verdict     the decision, the stage that made it, and a stable code

`reference.decide(world, call)` is the only entry. What it does not do: read bytes, validate a JSON schema beyond its
required members, look names up, see mounts.
"""
