"""The built-in agent, on the untrusted side: it holds no key, sees no file, and reaches nothing but two pipes.

A *message* is what a person, the model or a tool said. A *turn* is one message of the model and what came of it. The
daemon starts the loop behind the walls of a sandbox, gives it what was said so far, and serves it as any MCP client;
besides, the loop may ask it for the model's next message, and for the person's.
"""
