"""Moves the servers of MCP clients behind the gateway, and back.

Words: a *client* is a program with an MCP configuration. A *move* takes servers out of a client's file and leaves one
entry that starts the relay. The rest of the file is not touched: comments, order, unknown keys and white space stay as
they are, and the bytes before a move are kept, so that it can be undone exactly.
"""
