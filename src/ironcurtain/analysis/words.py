"""A rule in words, from the artifact itself, so that lists keep their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SHOWN: Final = 4
_THEN: Final = {"allow": "allows", "deny": "denies", "escalate": "asks about"}


def rule_in_words(rule: Mapping[str, Any]) -> str:
    """What a rule does, in one line."""
    conditions = rule["if"]
    where = ", ".join(_conditions(conditions))
    besides = ", outside the sandbox" if rule.get("elsewhere") else ""
    besides += ", where another rule permits it" if rule.get("joined") else ""
    for group in conditions.get("unless", ()):
        besides += f", unless {' and '.join(each.removeprefix('where ') for each in _conditions(group))}"
    return f"{_THEN[rule['then']]} {_tools(conditions)}{' ' if where else ''}{where}{besides}"


def _tools(conditions: Mapping[str, Any]) -> str:
    servers = _some(conditions.get("server", ()), "or")
    tools = _some(conditions.get("tool", ()), "or")
    if tools:
        return f"{tools} of {servers}" if servers else tools
    if servers:
        return f"every tool of {servers}"
    effects = conditions.get("sideEffects")
    return "every tool" if effects is None else f"tools {'with' if effects else 'without'} side effects"


def _conditions(conditions: Mapping[str, Any]) -> Iterator[str]:
    if "roles" in conditions:
        yield f"for {_some(conditions['roles'], 'or')}"
    if test := conditions.get("paths"):
        within = [test["within"]] if isinstance(test["within"], str) else test["within"]
        yield f"with {_some(test['roles'], 'or')} inside {_some(within, 'or')}"
    if test := conditions.get("domains"):
        yield f"with {_some(test['roles'], 'or')} at {_some(test['allowed'], 'or')}"
    for test in conditions.get("lists", ()):
        yield f"with {_some(test['roles'], 'or')} in {_some(test['allowed'], 'or')}"
    for name, predicate in conditions.get("values", {}).items():
        yield f"where {name.partition(':')[2].replace('+', ' or ')} {_predicate(predicate)}"
    if test := conditions.get("origin"):
        sources = [test["from"]] if isinstance(test["from"], str) else test["from"]
        yield f"where {_some(test['roles'], 'or')} comes from {_some(sources, 'or')}"
    if test := conditions.get("assess"):
        yield f"if “{test['question']}”"


def _predicate(predicate: Mapping[str, Any]) -> str:
    words = {
        "equals": "is {}",
        "in": "is {}",
        "matches": "reads like {}",
        "minimum": "is at least {}",
        "maximum": "is at most {}",
        "maxLength": "has at most {} characters",
        "minItems": "has at least {} values",
        "maxItems": "has at most {} values",
        "given": "is given",
    }
    return " and ".join(
        words[key].format(_some(value, "and" if key == "matches" else "or") if isinstance(value, list) else value)
        for key, value in predicate.items()
    )


def _some(names: Sequence[Any], word: str) -> str:
    shown = [str(name) for name in names[:_SHOWN]]
    if len(names) > _SHOWN:
        return f"{', '.join(shown)} {word} {len(names) - _SHOWN} more"
    return f"{', '.join(shown[:-1])} {word} {shown[-1]}" if len(shown) > 1 else "".join(shown)
