"""Helpers for tests of IronCurtain and of programs that embed it."""
