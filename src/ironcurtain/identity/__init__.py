"""Who acts, and with whose keys.

The *broker* is a process beside the daemon that alone holds a key to a model, for one agent of the owner's. It is told
what was said and answers with what the model says next. It calls no tool and reads no file of the home.
"""
