"""The parser: a sentence that is a statement, or becomes one by a closed table of substitutions, to its last word.

No heuristics: what is left over after the table must be a statement by the grammar and pick tools, or the sentence is
unread. Names of the set-up are found as people say them: *my Projects folder* is the directory Projects, *people in my
contacts* the list contacts.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.acts import VERBS
from ironcurtain.compiler.readers.limiting import names_in
from ironcurtain.language.parsing import StatementError, parse
from ironcurtain.language.statement import ACTS, Content, Mood, Name, Statement
from ironcurtain.language.writing import RESERVED, gerund, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ironcurtain.compiler.document import Sentence
    from ironcurtain.compiler.setup import Known
    from ironcurtain.language.statement import Limit, Line

_SUBJECT: Final = (
    r"(?:(?:it|you|they|(?:the|my|our|this|an?|any) (?:ai )?(?:agent|assistant|bot|helper|model|ai)s?|claude|agents?) )"
)
_ME: Final = r"(?:(?:with )?(?:me|us))"
_CONSENT: Final = r"(?:okay|ok|approval|permission|consent|say-so|go-ahead)"
_PAST: Final = {
    "read": "read", "created": "create", "changed": "change", "edited": "change", "modified": "change", "updated": "change",
    "deleted": "delete", "removed": "delete", "trashed": "trash", "moved": "move", "sent": "send", "shared": "share",
    "uploaded": "upload", "paid": "pay", "run": "run", "written": "create or change", "added": "create",
}  # fmt: skip
_VERBS: Final = {
    "look at": "read", "view": "read", "see": "read", "edit": "change", "modify": "change", "update": "change",
    "alter": "change", "add": "create", "make": "create", "remove": "delete",
    "erase": "delete", "execute": "run",
}  # fmt: skip
"""Everyday verbs as acts. A verb that says less than its act is none: who may list or forward may not read or send."""
_ING: Final = {
    "looking at": "reading", "viewing": "reading", "editing": "changing", "modifying": "changing",
    "updating": "changing", "adding": "creating", "removing": "deleting",
    "erasing": "deleting", "executing": "running",
}  # fmt: skip
_WRITABLE: Final = r"(?= (?:files?|documents?|folders?|notes?|pages?)\b)"
_WRITE: Final = re.compile(rf"(may|never|or|,) write{_WRITABLE}")
_WRITING: Final = re.compile(rf"(before|or|,) writing{_WRITABLE}")
"""To write a file is to make or change it; to write to somebody is to send."""
_ACTS: Final = "|".join(ACTS)
_ACTS_ING: Final = "|".join(gerund(act) for act in ACTS)
_TABLE: Final = (
    (r"\b(?:please|always|ever|just|simply|also|then|kindly)\b ?,?", ""),
    (r"[\u2018\u2019]", "'"),
    (r"\b(?:must|may|should|shall|can|could|do|does|is|are|will)(?: not|n't) (?:be )?(?:allowed|permitted) to\b", "must never"),
    (r"\b(?:is|are) (?:allowed|permitted|free|welcome) to\b", "may"),
    (rf"\bnever (.+?) without (?:asking {_ME}(?: first)?|my {_CONSENT})$", r"must ask before @@\1"),
    (rf"^(?:only )?(.+?) only (?:with|after) my {_CONSENT}$", r"must ask before @@\1"),
    (r"\b(?:must|may|should|shall|can|could|do|does|will) (?:not|never)\b|\b(?:mustn't|can't|cannot|don't|shouldn't|won't)\b", "must never"),
    (r"(?<!must )\bnever\b", "must never"),
    (rf"\b(?:must |should |has to |have to )?(?:ask {_ME}|check {_ME}|get my {_CONSENT}|ask)(?: first)? before\b", "must ask before"),
    (rf"^(.+?ing\b.*?) (?:needs?|requires?) (?:my|our) {_CONSENT}$", r"must ask before \1"),
    (r"^(.+?ing\b.*?) (?:is|are) (?:fine|okay|ok|acceptable|allowed|permitted)(?: with me)?$", r"may @<\1"),
    (r"^(.+?ing\b.*?) (?:is|are) (?:forbidden|not allowed|not okay|off limits|prohibited|not permitted)$", r"must never @<\1"),
    (r"^(.+?) (?:is|are) off limits$", r"must never do anything with \1"),
    (r"\bmust never touch\b", "must never do anything with"),
    (r"^nothing (?:may|must|can|should) be (\w+)(.*)$", r"must never @>\1 anything\2"),
    (r"^no (.+?) (?:may|must|can|should) be (\w+)(.*)$", r"must never @>\2 \1\3"),
    (r"^(.+?) must never be (\w+)(.*)$", r"must never @>\2 \1\3"),
    (r"^(.+?) (?:may|can) be (\w+)(.*)$", r"may @>\2 \1\3"),
    (rf"^{_SUBJECT}(?=may|must|can)", ""),
    (r"^can\b", "may"),
    (r"\b(?:people|recipients|persons) at once\b|\b(?:recipients|persons)\b", "people"),
    (r"\b(?:one|a single) (email|mail|message)(?= to more than)", r"\1"),
    (r"\b(?:an|a) (email|mail|message)\b", r"\1"),
    (r"(?<=\bpeople) at (?:a time|once)$", ""),
    (r"\b(?:people|anyone|anybody|someone|somebody|those|members|addresses) (?:who are |that are )?(?:in|on|of) (?:my |our |the )?(?=\u00ab)", ""),
    (r"\b(?:people|anyone|anybody|someone|somebody) (?:who (?:is|are) )?(?:not in|not on|outside(?: of)?) (?:my |our |the )?(?=\u00ab)", "anyone outside "),
    (r"\b(?:addresses|anyone|people|anybody) (?:at|from) (?=[\w-]+\.\w)", "anyone at "),
    (r"\b(?:under|inside(?: of)?|within|into)\b", "in"),
    (r"\b(?:outside of|not in|anywhere but in|elsewhere than in)\b", "outside"),
    (r" (in|on) ([^,]+), (?:and |but )?nowhere else$", r" only \1 \2"),
    (r"([\w-]+(?:\.[\w-]+)+) (?:with|and) (?:all |its )*subdomains\b", r"\1 or *.\1"),
    (r"^(?:for )?(?:any|every) other ([\w -]+?)(?::|,) (?:please )?ask(?: me)?(?: first)?$", r"must ask otherwise before doing anything with \1"),
    (r",? (?:apart from|but not|other than|except for|with the exception of)\b", ", except"),
    (r"\b(?:all|any|every|my|our|the)\b(?! ?, except) ?", ""),
    (r"\b(?:and|as well as)\b", "or"),
    (r"\beverything\b", "anything"),
    (r",? or\b", " or"),
    (r"\s+", " "),
)  # fmt: skip
"""Applied in this order; a later one sees what the earlier ones left."""
_EDGE: Final = r"(?:(?<![\w#@~/*:+.\-\u00ab])(?=\w)|(?<=\w)(?![\w#@~/*:+\-\u00bb]|\.\w))"
"""Where a word begins or ends that is no part of a name: of a channel, a path, an address, a host, a compound."""
_SUBSTITUTIONS: Final = tuple(
    (re.compile(pattern.replace(r"\b", _EDGE), re.IGNORECASE), replacement) for pattern, replacement in _TABLE
)
_CAPITALS: Final = re.compile(
    rf"{_EDGE}(?:{'|'.join((*ACTS, *map(gerund, ACTS), *_VERBS, *_ING))}|never|may|must|ask|before|email|files?|messages?){_EDGE}",
    re.IGNORECASE,
)
"""Words of the grammar, which mean the same in capitals."""
_ATOM: Final = re.compile(r"`[^`]*`|(?<=\bmatches )/(?:[^/\\]|\\.)+/")
"""What stands for itself as a whole: the name of an argument, a pattern."""
_NAME: Final = re.compile(r"[^\s,;\"`]*[#@~/\\*\d][^\s,;\"`]*|\w+(?:[-.]\w+)+")
"""Words that are names, and no English."""
_MAIL: Final = frozenset({"email", "mail"})
"""Verbs that are things before all else."""
_COMPOUNDS: Final = frozenset({"say-so", "go-ahead", "read-only", "e-mail", "e-mails"})
"""Words of English that look like names."""
_TWO: Final = re.compile(
    r"\s*(?:;|, but|, and|, or)\s+(?=(?:it |they |you )?(?:may|must|can|never|ask|don't|do not|cannot)\b)"
)
_OF_SERVER: Final = re.compile(r"(?:in|on|over) (?:the )?([\w-]+)(?: server)?, (.+)", re.IGNORECASE | re.DOTALL)
_READ_ONLY: Final = re.compile(r"(?:the )?(\u00ab0\u00bb|[\w-]+)( server)? is read-only", re.IGNORECASE)
_CONTENT: Final = re.compile(
    r" (?:that|which) (?:(?:could|might|may|can) be read as|(?:sounds?|reads?|looks?) like|contains?|mentions?) (.+)$",
    re.IGNORECASE,
)
_CLOSED: Final = re.compile(
    r"(\u00ab0\u00bb) (?:is|are) off limits|(?:you|it) must(?: not|n't| never) touch (\u00ab0\u00bb)", re.IGNORECASE
)
"""Said of a directory; of another place it would speak of tools that have no argument for one."""
_SAYABLE: Final = frozenset({"send", "create", "change", "share", "upload"})
"""Acts whose calls hold the text that a question about content is about."""
_NOT_CONTENT: Final = frozenset(
    """or and nor except unless but to with without in on from than more less if when where that which attachment
    attachments recipient recipients people""".split()  # noqa: SIM905 - to be read
)
"""Words after which a sentence speaks of something else than content."""
_LONGEST_CONTENT: Final = 5  # words
_DIRECTORY: Final = r"folders?|director(?:y|ies)|repositor(?:y|ies)|repos?|projects?"
_LIST: Final = r"lists?|team"
_OTHER: Final = r"channels?|calendars?|boards?|databases?|tables?|workspaces?|buckets?|notebooks?|inbox"


def read_by_table(sentence: Sentence, known: Known, is_right: Callable[[list[str]], bool]) -> tuple[str, ...] | None:
    """Return the statements that a sentence is, or nothing; `is_right` says whether statements pick tools."""
    # An item is not read without the line that introduces its list: *If I have approved it:*.
    text = (f"{sentence.lead} {sentence.text}" if sentence.lead else sentence.text).strip().rstrip(".!")
    of_server = _OF_SERVER.fullmatch(text)
    server, text = of_server.groups() if of_server else ("", text)
    if server.lower() in {name.lower() for name in (*known.directories, *known.lists, *known.names)}:
        return None
    found = _read_only(text, known, is_right)
    clauses = _TWO.split(text) if not found else []
    for clause in clauses:
        direct = _direct(clause)
        lines = [direct] if direct is not None and not _is_ambiguous(clause, direct, known) else []
        lines += [line for line in (_substituted(clause, known),) if line is not None]
        lines = [line for line in lines if _is_complete(parse(line), split=len(clauses) > 1)]
        lines = [_of(line, server) for line in lines] if server else lines
        right = next((line for line in lines if line and is_right([line])), None)
        if right is None:
            return None
        found.append(right)
    return tuple(found) if found and is_right(found) else None


def as_statement(sentence: Sentence, known: Known) -> str | None:
    """Return the statement that a sentence is by its form, whether or not its names are known; nothing if it is none."""
    text = sentence.text.strip().rstrip(".!")
    return _direct(text) or _substituted(text, known) if not sentence.lead and not _TWO.search(text) else None


def _is_content(text: str) -> bool:
    """Return whether a few words say what a text may be about, and nothing else."""
    words = re.findall(r"[\w'-]+", text.lower())
    other = {*_NOT_CONTENT, *ACTS, *map(gerund, ACTS), *_VERBS, *_ING}
    return len(words) <= _LONGEST_CONTENT and other.isdisjoint(words) and not re.search(r"[^\w' -]|[0-9]", text)


def _read_only(text: str, known: Known, is_right: Callable[[list[str]], bool]) -> list[str]:
    """Return what it means that a server, or a directory of the set-up, is read-only; nothing if it may be either."""
    marked, names = _with_names(text, known)
    found = _READ_ONLY.fullmatch(marked)
    if found is None:
        return []
    changes = [act for act in ACTS if act != "read"]
    if names:
        name = _plain(names[0])
        if name not in known.directories or found[2] or is_right([f"may read anything of {names[0]}."]):
            return []
        where, changes = f"files in {names[0]}", ["create", "change", "delete", "trash", "move"]
    else:
        where = f"anything of {found[1]}"
    return [f"may read {where}.", f"must never {', '.join(changes[:-1])} or {changes[-1]} {where}."]


def _is_complete(line: Line, *, split: bool) -> bool:
    """Return whether a clause says on what it permits something, and content of calls that have some."""
    if not isinstance(line, Statement):
        return True
    if split and line.mood is not Mood.NEVER and not line.doing.things and not line.doing.tools:
        return False  # *You may read, but never send, email.*
    about = any(isinstance(limit, Content) for limit in line.limits)
    return not about or set(line.doing.acts) <= _SAYABLE


def _of(line: str, server: str) -> str:
    """Return a statement about things, as one about those of a server; nothing if it names a server already."""
    statement = parse(line)
    if not isinstance(statement, Statement) or not statement.doing.things or statement.exceptions:
        return ""
    if any(thing.of is not None for thing in statement.doing.things):
        return ""
    things = tuple(replace(thing, of=Name(server)) for thing in statement.doing.things)
    return write(replace(statement, doing=replace(statement.doing, things=things)))


def _uncapitalised(clause: str) -> str:
    """Return a clause without the capital of its first word, unless all of that word is in capitals: `DNS`."""
    return clause if clause[1:2].isupper() else clause[:1].lower() + clause[1:]


def _direct(clause: str) -> str | None:
    try:
        line = write(parse(_uncapitalised(clause)))
    except StatementError:
        return None
    # A word of the grammar where a name is expected is no name: *with people*, *to contacts or ask*.
    names = {name.lower() for name in re.findall(r'"(\w+)"', line)} - {
        n.lower() for n in re.findall(r'"(\w+)"', clause)
    }
    return None if names & RESERVED else line


def _substituted(clause: str, known: Known) -> str | None:
    if "\u00ab" in clause:
        return None
    text, names = _with_names(_uncapitalised(clause), known)
    if (closed := _CLOSED.fullmatch(text)) and _plain(names[0]) in known.directories:
        text = f"must never do anything with anything in {closed[1] or closed[2]}"
    if re.search(r"\bonly\b", text) and not re.search(r"\bonly (?:in|on|to|with|after|where)\b", text):
        return None  # what it closes is not said in the place where it must be
    head, where, values = text.partition(" where ")
    text = _CAPITALS.sub(lambda found: found[0].lower(), head) + where + values
    for pattern, replacement in _SUBSTITUTIONS:
        text = pattern.sub(replacement, text).strip()
    for mark, words in ((r"@@(\S+(?: \S+)?)", _VERBS), (r"@<(\S+(?: \S+)?)", _ING)):
        text = re.sub(mark, partial(_act, table=words, gerunds=mark.startswith("@@")), text)
    past = re.search(r"@>(\w+)", text)
    if past:
        if past.group(1).lower() not in _PAST:
            return None
        text = text.replace(past.group(), _PAST[past.group(1).lower()])
    text = _acts(text)
    for number, name in enumerate(names):
        text = text.replace(f"\u00ab{number}\u00bb", name)
    line = _direct(text)
    if line is None or not _keeps_names(clause, line):
        return None
    if re.search(r"\bwhere\b.*\b(?:and|as well as)\b", clause, re.IGNORECASE):
        return None  # values that must all be there
    return None if _is_ambiguous(clause, line, known) else line


def _is_ambiguous(clause: str, line: str, known: Known) -> bool:
    """Return whether words of a statement may be meant otherwise than the grammar takes them."""
    if re.search(r"\d,\d", clause):
        return True  # thousands
    statement = parse(line)
    if not isinstance(statement, Statement):
        return False
    every = {name.lower() for name in (*known.directories, *known.lists, *known.names)}
    nouns = [thing.noun.lower() for thing in statement.doing.things if thing.noun]
    short = {name.lstrip("#@") for name in every if name.startswith(("#", "@"))} - every
    if any(name.text.lower() in short for name in names_in(_limits(statement))):
        return True  # *notes on incidents*, beside a channel #incidents
    named = any(noun in every for noun in nouns)  # the directory Documents, and not documents anywhere
    verbal = any(noun in VERBS and noun not in _MAIL for noun in nouns[1:])  # delete messages or post
    inside = any(re.search(rf"(?<![\w/~.-]){re.escape(name)}/", clause, re.IGNORECASE) for name in every)
    return named or verbal or inside


def _limits(statement: Statement) -> list[Limit]:
    """Return all limits of a statement, those of its exceptions included."""
    return [*statement.limits, *(limit for exception in statement.exceptions for limit in exception.limits)]


def _plain(name: str) -> str:
    """Return a name of the set-up without its quotes; what stands for itself has none and is none."""
    return str(json.loads(name)) if name.startswith('"') else ""


def _keeps_names(clause: str, line: str) -> bool:
    """Return whether every name of a clause stands in its statement as it was written.

    INVARIANT: the table changes English and never a name, whatever its rows are.
    """
    names = (name.rstrip(".:!?)'").lstrip("('") for name in _NAME.findall(clause))
    return all(name.lower() in _COMPOUNDS or not name or name in line for name in names)


def _act(found: re.Match[str], *, table: dict[str, str], gerunds: bool) -> str:
    """The verb at the head of some words: into `-ing` after `ask before`, out of it after a permission."""
    words = found.group(1)
    first, _, rest = words.partition(" ")
    if gerunds:
        known = table.get(words) or table.get(first) or (first if first in ACTS else "")
        shown = " or ".join(gerund(act) for act in known.split(" or ")) if known else first
        return shown if words in table else f"{shown} {rest}".strip()
    plain = {gerund(act): act for act in ACTS}
    known = table.get(words) or table.get(first) or (first if first in plain else _base(first))
    shown = " or ".join(plain.get(each, each) for each in known.split(" or "))
    return shown if words in table else f"{shown} {rest}".strip()


def _base(gerund_: str) -> str:
    """Return the verb that a word in `-ing` is of, among those that tools have in their names."""
    stem = gerund_.removesuffix("ing")
    forms = (stem, f"{stem}e", stem[:-1] if stem[-2:-1] == stem[-1:] else stem)
    return next((form for form in forms if form != gerund_ and form in VERBS), gerund_)


def _acts(text: str) -> str:
    """Everyday verbs where the grammar expects an act."""
    text = _WRITE.sub(r"\1 create or change", text)
    text = _WRITING.sub(r"\1 creating or changing", text)
    for table, after in ((_VERBS, r"(?:may|never|or|,)"), (_ING, r"(?:before|or|,)")):
        for verb in sorted(table, key=len, reverse=True):
            text = re.sub(rf"({after}) {verb}{_EDGE}", rf"\1 {table[verb]}", text)
    return text


def _with_names(text: str, known: Known) -> tuple[str, list[str]]:
    """Put a mark in the place of every name of the set-up, and of quoted text."""
    names: list[str] = []

    def marked(name: str) -> str:
        names.append(json.dumps(name, ensure_ascii=False))
        return f"\u00ab{len(names) - 1}\u00bb"

    def kept(atom: str) -> str:
        names.append(atom)
        return f"\u00ab{len(names) - 1}\u00bb"

    text = _CONTENT.sub(lambda m: f" whose text might be read as {marked(m[1])}" if _is_content(m[1]) else m[0], text)
    text = _ATOM.sub(lambda m: kept(m[0]), text)
    text = re.sub(r'"([^"]+)"|\u201c([^\u201d]+)\u201d', lambda m: marked(m[1] or m[2]), text)
    every: Iterable[str] = (*known.directories, *known.lists, *known.names)
    for name in sorted(every, key=len, reverse=True):
        kinds = _DIRECTORY if name in known.directories else _LIST if name in known.lists else ""
        kinds = f"{_DIRECTORY}|{_LIST}|{_OTHER}" if name in known.names else kinds
        # Another kind of thing that bears the name is not what the set-up names: *the family channel*.
        another = rf"(?! (?:{_DIRECTORY}|{_LIST}|{_OTHER})\b)"
        pattern = rf"(?<![\w\u00ab/~.#@-])(?:my |the |our )?{re.escape(name)}(?: (?:{kinds})\b)?{another}(?![\w/-])"
        if re.search(pattern, text, re.IGNORECASE):
            text = re.sub(pattern, marked(name), text, flags=re.IGNORECASE)
    return text, names
