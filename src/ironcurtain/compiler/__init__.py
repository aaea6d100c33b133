"""From what a person means to what the gateway enforces. Runs offline; nothing at run time imports it."""
