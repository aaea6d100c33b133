"""Built-in MCP servers: ordinary, untrusted children like any other, here so that the product works by itself."""
