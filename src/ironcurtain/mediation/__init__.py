"""Carries a call through the steps. For now steps 1 to 6: bytes in, a decision out."""
