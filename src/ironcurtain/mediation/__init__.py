"""Carries a call through the twelve steps.

Words: the *pipeline* is a generator that yields *effects* and receives their replies; it performs nothing. The *driver*
performs them, through *ports* that the daemon fills. An *approval* is a person's yes to exactly one call. The *latch*
falls when something broke that must not be passed over: everything is refused until a person has seen to it.

Never here: a transport, a file, a clock, a second way from a decision to a forward.
"""
