"""Steps 10 and 12: what happened, durably, before it happens and before anybody hears of it.

Words: a *record* is one line of JSON; it carries a sequence number and the digest of the record before, so that the
records of a home form one *chain*. An *intent* stands before an effect, an *outcome* after it, a *refusal* instead of
both. A *checkpoint* is the signed head of the chain, kept outside it. *Disk* is the only thing here that writes.

Never here: a decision; a record changed or removed; a failure to write that is tried again and forgotten.
"""
