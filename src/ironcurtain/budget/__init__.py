"""How much an agent may use, and whether it gets anywhere.

Words: an *account* belongs to a principal, or to one task of a principal; whoever acts under the same principal shares
it. A *reservation* is made before a call and stays used once the call's intent is recorded: the record is the only
store, and what it says is counted again after a crash. A *loop* is calls that bring nothing new.
"""
