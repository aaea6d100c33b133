"""What an argument means at least, whatever its name made of it: floors under the rules of `roles.py`.

A rule recognises a kind of argument, and new servers have words that no rule knows. A floor looks at what is certain
about the call instead: a message has a recipient, a tool that changes files writes one of them. What an argument names
or says at least stands in `carried.py`. INVARIANT: a floor adds roles and never takes one away.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.carried import carried
from ironcurtain.compiler.annotate.files import STORES, is_elsewhere
from ironcurtain.compiler.annotate.modes import selectable
from ironcurtain.compiler.annotate.paths import MAKING, is_called_destination, is_put_there, is_used, path_roles
from ironcurtain.compiler.annotate.people import person_in
from ironcurtain.compiler.annotate.relative import is_root
from ironcurtain.compiler.annotate.setting import Meaning
from ironcurtain.compiler.annotate.text import first_sentence, lexicon, singular, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_REACHED: Final = frozenset({"recipient", "attendee", "channel", "send-url", "account"})
_PATHS: Final = frozenset({"read-path", "write-path", "delete-path"})
_USES: Final = {
    "read-path": frozenset({"read"}),
    "write-path": frozenset({"create", "change"}),
    "delete-path": frozenset({"delete"}),
}
"""What is done with a file by a tool that might do this."""
_HANDING_OVER: Final = (
    "upload", "push", "attach", "import", "publish", "deploy", "ingest", "install", "print", "apply", "register",
    "index",
)  # fmt: skip
"""Verbs of tools that make something elsewhere of a file."""
_EDITED: Final = frozenset({"change", "edit", "patch", "mutation", "modification"})
"""Arguments beside which a file that is written is there already."""
_FILE_WORDS: Final = lexicon("file directory folder")
_ON_FILES: Final = re.compile(
    r"\b(?:(?:log|csv|json|yaml|xml|pdf|excel|sqlite|audio|video|image|text|local) (?:files?|databases?)"
    r"|files?\b(?! (?:id|type))"
    r"|director(?:y|ies)\b|on disk)"
)
"""Said of tools that work on files of this machine."""
_WHERE: Final = lexicon(
    "left right a b old new location where in start scope parent from to save db log other with against"
)
_LISTS: Final = lexicon(
    """tag label field column keyword scope permission role type category attribute property option header key
    language format status priority reminder metadata event day date time recurrence rrule domain topic emoji reaction
    block section button embed component attachment file image medium line item row order sort filter include exclude
    expand select value text content parameter argument"""
)
"""Words for lists that hold no people."""
_NOT_PEOPLE: Final = re.compile(
    r"\b(?:tags?|labels?|fields?|columns?|keywords?|ids?|files?|urls?|dates?|types?|scopes?|rules?)\b"
)
_GOALS: Final = lexicon("target destination dest to recipient receiver peer addressee audience who whom")
_ABOUT_RECORDS: Final = lexicon("metadata option setting config configuration header filter tag address preference")
"""Objects that are said of a record, and hold none."""
_NOTICES: Final = lexicon("notification notify notifier alert alerting webhook subscription")
_PEOPLE: Final = lexicon("user username member person contact handle customer client profile")
_CROWDS: Final = _PEOPLE | lexicon("recipient attendee subscriber participant invitee guest reviewer collaborator")
_AUTHORS: Final = lexicon("from sender author creator created updated modified by own me current")
_OR_MAIL: Final = re.compile(
    r"\bor (?:an? |the )?e-?mail address|e-?mail address(?:es)? or\b|\"addresses\" ?:|@example\."
)
_IDS: Final = lexicon("id uuid guid slug")
_JSON: Final = re.compile(r"\bjson (?:array|object|string|list)\b")
_WORTH: Final = re.compile(
    r"(?:the |monetary |total |estimated )*(?:deal|order|contract|opportunity|quote|monetary) value\b"
)
_COINS: Final = re.compile(r"\b(?:smallest|minor) currency unit|\bin (?:cents|pence)\b")
_MONEY: Final = re.compile(r"\b(?:euros?|dollars?|usd|eur|gbp|cents|pence|currency|decimal string)\b")
_SAID_TO_BE_PATH: Final = re.compile(
    r"(?:the |an? )?(?:[\w-]+ ){0,3}paths?\b(?! segment)(?! of the (?:url|endpoint|api))"
)
"""A description that begins by calling an argument a path, whatever it is named."""
_RUN: Final = re.compile(r"\b(?:raw command|commands? to (?:run|send|execute|issue)|command string)\b")
_STATED: Final = lexicon("request query script statement code expression program xml command")
_IS_A_FILE: Final = re.compile(
    r"(?:optional[:,]? )?(?:the |a |an |your |full |absolute |list of |array of )*"
    r"(?:(?:paths?|location) (?:to|of) .{0,40}\b(?:files?|folders?|director(?:y|ies))\b|local (?:[\w-]+ ){0,2}files?\b)"
)
"""A description that begins by saying that an argument is a file, whatever it is named."""
_SENT_TO: Final = re.compile(
    r"\bto (?:which|whom) .{0,50}\b(?:sent|delivered|addressed)\b|\bto send (?:it |this |the \w+ )?to\b"
    r"|\bwho (?:will |should |is to )?(?:receives?|gets?)\b"
)
_MEET: Final = r"(?:channels?|streams?|rooms?|groups?|chats?)"
_SOMEBODY: Final = r"(?:users?|persons?|people|contacts?|dms?|private)"
_OR: Final = r" (?:ids? |names? )?(?:or|and|/) (?:a |an |the )?"
_PLACE_OR_PERSON: Final = re.compile(rf"\b{_MEET}{_OR}{_SOMEBODY}\b|\b{_SOMEBODY}{_OR}{_MEET}\b")
"""Said of what goes to people as well as to places."""
_RECEIVES: Final = re.compile(
    r"(?:the |an? )*(?:e-?mail )?address(?:es)? .{0,40}"
    r"\b(?:forwarded to|sent to|delivered to|to send|receives?|will get|notified)\b"
)


def raised(meanings: Mapping[str, Meaning], tool: Setting) -> dict[str, Meaning]:
    """Return the meanings of a tool's arguments, with what each must mean at least."""
    found = {argument.leaf: _raised(argument, meanings[argument.leaf], tool) for argument in tool.arguments}
    found |= dict(_files(found, tool))
    found |= dict(_both_ways(found, tool))
    found |= dict(_others_reached(found, tool))
    found |= dict(_somebody(found, tool))
    found |= dict(_anything(found, tool))
    return {argument.leaf: carried(argument, found[argument.leaf], tool) for argument in tool.arguments}


