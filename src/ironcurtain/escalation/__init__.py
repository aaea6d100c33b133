"""People, and what they are asked.

Words: a *question* is one call that waits. An *answer* is a person's yes or no to it. A *grant* is a yes to more than
one call: the same call again in this session, or calls of a *pattern* that the person has seen. A *group* is questions
of one kind that wait together. *Channels* carry questions to people; the first answer counts, whichever brings it.

Never here: a decision. A person turns an escalation into an allow, for calls that they could see; never a deny.
"""
