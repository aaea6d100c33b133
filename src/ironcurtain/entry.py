"""The first line of the program. What a client's configuration starts must be there at once: nothing else loads."""

import sys

_PRINCIPAL = ("--agent", "--provider", "--group", "--member")


def main() -> int:
    """Run the relay, if that is all that is asked for; otherwise the command line."""
    arguments = sys.argv[2:]
    options, values = arguments[::2], arguments[1::2]
    if sys.argv[1:2] == ["gateway"] and len(options) == len(values) and set(options) <= set(_PRINCIPAL):
        from ironcurtain.gateway import relay  # noqa: PLC0415 - and nothing else

        return relay.main(arguments)
    from ironcurtain.cli.main import main as command_line  # noqa: PLC0415 - slower

    return command_line()
