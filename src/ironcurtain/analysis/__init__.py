"""Offline questions about a whole policy. Never imported at run time."""