def _files(found: Mapping[str, Meaning], tool: Setting) -> Iterator[tuple[str, Meaning]]:
    """Yield the arguments that may say which file, of a tool that works on files where no rule has found any."""
    if not _works_on_files(tool) or any(meaning.roles & _PATHS for meaning in found.values()):
        return
    for argument in tool.arguments:
        meaning = found[argument.leaf]
        if _may_be_file(argument, meaning):
            yield argument.leaf, Meaning(meaning.roles | path_roles(argument, tool), "it may say which file")


def _both_ways(found: Mapping[str, Meaning], tool: Setting) -> Iterator[tuple[str, Meaning]]:
    """Yield the files that may be read as well as written: nothing says that they are only one of the two."""
    every = [meaning.roles & _PATHS for meaning in found.values()]
    changes = tool.effects & {"create", "update"} and not tool.effects & {"send", "share"}
    unwritten = changes and not any(roles - {"read-path"} for roles in every) and not tool.speaks_of(*_HANDING_OVER)
    written = any("write-path" in roles for roles in every)
    several = any(selectable(argument, "") for argument in tool.arguments)  # of which one is selected
    for argument in tool.arguments:
        own = found[argument.leaf].roles & _PATHS
        if own and several and not is_called_destination(argument):
            roles = {role for role, acts in _USES.items() if acts & tool.acts} | found[argument.leaf].roles
            yield argument.leaf, Meaning(frozenset(roles), found[argument.leaf].doubt or "each mode may use it")
        elif own == {"read-path"} and unwritten and not is_used(argument) and not tool.subject.remote:
            yield argument.leaf, _with(found[argument.leaf], "write-path", doubt="it may be written: nothing else is")
        elif own == {"read-path"} and is_root(argument) and written:
            yield argument.leaf, _with(found[argument.leaf], "write-path", doubt="a file in it is written")
        elif own == {"write-path"} and not _EDITED.isdisjoint(tool.siblings):
            yield argument.leaf, _with(found[argument.leaf], "read-path", doubt="it may be edited")
        elif own == {"write-path"} and not is_put_there(argument, tool) and not tool.speaks_of(*MAKING):
            yield argument.leaf, _with(found[argument.leaf], "read-path", doubt="it may be there already")


def _others_reached(found: Mapping[str, Meaning], tool: Setting) -> Iterator[tuple[str, Meaning]]:
    """Yield the lists beside a message or an event that may name others who are reached."""
    reaches = tool.effects & {"send", "share"} or tool.speaks_of("event", "meeting", "invitation")
    for argument in tool.arguments if reaches and not tool.only_reads else ():
        if _may_go_along(argument, found[argument.leaf]):
            yield argument.leaf, _with(found[argument.leaf], "recipient", doubt="it may name further recipients")


