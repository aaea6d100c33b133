"""What tools do and what their arguments mean, from their definitions alone.

Words of this room: an *effect* is what a tool mainly does, an *act* what it might do at most (`might`); a *role* is
what an argument means to a policy; a *thing* is what people call what a tool works on; a *selector* is an argument that
chooses between acts. `annotator` calls the rules of `roles` in order; `might` and `things` are called with a definition
and the roles of its arguments. Nothing here reads files, calls a model or trusts a server's hints to loosen anything.
"""
