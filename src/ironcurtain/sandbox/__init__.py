"""Code mode: programs of agents run where they can do nothing but ask."""