def _somebody(found: Mapping[str, Meaning], tool: Setting) -> Iterator[tuple[str, Meaning]]:
    """Yield the arguments that may say to whom something goes, where no rule has found anybody."""
    if not tool.effects & {"send", "share"} or any(meaning.roles & _REACHED for meaning in found.values()):
        return
    for argument in tool.arguments:
        if argument.free or _may_be_somebody(argument):
            yield argument.leaf, _with(found[argument.leaf], "recipient", doubt="it may say who is reached")


def _anything(found: Mapping[str, Meaning], tool: Setting) -> Iterator[tuple[str, Meaning]]:
    """Yield the objects of which nothing is said: sums and people may stand in them, where the tool is about these."""
    reached = any(meaning.roles & _REACHED for meaning in found.values())
    for argument in tool.arguments if not tool.only_reads else ():
        if not argument.free or argument.is_criterion or found[argument.leaf].roles & {"command"}:
            continue
        pays = "pay" in tool.acts or tool.subject.is_about("money")
        roles = {"amount"} if pays and _ABOUT_RECORDS.isdisjoint(argument.words) else set()
        roles |= {"recipient"} if tool.acts & {"send", "share"} and argument.required and not reached else set()
        if roles - found[argument.leaf].roles:
            doubt = found[argument.leaf].doubt or "what it holds is not described"
            yield argument.leaf, Meaning(found[argument.leaf].roles | roles, doubt)


def _works_on_files(tool: Setting) -> bool:
    """Return whether a tool says that it works on files, and nothing says that they are elsewhere."""
    named = {word for name in tool.siblings for word in name.split()}
    if tool.speaks_of("upload") and named & {"content", "base64", "bytes"}:
        return False  # it is given what a file holds
    if tool.subject.remote or not _IDS.isdisjoint(named) or not STORES.isdisjoint(tool.siblings):
        return False
    return bool(_FILE_WORDS & set(tool.words)) or _ON_FILES.search(tool.nutshell) is not None


def _may_be_file(argument: Argument, meaning: Meaning) -> bool:
    """Return whether an argument could say on which file a tool works: it names something, or says where."""
    if argument.above or argument.enum or argument.is_flag or argument.holds_numbers or not argument.is_plain:
        return False
    return meaning.roles == {"identifier"} or (not meaning.roles and argument.words[-1] in _WHERE)


def _may_go_along(argument: Argument, meaning: Meaning) -> bool:
    """Return whether an optional argument could name others who are reached: it is called by no word that is known."""
    if argument.required or argument.above or argument.enum or argument.is_flag or not argument.several:
        return False
    return meaning.roles <= {"identifier"} and _IDS.isdisjoint(argument.words) and not _is_known_list(argument)


def _is_known_list(argument: Argument) -> bool:
    """Return whether a list is of something else than people: by its name, or by what is said of it."""
    return not _LISTS.isdisjoint(argument.words) or bool(_NOT_PEOPLE.search(argument.says))


def _raised(argument: Argument, meaning: Meaning, tool: Setting) -> Meaning:
    if argument.is_flag or not argument.words or argument.is_criterion:
        return meaning
    if not meaning.roles and not argument.enum and (_WORTH.match(argument.says) or _COINS.search(argument.says)):
        meaning = _with(meaning, "amount")
    if argument.words[-1] == "amount" and not argument.enum and _MONEY.search(argument.says):
        meaning = _with(meaning, "amount")
    if argument.is_number:
        return meaning
    if meaning.roles & {"fetch-url"} and not meaning.roles & _PATHS and _may_be_either(argument):
        meaning = _with(meaning, "read-path", doubt="a file here, or an address")
    if argument.words == ("query",) and any(word.endswith("ql") for word in tool.words):
        meaning = _with(meaning, "command", doubt="it may be a command")
    if not meaning.roles & (_PATHS | {"command"}) and not argument.enum and _is_said_to_be_file(argument, tool):
        meaning = Meaning(meaning.roles | path_roles(argument, tool), "it is said to be a file")
    if not tool.only_reads and not argument.enum and _is_run(argument, tool):
        meaning = _with(meaning, "command", doubt="it may be a command")
    return _reaching(argument, meaning, tool)


def _reaching(argument: Argument, meaning: Meaning, tool: Setting) -> Meaning:
    """Return a meaning with who is reached: by an address in it, as somebody who is told, let in or given something."""
    if _may_hold_address(argument, meaning, tool):
        meaning = _with(meaning, "recipient", doubt="an address of a person may stand in it")
    if _is_notified(argument, tool):
        meaning = _with(_with(meaning, "recipient"), "send-url", doubt="an address of any kind that is told of events")
    if "recipient" in meaning.roles and _PLACE_OR_PERSON.search(f"{argument.says} {tool.nutshell}"):
        return _with(meaning, "channel", doubt="a place where people meet, or a person")
    if meaning.roles & _REACHED:
        return meaning
    if _holds_people(argument, tool):
        return _with(meaning, "recipient", doubt="people stand in it")
    if _is_told(argument, tool):
        return _with(meaning, "recipient", doubt="it may say who is told, or let in")
    if not tool.only_reads and _SENT_TO.search(first_sentence(argument.says)):
        return _with(meaning, "recipient", doubt="it may say who is reached")
    if _is_given_to(argument, tool):
        return _with(meaning, "recipient", doubt="it may say who is given something")
    return meaning


