"""The one trusted process of a home: it alone holds policy, audit, budgets, approvals, credentials and servers.

Words: the *runtime* is all of that; the *daemon* is a runtime that listens on the owner's socket. A *peer* is whoever
connects: a relay that carries one client's session, or a command of the owner's.
"""
