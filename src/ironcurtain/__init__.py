"""IronCurtain stands between an AI agent and its tools and decides every tool call."""

__version__ = "0.1.0"
__all__ = ["Runtime", "__version__"]

TYPE_CHECKING = False  # for type checkers it is true; the real one would load a module that the relay can do without
if TYPE_CHECKING:
    from ironcurtain.daemon.runtime import Runtime


def __getattr__(name: str) -> object:
    """`Runtime`, for programs that embed it; loaded when it is asked for."""
    if name == "Runtime":
        from ironcurtain.daemon.runtime import Runtime  # noqa: PLC0415 - slow, and few need it

        return Runtime
    raise AttributeError(name)
