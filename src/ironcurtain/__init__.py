"""IronCurtain stands between an AI agent and its tools and decides every tool call."""

__version__ = "0.1.0"
