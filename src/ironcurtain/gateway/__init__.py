"""MCP on both sides. Transports and translation only: nothing here decides.

Words: *inbound* is towards the agent, *upstream* towards the servers. A *session* is one client's connection. The
*catalogue* is what all servers offer, under our names for them. An *era* is one of the two shapes of the protocol: the
*handshake* era (revisions up to 2025-11-25) begins with `initialize` and lets a server ask its client; in the
*envelope* era (2026-07-28) every request says who sends it, and a server that needs something returns and is called
again.

Never here: bytes that came in going out again. Everything is read, and what goes on is written anew from what was read.
"""