def _may_be_either(argument: Argument) -> bool:
    """Return whether what names a source may be a file here: it is called a path, or a URI of which nothing is said."""
    silent = argument.words[-1] in ("uri", "uris") and not argument.says
    return silent or _SAID_TO_BE_PATH.match(argument.says) is not None


def _is_said_to_be_file(argument: Argument, tool: Setting) -> bool:
    """Return whether an argument is said to be a file, and nothing says that it is one elsewhere."""
    if is_elsewhere(argument, tool, here=False) or not STORES.isdisjoint(tool.siblings):
        return False
    return _IS_A_FILE.match(first_sentence(argument.says)) is not None


def _is_run(argument: Argument, tool: Setting) -> bool:
    """Return whether an argument is run, or fed to what runs: code of a script, a method of an RPC, input."""
    words = argument.words
    fed = words in (("input",), ("input", "data"), ("stdin",)) and tool.speaks_of("command", "exec", "execute", "shell")
    code = words == ("code",) and tool.speaks_of("script", "code", "program", "function", "snippet")
    called = words == ("method",) and tool.speaks_of("rpc")
    stated = words[-1] in _STATED and tool.speaks_of("execute", "exec", "run", "eval", "raw") and argument.is_plain
    return fed or code or called or stated or _RUN.search(first_sentence(argument.says)) is not None


def _with(meaning: Meaning, role: str, doubt: str = "") -> Meaning:
    return Meaning(meaning.roles | {role}, meaning.doubt or doubt)


def _may_hold_address(argument: Argument, meaning: Meaning, tool: Setting) -> bool:
    """Return whether the text says that an address of a person may stand where a URL or settings are expected."""
    if tool.effects <= {"read", "delete"} or meaning.roles & {"outbound-content", "command", "recipient", "attendee"}:
        return False
    if _RECEIVES.match(first_sentence(argument.says)):
        return True
    return (bool(meaning.roles & {"send-url", "fetch-url"}) or argument.free) and bool(_OR_MAIL.search(argument.says))


def _may_be_somebody(argument: Argument) -> bool:
    """Return whether an argument could say who is reached."""
    plain = argument.is_plain and not argument.is_flag and not argument.is_number and not argument.enum
    return (
        plain and not argument.above and "from" not in argument.words and person_in(argument.words) in _GOALS | _PEOPLE
    )


def _is_notified(argument: Argument, tool: Setting) -> bool:
    """Return whether an argument says where notifications go, of whatever kind that is."""
    if tool.only_reads or argument.enum or not argument.is_plain or argument.words[-1] not in _GOALS | {"endpoint"}:
        return False
    around = {word for name in (*argument.above, *tool.words, *argument.words[:-1]) for word in words_of(name)}
    return not _NOTICES.isdisjoint(around)


def _holds_people(argument: Argument, tool: Setting) -> bool:
    """Return whether a text holds people in a notation of its own: `members_json`."""
    words = argument.words
    noted = len(words) > 1 and (words[-1] == "json" or _JSON.search(argument.says) is not None)
    return noted and not tool.effects <= {"read"} and person_in(words[:-1] if words[-1] == "json" else words) in _CROWDS


def _is_told(argument: Argument, tool: Setting) -> bool:
    """Return whether people are told of something or let in by their ids: `notified_user_ids`, `members_admin_ids`."""
    words = set(map(singular, argument.words))
    if argument.words[-1] in ("invite", "invitee") and not tool.effects <= {"read", "delete"}:
        return True
    people = words & {"user", "member", "person"}
    if tool.effects <= {"read", "delete"} or not people or not _AUTHORS.isdisjoint(words):
        return False
    told = words - people - _IDS - {"list"} or "to notify" in argument.says
    others = argument.several and not tool.speaks_of(*people)
    return bool(words & (_IDS | {"list"})) and (bool(told) or others)


def _is_given_to(argument: Argument, tool: Setting) -> bool:
    """Return whether a tool's name says that something goes to what an argument names: `copy_to_user(username)`."""
    goes = [word for before, word in zip(tool.words, tool.words[1:], strict=False) if before in ("to", "with")]
    named = {word.removesuffix("name").removesuffix("id") for word in argument.words}
    return not tool.only_reads and any(word in named and word in _PEOPLE for word in goes)
