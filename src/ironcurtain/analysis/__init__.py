"""Offline questions about a whole policy. Never imported at run time.

A *cell* holds values of an argument that no rule tells apart (`samples`, `texts`, `automata`); an *option* is one value
of it, as the resolver reads it (`options`). A *fact* is something that rules see of a whole call, and a *requirement*
what one rule asks of it (`facts`, `watching`); what claims of a role see of a call is their *view* (`whole`). A *node*
stands for calls that are put together up to an argument and of which rules see the same (`nodes`); `space` has all
calls of a tool. A *region* holds the complete calls of one view, with what the engine says of every option (`regions`).

`prove`, `diff` and `lint` ask; `examples` makes the calls that they show, `foresee` says what is expected of one call,
`words` puts a rule into words. No decision is made here: every verdict is the engine's own.
"""
