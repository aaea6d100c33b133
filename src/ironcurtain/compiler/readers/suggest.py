"""The nearest statements for a sentence that no reader understood, by shared acts, things and names.

These are offers to the owner, who picks one, edits it or writes another. Nothing here is ever taken without that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.acts import acts_of_words
from ironcurtain.compiler.annotate.text import singular, words_of
from ironcurtain.compiler.catalogue import normal
from ironcurtain.compiler.naming import Setup
from ironcurtain.compiler.problems import Problem
from ironcurtain.compiler.statements import Sourced, compile_statements
from ironcurtain.language.parsing import StatementError, parse
from ironcurtain.language.statement import ACTS, Name
from ironcurtain.language.writing import gerund, write, write_name
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.document import Sentence
    from ironcurtain.compiler.naming import Meant
    from ironcurtain.compiler.setup import Known

OFFERED: Final = 3
_VERBS: Final = {
    "read": """read look view see list search browse find check open get show watch query summarise summarize check inspect
        fetch download consult access know""",
    "create": "create add make write draft schedule book plan save generate stage commit comment insert",
    "change": """change edit update modify write rename label tick mark complete close assign set move adjust correct tag
        reschedule rewrite reorder finish tidy sort turn switch snooze archive""",
    "delete": "delete remove erase drop purge destroy clear wipe cancel discard",
    "trash": "trash bin",
    "move": "move rename archive relocate",
    "send": "send mail email reply answer post message forward write notify publish comment text invite tell push submit",
    "share": "share invite grant publish give permission access",
    "upload": "upload",
    "pay": "pay buy order purchase spend transfer book sell trade donate",
    "run": "run start trigger execute launch restart stop build deploy call use",
}  # fmt: skip
_NEVER: Final = re.compile(
    r"\b(?:no|not|never|nothing|nobody|none|don'?t|doesn'?t|can'?t|cannot|mustn'?t|won'?t|forbidden|off[- ]limits|hands off|"
    r"prohibited|avoid|stay out|keep out|isn'?t|aren'?t|taboo|out of bounds|neither|nor|alone)\b",
    re.IGNORECASE,
)
_ASK: Final = re.compile(
    r"\b(?:ask|asks|asking|asked|approval|approve\w*|permission|consent|okay from|confirm\w*|check with|run it by|let me know|"
    r"sign[- ]?off|go-ahead|say yes|said yes|my ok|my okay|an okay|needs? (?:my|our|an?) ok\w*|first|beforehand|see it before|"
    r"show me|let me)\b",
    re.IGNORECASE,
)
_ELSE: Final = re.compile(r"\b(?:else|other|others|otherwise|rest|remaining|different|elsewhere)\b", re.IGNORECASE)
_CONTENT: Final = re.compile(
    r"\b(?:sounds? (?:like)?|mention\w*|contain\w*|about (?:my|our|the)|promis\w+|reveal\w*|angry|rude|private information|"
    r"personal|confidential|tone|complain\w*|commit\w* (?:me|us)|insult\w*|discuss\w*|says?|wording)\b",
    re.IGNORECASE,
)
_SPLIT: Final = re.compile(
    r"\s*(?:;|\.\s|,? but\b|, and (?=(?:it|they|you|never|no|ask|only|the|don)\b)|, though\b|, however\b|: )\s*",
    re.IGNORECASE,
)
_ONLY: Final = re.compile(r"\bonly\b|\bnothing else\b|\bnowhere else\b|\bno other\b", re.IGNORECASE)
_MORE: Final = re.compile(
    r"\b(?:more than|over|above|at most|up to|no more than|maximum(?: of)?|max|exceed\w*|under|below|less than)\s+"
    r"[$\u20ac\u00a3]?\s?(\d[\d,]*(?:\.\d+)?|two|three|four|five|six|ten|twelve|twenty)\s*(\w+)?",
    re.IGNORECASE,
)
_WORDS: Final = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10, "twelve": 12, "twenty": 20}
_PEOPLE: Final = frozenset({"person", "people", "recipient", "address", "contact", "guest", "attendee", "receiver"})
_LITERAL: Final = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.]+\w|#[\w-]+|~?/[\w./-]*\w|\b[\w-]+/[\w.-]+\b|\b[\w-]+\.(?:com|org|net|example|io|dev|edu|gov)\b"
)
_BEFORE_NOUNS: Final = frozenset(
    "the a an my our your its his her their any all every each this that these those new some no of in on at for with from about by".split()  # noqa: SIM905 - to be read
)
_OPENED: Final = re.compile(r"\b(?:issues?|tickets?|pull requests?|merge requests?|bugs?|cases?)\b", re.IGNORECASE)
_FEW: Final = 6  # tools that an offer names one by one


@dataclass(frozen=True, slots=True)
class _Clause:
    """One part of a sentence, with what it seems to be about."""

    text: str
    words: tuple[str, ...]
    verbs: tuple[str, ...]
    """The words that stand where a verb does."""
    acts: tuple[str, ...]
    moods: tuple[str, ...]
    """The likeliest first."""
    only: bool


def suggestions(sentence: Sentence, tools: Sequence[Tool], known: Known, count: int = OFFERED) -> list[tuple[str, ...]]:
    """Return up to three offers, each one or more statements that pick tools, the nearest first."""
    suggester = _Suggester(tools, known)
    text = f"{sentence.lead} {sentence.text}" if sentence.lead else sentence.text
    heading = " ".join(sentence.headings)
    clauses = [c for part in _SPLIT.split(text) if part.strip() and (c := _clause(part, heading)) is not None]
    offers = [list(suggester.offers(clause, clauses[:number])) for number, clause in enumerate(clauses)]
    found: dict[tuple[str, ...], None] = {}
    for choice in product(*(options[:3] or [()] for options in offers)):
        whole = tuple(dict.fromkeys(line for lines in choice for line in lines))
        if whole:
            found.setdefault(whole)
        if len(found) >= count:
            break
    return list(found)[:count]


def _clause(text: str, heading: str) -> _Clause | None:
    words = tuple(singular(word) for word in re.findall(r"[a-z][a-z'-]*", text.lower()))
    if len(words) < 2:
        return None
    spoken = _verbs(text)
    acts = tuple(act for act in ACTS if any(_is_form(word, verb) for word in spoken for verb in _VERBS[act].split()))
    if any(_is_form(word, "open") for word in spoken) and _OPENED.search(text):
        acts = tuple(dict.fromkeys(("create", *(act for act in acts if act != "read"))))
    asks, refuses = bool(_ASK.search(text)), bool(_NEVER.search(text))
    if (
        not asks
        and not refuses
        and re.search(r"\b(?:never|not allowed|forbidden|off limits)\b", heading, re.IGNORECASE)
    ):
        refuses = True
    if not asks and not refuses and re.search(r"\bask", heading, re.IGNORECASE):
        asks = True
    other = bool(_ELSE.search(text))
    first = "otherwise" if asks and other else "ask" if asks else "never" if refuses else "may"
    moods = tuple(
        dict.fromkeys((first, *(("ask", "otherwise") if asks else ("never", "ask") if refuses else ("may", "ask"))))
    )
    return _Clause(text, words, spoken, acts, moods, only=bool(_ONLY.search(text)) and not asks)


def _verbs(text: str) -> tuple[str, ...]:
    """The words of a clause that may be verbs: not behind an article, a preposition or a possessive."""
    found, before = [], ""
    for word in re.findall(r"[a-z][a-z'-]*|,", text.lower()):
        if word != "," and before not in _BEFORE_NOUNS:
            found.append(word)
        before = word
    return tuple(found)


def _is_form(word: str, verb: str) -> bool:
    """Whether a word is a form of a verb: wrote and sent aside, by its endings."""
    stem = verb.removesuffix("e")
    irregular = {
        "sent": "send",
        "written": "write",
        "made": "make",
        "paid": "pay",
        "sold": "sell",
        "bought": "buy",
        "ran": "run",
    }
    forms = {verb, stem + "ing", stem + "ed", verb + "s", verb + verb[-1:] + "ing", verb + verb[-1:] + "ed", verb + "d"}
    return word in forms or irregular.get(word) == verb


@dataclass(frozen=True, slots=True)
class _Suggester:
    tools: Sequence[Tool]
    known: Known

    def offers(self, clause: _Clause, before: Sequence[_Clause]) -> Iterator[tuple[str, ...]]:
        """Statements for one clause, the nearest first; each picks tools."""
        acts = clause.acts or (before[-1].acts if before else ())
        about = self._about(clause) or next((found for each in reversed(before) if (found := self._about(each))), [])
        names = [*self._names(clause)]
        seen: set[tuple[str, ...]] = set()
        for mood, things, limits in product(
            clause.moods, self._things(clause, about, acts), self._limits(clause, names)
        ):
            line = _line(mood, acts, things, limits)
            if line and (line,) not in seen and self._is_right(line):
                seen.add((line,))
                yield (line,)

    def _about(self, clause: _Clause) -> list[Tool]:
        """The tools that share most words with a clause."""
        spoken = {word for word in clause.words if len(word) > 2}
        scored = []
        for tool in self.tools:
            nouns = {word for thing in (*tool.things, *tool.loose_things) for word in thing.split()}
            shared = len(spoken & tool.name_words) * 2 + len(spoken & nouns) + (tool.server.lower() in spoken) * 2
            acts = bool(set(clause.acts) & tool.might.acts)
            if shared and (acts or not clause.acts):
                scored.append((shared, tool))
        best = max((score for score, _ in scored), default=0)
        return [tool for score, tool in scored if score >= max(best - 1, 1)]

    def _things(self, clause: _Clause, about: Sequence[Tool], acts: Sequence[str]) -> Iterator[str]:
        text = " ".join(clause.words)
        called = self._called(clause)
        if 0 < len(called) <= _FEW:
            yield "use " + " or ".join(tool.key for tool in called)
        nouns = {
            thing for tool in self.tools for thing in tool.things if re.search(rf"\b{re.escape(normal(thing))}\b", text)
        }
        widest = [noun for noun in nouns if not any(noun != other and noun in other for other in nouns)]
        if widest:
            yield " or ".join(sorted(widest)[:4])
        servers = [server for server in dict.fromkeys(t.server for t in self.tools) if server.lower() in clause.words]
        if servers:
            yield " or ".join(f"anything of {server}" for server in servers)
        doing = [tool for tool in about if not acts or tool.might.acts & set(acts)]
        if 0 < len(doing) <= _FEW:
            yield "use " + " or ".join(tool.key for tool in doing)
        if re.search(r"\b(?:files?|folders?|director|documents?|anything in)\b", text) or any(
            self._meant(name).paths for name in self._names(clause)
        ):
            yield "files"
        if acts and re.search(r"\b(?:anything|everything|nothing|thing|whatever)\b", text):
            yield "anything"

    def _called(self, clause: _Clause) -> list[Tool]:
        """The tools whose names bear the verbs of a clause, or what these stand for, and what it is about."""
        nouns = {word for word in clause.words if len(word) > 2}
        found = []
        for tool in self.tools:
            things = {word for thing in tool.things for word in thing.split()}
            verbs = [word for word in words_of(tool.name) if acts_of_words((word,)) or word not in things]
            heads = {word for word in verbs if any(_is_form(spoken, word) for spoken in clause.verbs)}
            about = things | (tool.name_words - heads) | {tool.server.lower()}
            fits = not clause.acts or bool(tool.might.acts & set(clause.acts))
            if heads and fits and about & nouns:
                found.append(tool)
        return found

    def _names(self, clause: _Clause) -> Iterator[Name]:
        for name in (*self.known.directories, *self.known.lists, *self.known.names):
            if re.search(rf"(?<![\w-]){re.escape(name.lstrip('#'))}(?![\w-])", clause.text, re.IGNORECASE):
                yield Name(name)
        spoken = clause.text
        for found in _LITERAL.findall(spoken):
            if not any(found in name for name in self.known.names):
                yield Name(found)

    def _meant(self, name: Name) -> Meant:
        try:
            return Setup(self.known).meant([name])
        except Problem:
            return Setup(self.known).meant([Name(name.text, quoted=True)])

    def _limits(self, clause: _Clause, names: Sequence[Name]) -> Iterator[str]:
        """The limits that the names and numbers of a clause suggest, all of them first, none last."""
        kinds: dict[str, list[str]] = {"in": [], "on": [], "to": []}
        for name in names:
            meant = self._meant(name)
            word = "to" if meant.people else "on" if meant.hosts else "in"
            kinds[word].append(write_name(name))
        outside = bool(_ELSE.search(clause.text) or re.search(r"\b(?:outside|not in|isn't in|not on)\b", clause.text))
        parts = [self._limit(word, found, clause, outside=outside) for word, found in kinds.items() if found]
        counted = _MORE.search(clause.text)
        if counted:
            parts += [self._counted(counted, clause)]
        if _CONTENT.search(clause.text) and clause.moods[0] != "may":
            yield f'whose text might be read as "{clause.text.strip()[:120]}"'.replace("\\", "")
        whole = " ".join(filter(None, parts))
        if whole:
            yield whole
        yield from parts if len(parts) > 1 else ()
        yield ""

    @staticmethod
    def _limit(word: str, names: Sequence[str], clause: _Clause, *, outside: bool) -> str:
        joined = " or ".join(dict.fromkeys(names))
        if outside and clause.moods[0] != "may":
            return f"to anyone outside {joined}" if word == "to" else f"outside {joined}"
        only = "only " if clause.only and clause.moods[0] == "may" else ""
        return f"{only}{word} {joined}"

    def _counted(self, found: re.Match[str], clause: _Clause) -> str:
        number = _WORDS.get(found[1].lower()) or found[1].replace(",", "")
        unit = singular((found[2] or "").lower())
        most = bool(re.search(r"at most|up to|no more|max|under|below|less", found.group(), re.IGNORECASE))
        if unit in _PEOPLE:
            return f"to more than {number} people"
        leaves = [
            leaf
            for tool in self._about(clause)
            for leaf, a in tool.arguments.items()
            if "amount" in a.roles or unit in a.words
        ]
        if not leaves:
            return ""
        return f"where `{leaves[0]}` is {'at most' if most and clause.moods[0] == 'may' else 'more than'} {number}"

    def _is_right(self, line: str) -> bool:
        try:
            return not compile_statements([Sourced(parse(line))], self.tools, self.known).problems
        except StatementError:
            return False


def _line(mood: str, acts: Sequence[str], things: str, limits: str) -> str:
    ing = mood in ("ask", "otherwise")
    word = {"may": "may", "never": "must never", "ask": "must ask before", "otherwise": "must ask otherwise before"}[
        mood
    ]
    if things.startswith("use "):
        doing = things.replace("use ", "using ", 1) if ing else things
    elif acts:
        shown = [gerund(act) if ing else act for act in acts]
        doing = f"{' or '.join(shown)} {things}"
    else:
        doing = f"{'doing' if ing else 'do'} anything with {things}"
    try:
        return write(parse(f"{word} {doing} {limits}".strip()))
    except StatementError:
        return ""


def concerned(sentence: Sentence, tools: Sequence[Tool], known: Known) -> Iterable[Tool]:
    """Return the tools that a sentence might be about: those of its offers."""
    keys = {
        key
        for lines in suggestions(sentence, tools, known)
        for meaning in compile_statements([Sourced(parse(line)) for line in lines], tools, known).meanings
        for key in meaning.tools
    }
    spoken = set(words_of(sentence.text))
    return [tool for tool in tools if tool.key in keys or (tool.name_words & spoken and tool.of(Category.PARTY))]
