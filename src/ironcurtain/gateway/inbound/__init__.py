"""Towards the agent: sessions over the daemon's socket or over HTTP."""
