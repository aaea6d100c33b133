"""Towards the servers: start them, speak to them, and survive whatever they do."""
