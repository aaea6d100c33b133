"""Step 9: a person decides what the policy leaves to them.

Words: a *question* is one call that waits. An *answer* is a person's yes or no to it, with who gave it. Whoever answers
first is heard; later answers find nothing to answer.

Never here: an answer that the agent could give; a deny turned into anything else; a question that outlives its time.
"""
