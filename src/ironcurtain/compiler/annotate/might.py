"""What a tool might do at most: an upper bound of its acts, from its definition and the roles of its arguments.

A permission may rest on it: what is not in `Might.acts` the tool's own text does not even suggest. Hints of the server
(`readOnlyHint`, `destructiveHint`) only add.

INVARIANT: a word, a role or a hint only ever adds acts; nothing but a negation in the same clause keeps a verb out.

A move is `move` and `change`; moving to the trash is `trash` alone; `publish` is `send`, `share` and `create`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.acts import (
    EVERYTHING,
    NOTHING,
    acts_of_words,
    foretells,
    is_afterthought,
    is_managing,
    looks_only,
    union,
)
from ironcurtain.compiler.annotate.arguments import arguments_of
from ironcurtain.compiler.annotate.commands import is_sql
from ironcurtain.compiler.annotate.modes import selectable
from ironcurtain.compiler.annotate.prose import acts_of_text, leading_verb, sentences_of
from ironcurtain.compiler.annotate.text import clean, lexicon, words_of
from ironcurtain.compiler.annotate.widening import widening_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ironcurtain.compiler.annotate.arguments import Argument

_DATABASE: Final = frozenset({"run", "read", "create", "change", "delete"})
_OF_ROLE: Final[Mapping[str, frozenset[str]]] = {
    "read-path": frozenset({"read"}),
    "write-path": frozenset({"create", "change"}),
    "delete-path": frozenset({"delete"}),
    "fetch-url": frozenset({"read"}),
    "send-url": frozenset({"send"}),
    "recipient": frozenset({"send"}),
    "attendee": frozenset({"send"}),
    "amount": frozenset({"pay"}),
}
_FLAGS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(lexicon("delete remove purge wipe erase destroy prune drop"), frozenset({"delete"})),
    **dict.fromkeys(lexicon("publish share public presign"), frozenset({"share"})),
    **dict.fromkeys(lexicon("notify send email invite broadcast announce"), frozenset({"send"})),
    **dict.fromkeys(lexicon("execute run install restart deploy"), frozenset({"run"})),
    **dict.fromkeys(lexicon("create overwrite save write update replace"), frozenset({"create", "change"})),
}
_DEFAULT_HINTS: Final = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
"""What the protocol assumes where nothing is said; some libraries write it for every tool."""
_LASTING: Final = frozenset({"delete", "send", "share"})
"""What a flag does that cannot be taken back, wherever the verb stands in its name."""
_NOT_ACTS: Final = lexicon("include show exclude is has only no skip ignore dont with after before since until")
_QUERY_LANGUAGES: Final = re.compile(
    r"\b(?:promql|logql|traceql|soql|sosl|jql|kql|kusto|lucene|jmespath|json ?path|xpath|jq|query dsl|search syntax|"
    r"metricsql|insights query|filter expression)\b"
)
_EXAMINED: Final = lexicon("validate parse lint format estimate extract translate analyze dry")
"""Verbs that look at a statement and do not carry it out."""
_SEARCHES: Final = lexicon("search find list get lookup count")
_QUERIES: Final = lexicon("query filter search q expression")
_STATEMENTS: Final = re.compile(r"\b(?:\w*sql\w*|cypher|databases?|gremlin|sparql|duckdb|graphql)\b")
_PROGRAMS: Final = re.compile(r"\b(?:shell|bash|terminal|python|javascript|powershell)\b")
_READ_ONLY: Final = re.compile(
    r"\bread[- _]?only\b|\bselect (?:quer|statement)|\bonly select\b|\bselect[- ]only\b|\bnon-?mutating\b|\bread quer"
)
_ANYTHING: Final = re.compile(
    r"\b(?:arbitrary|any) (?:\w+ )?(?:command|code|script|api|endpoint|sql|method|tool|request|function|javascript|"
    r"python|operation|action|statement|program|expression|call)s?\b|\bdirect (?:rest )?api call|"
    r"\braw (?:\w+ )?(?:request|command|api|http|protocol|rpc|call|query|statement)s?\b|\bgeneric (?:api|request)|"
    r"\bcustom (?:api )?(?:request|api call|code|command)s?\b|\bplug-?ins?\b|"
    r"\b(?:runs?|execut\w+|eval\w*|invok\w+) (?!this )(?:\w+ ){0,3}(?:commands?|code|scripts?|javascript|python|"
    r"programs?|tools?|plug-?ins?|functions?|services?|expressions?|api)\b|"
    r"\bcalls? (?!this )(?:\w+ ){0,3}(?:functions?|services?|methods?|api)\b"
)


@dataclass(frozen=True, slots=True)
class Might:
    """What a tool might do at most."""

    acts: frozenset[str]
    """All of `acts.ACTS` that it might do, over all values of its arguments; every act if it is doubtful."""
    doubtful: bool
    """Its text gives no verb that is known, or says that it carries out whatever it is told."""
    selector: str
    """The argument that chooses what is done, or the empty string."""
    by_value: Mapping[str, frozenset[str]]
    """What each value of the selector might do; a value that is not here might do all of `acts`."""
    optional: Mapping[str, frozenset[str]]
    """Acts that are possible only where one of these arguments is given."""
    widening: Mapping[str, tuple[Any, ...]]
    """Arguments that make a call touch more or act harder, with the values that do not."""

    def of_call(self, given: Collection[str], selected: object = None) -> frozenset[str]:
        """Return what a call might do that gives these leaves, with this value of the selector."""
        chosen = self.by_value.get(selected, self.acts) if isinstance(selected, str) else self.acts
        absent = union(acts for leaf, acts in self.optional.items() if leaf not in given)
        present = union(acts for leaf, acts in self.optional.items() if leaf in given)
        return (chosen - absent) | present


def might(definition: Mapping[str, Any], args: Mapping[str, frozenset[str]]) -> Might:
    """Return an upper bound of what a tool does; `args` holds the roles of each argument leaf."""
    words, says = words_of(str(definition.get("name"))), clean(definition.get("description"))
    arguments = arguments_of(definition)
    selector, by_value = ("", {}) if looks_only(words) else _selected(arguments, says)
    named = acts_of_words(words) if not (by_value and is_managing(words)) else NOTHING
    told = NOTHING if foretells(words) else acts_of_text(says, named)
    if leading_verb(says) and is_afterthought(words):
        named = NOTHING
    if words[:1] == ("add",) and leading_verb(says) == "create":
        named -= {"change"}
    commands = {
        leaf: _of_command(words, says, arguments.get(leaf)) for leaf, roles in args.items() if "command" in roles
    }
    spoken = named | told | union(by_value.values()) | union(map(_nested, arguments.values()))
    spoken |= _access(words, spoken)
    always, optional = _of_arguments(arguments, args, spoken, commands)
    always |= _of_hints(definition.get("annotations"), spoken | always)
    always |= _selected_beside(arguments, selector, says)
    # (1) What every value of the selector shares: the verbs of the name, unless it only says `manage`.
    shared = always | (named - union(by_value.values()))
    removed = {"trash"} & (spoken - union(by_value.values()))  # told of the mode that deletes
    by_value = {value: acts | shared | (removed if "delete" in acts else NOTHING) for value, acts in by_value.items()}
    # (2) What is possible whatever is given, and what only some arguments bring.
    whole = spoken | always
    optional = {leaf: acts - whole for leaf, acts in optional.items() if acts - whole}
    whole |= union(optional.values())
    doubtful = not spoken or _does_anything(words, says, commands)
    return Might(
        acts=EVERYTHING if doubtful else whole,
        doubtful=doubtful,
        selector=selector,
        by_value=by_value,
        optional=optional,
        widening=widening_of(arguments, whole),
    )


def _of_arguments(
    arguments: Mapping[str, Argument],
    args: Mapping[str, frozenset[str]],
    spoken: frozenset[str],
    commands: Mapping[str, frozenset[str]],
) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """Return what the arguments always bring, and what each optional one brings where it is given."""
    roles = frozenset(role for found in args.values() for role in found)
    sends = bool(roles & {"recipient", "send-url"} or spoken & {"send", "upload"})
    always, optional = NOTHING, {}
    if {"channel", "outbound-content"} <= roles and spoken - {"read", "delete"}:
        always |= {"send"}
    for leaf, argument in arguments.items():
        own = args.get(leaf, NOTHING)
        acts = _of_roles(own, spoken) | commands.get(leaf, NOTHING)
        acts |= _of_flag(argument, spoken) | ({"upload"} if sends and "read-path" in own else NOTHING)
        if argument.required or _acts_by_default(argument):
            always |= acts
        elif acts:
            optional[leaf] = acts
    return always, optional


def _of_command(words: tuple[str, ...], says: str, argument: Argument | None) -> frozenset[str]:
    """Return what a command may do: a query of a read-only language reads, a database statement works on data."""
    text = f"{' '.join(words)} {says} {argument.says if argument else ''}"
    if _READ_ONLY.search(text) and "write" not in words:
        return frozenset({"read"})
    if _EXAMINED & set(words) or "without executing" in text:
        return frozenset({"read"})
    queried = argument is not None and not _QUERIES.isdisjoint(argument.words)
    if queried and (_QUERY_LANGUAGES.search(text) or (_SEARCHES & set(words) and not _STATEMENTS.search(text))):
        return frozenset({"read"})
    sql = argument is not None and is_sql(argument, f"{' '.join(words)} {says}")
    return _DATABASE if sql or (_STATEMENTS.search(text) and not _PROGRAMS.search(text)) else EVERYTHING


def _selected(arguments: Mapping[str, Argument], says: str) -> tuple[str, Mapping[str, frozenset[str]]]:
    """Return the argument that chooses what is done, and what each of its values does."""
    for argument in arguments.values():
        if argument.above or argument.is_flag or not (values := selectable(argument, says)):
            continue
        acts = {value: acts_of_words(words_of(value)) for value in values}
        if any(acts.values()) and 2 * len([1 for found in acts.values() if found]) >= len(acts):
            known = union(acts.values())
            return argument.leaf, {value: found or known for value, found in acts.items()}
    return "", {}


def _selected_beside(arguments: Mapping[str, Argument], selector: str, says: str) -> frozenset[str]:
    """Return all that arguments beside the selector may choose to do, also where the name of the tool only reads."""
    found = NOTHING
    for leaf, argument in arguments.items():
        if leaf == selector or argument.above or argument.is_flag or len(argument.enum) < 2:
            continue
        acts = [acts_of_words(words_of(value)) for value in selectable(argument, says)]
        half = sum(map(bool, acts)) * 2 >= len(acts) > 0
        found |= union(acts) if half else union(acts) & _LASTING
    return found


def _nested(argument: Argument) -> frozenset[str]:
    """Return what the values of a choice inside a list of operations may do."""
    if argument.words[-1:] == ("method",):  # of a reminder: by email
        return NOTHING
    return union(acts_of_words(words_of(value)) for value in selectable(argument, ""))


def _access(words: tuple[str, ...], acts: frozenset[str]) -> frozenset[str]:
    about = not {"permission", "access", "acl", "collaborator", "sharing"}.isdisjoint(words)
    return frozenset({"share"}) if about and acts - {"read"} else NOTHING


def _of_roles(roles: frozenset[str], spoken: frozenset[str]) -> frozenset[str]:
    """Return what the roles of an argument add to what is said in words."""
    found = union(_OF_ROLE[role] for role in roles if role in _OF_ROLE)
    if "share" in spoken:
        found -= {"send"}
    if spoken <= {"read"}:
        found -= {"pay"}
    return found - {"create"} if "change" in spoken else found


def _of_flag(argument: Argument, spoken: frozenset[str]) -> frozenset[str]:
    """Return what a flag adds by its name: `delete_source`, `notify`, `sendUpdates`."""
    words = argument.words
    switched = argument.is_flag or (argument.enum and words[:1] == ("send",))
    if not switched or not words:
        return NOTHING
    leads = _FLAGS.get(words[0], NOTHING) & _LASTING  # `delete_after_reading`
    if not _NOT_ACTS.isdisjoint(words):
        return leads
    if spoken <= {"read"} and words[0] != "overwrite":
        return union(_FLAGS.get(word, NOTHING) & _LASTING for word in words)  # `auto_delete`
    return _FLAGS.get(words[0], NOTHING) | union(_FLAGS.get(word, NOTHING) & _LASTING for word in words)


def _acts_by_default(argument: Argument) -> bool:
    """Return whether a flag acts where it is left out."""
    told = re.search(r"\bdefaults?(?: is| to|:|s to)?:? ?['\"`]?true\b", argument.says)
    return argument.is_flag and (True in argument.defaults or told is not None)


def _of_hints(hints: object, acts: frozenset[str]) -> frozenset[str]:
    """Return what the server's own hints add; they never take away."""
    if not isinstance(hints, dict) or _DEFAULT_HINTS.items() <= hints.items():
        return NOTHING
    if hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True:
        return NOTHING if acts - {"read", "create"} else frozenset({"change", "delete"})
    return frozenset({"change"}) if hints.get("readOnlyHint") is False and acts <= {"read"} else NOTHING


def _does_anything(words: tuple[str, ...], says: str, commands: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a tool carries out whatever it is told."""
    if any(acts == EVERYTHING for acts in commands.values()):
        return True
    if acts_of_words(words) == {"read"}:
        return False
    about = f"{' '.join(words)}. {' '.join(sentences_of(says, 2))}"
    return _ANYTHING.search(about) is not None and not all(
        acts <= {"read"} for acts in commands.values() or [EVERYTHING]
    )
