"""Makes forms: ranks the tools near a sentence and the limits its words suggest, and writes whole statements."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon, words_of
from ironcurtain.compiler.catalogue import normal
from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.naming import Setup
from ironcurtain.compiler.problems import Problem
from ironcurtain.compiler.readers.composing import Composer, Limits
from ironcurtain.compiler.readers.form import Form, Part, tool_name
from ironcurtain.compiler.readers.limiting import Option, content_of, names_in, options, turned
from ironcurtain.compiler.readers.nearest import Index
from ironcurtain.compiler.readers.wording import stems_of, verbs_of, wordings
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.language.parsing import parse
from ironcurtain.language.statement import (
    ACTS,
    Content,
    Count,
    Doing,
    Mood,
    Name,
    Statement,
    Thing,
)
from ironcurtain.language.writing import write
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.document import Sentence
    from ironcurtain.compiler.naming import Meant
    from ironcurtain.compiler.readers.wording import Wording
    from ironcurtain.compiler.setup import Known
    from ironcurtain.language.statement import Limit

OFFERED: Final = 3  # whole statements
_TOOLS: Final = 12  # of a form
_GROUPS: Final = 5  # things and servers of a form
_NEAR, _AROUND = 0.72, 0.45  # of the best score: what a whole statement names, and what the wider one does
_SAYING: Final = stems_of(
    """promise mention tell reveal disclose discuss say sound quote guess apologise apologize agree admit advise talk
    complain argue swear joke insult commit guarantee confirm speculate gossip""".split()  # noqa: SIM905 - to be read
)
"""What is done with words alone."""
_BUDGET: Final = re.compile(r"\b(\d{1,6}) (?:tool )?calls?\b(?!.*\d)", re.IGNORECASE)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_LEFT_OUT: Final = (" outside ", ", except ", " is not ", " without ", " only ", " otherwise ")
"""How a statement says that it leaves something out."""
_SPANS: Final = lexicon("second minute hour day week")
"""Units in which an argument may count otherwise than the sentence."""
_FEW: Final = 8  # tools that a whole statement names one by one


@dataclass(frozen=True, slots=True)
class Near:
    """A clause with the tools near it, the nearest first, and how near each is."""

    wording: Wording
    tools: tuple[tuple[float, Tool], ...]

    def within(self, share: float) -> list[Tool]:
        """Return the tools whose score is at least a share of the best; those that do an act of the clause first."""
        best = self.tools[0][0] if self.tools else 0.0
        near = [tool for score, tool in self.tools if score >= share * best]
        acting = [tool for tool in near if not self.wording.acts or tool.might.acts & self.wording.acts]
        return acting or near


@dataclass(frozen=True, eq=False)
class Forms:
    """Makes the forms of sentences for one catalogue and set-up."""

    tools: Sequence[Tool]
    known: Known
    index: Index
    composer: Composer

    @classmethod
    def of(cls, tools: Sequence[Tool], known: Known) -> Forms:
        """Return the forms for a catalogue."""
        return cls(tools, known, Index(tools), Composer(tools, known))

    def form(self, sentence: Sentence) -> Form:
        """Return what the owner is offered for a sentence."""
        clauses = self.near(sentence)
        groups = {part.doing: part for each in clauses for part in self._groups(each, sentence)}
        ranked: dict[str, Tool] = {}
        for place in range(_TOOLS):
            for each in clauses:
                if place < len(each.tools):
                    ranked.setdefault(each.tools[place][1].key, each.tools[place][1])
        parts = [*groups.values()][:_GROUPS]
        parts += [_listed([tool]) for tool in [*ranked.values()][:_TOOLS]]
        by_part = [
            {
                option.limit: option
                for each in clauses
                for t in part.tools[:6]
                for option in options(each.wording, t, self.known)
            }
            for part in parts
        ]
        every: dict[Limit, Option] = {}
        for found in by_part:
            for limit, option in found.items():
                every.setdefault(limit, option)
        ordered = sorted(every.values(), key=lambda each: (not each.likely, isinstance(each.limit, Content)))
        limits = tuple(ordered[: len(ascii_lowercase) - 1])
        letters = {option.limit: letter for letter, option in zip(ascii_lowercase, limits, strict=False)}
        fitting = tuple("".join(sorted(letters[limit] for limit in found if limit in letters)) for found in by_part)
        return Form(tuple(parts), limits, tuple(self._wholes(clauses, sentence)), fitting)

    def near(self, sentence: Sentence) -> list[Near]:
        """Return the clauses of a sentence with the tools near each."""
        clauses = wordings(sentence, self.known)
        heading = stems_of(re.findall(r"[a-z]+", " ".join((*sentence.headings, sentence.after)).lower()))
        found: list[Near] = []
        for number, clause in enumerate(clauses):
            around = heading.union(*(other.stems for place, other in enumerate(clauses) if place != number))
            found.append(Near(clause, tuple(self.index.ranked(clause, around, self._meant(clause)))))
        return found

    def _meant(self, wording: Wording) -> Meant:
        names = (*wording.names, *wording.excepted)
        try:
            return Setup(self.known).meant(names)
        except Problem:
            return Setup(self.known).meant([Name(name.text, quoted=True) for name in names])

    def _groups(self, near: Near, sentence: Sentence) -> Iterator[Part]:
        """Yield the things and servers that a clause speaks of, with what it does to them."""
        text = f" {' '.join(normal(word) for word in re.findall(r'[a-z0-9-]+', near.wording.text.lower()))} "
        acts = tuple(act for act in ACTS if act in near.wording.acts) or (
            () if near.wording.mood.tightens else ("read",)
        )
        nouns = {thing for tool in self.tools for thing in tool.things if f" {normal(thing)} " in text}
        widest = sorted(noun for noun in nouns if not any(noun != other and noun in other for other in nouns))
        if len(widest) > 1:
            yield from self._group(acts, tuple(map(Thing, widest)))
        for noun in widest:
            yield from self._group(acts, (Thing(noun),))
        around = f"{text} {' '.join(sentence.headings).lower()} "
        for server in dict.fromkeys(tool.server for tool in self.tools):
            if f" {server.lower()} " in around:
                yield from self._group(acts, (Thing(of=Name(server)),))
        if re.search(r"\b(?:anything|everything|nothing|whatever|all|rest)\b", near.wording.text, re.IGNORECASE):
            yield from self._group(acts, (Thing(),))

    def _group(self, acts: tuple[str, ...], things: tuple[Thing, ...]) -> Iterator[Part]:
        doing = Doing(acts, things)
        line = parse(write(Statement(Mood.MAY if acts == ("read",) else Mood.NEVER, doing)))
        (meaning,) = compile_statements([Sourced(line)], self.tools, self.known).meanings
        picked = set(meaning.tools)
        if picked and not meaning.problem:
            yield Part(doing, tuple(tool for tool in self.tools if tool.key in picked))

    # --- Whole statements. ---

    def _wholes(self, clauses: Sequence[Near], sentence: Sentence) -> Iterator[tuple[str, ...]]:
        seen: set[tuple[str, ...]] = set()
        if found := _BUDGET.search(sentence.text):
            seen.add((f"must never make more than {found[1]} calls per task.",))
            yield from seen
            return
        for number in range(OFFERED + 1):
            lines: list[str] = []
            for each in clauses:
                candidates = [*self._candidates(each, sentence)]
                if not candidates:  # a whole statement says all of its sentence
                    return
                lines += candidates[min(number, len(candidates) - 1)]
            whole = tuple(dict.fromkeys(lines))
            if whole and whole not in seen and len(seen) < OFFERED:
                seen.add(whole)
                yield whole

    def _candidates(self, near: Near, sentence: Sentence) -> Iterator[list[str]]:
        """Yield statements for one clause: of what it names, of the tools nearest to it, of those around it."""
        if near.wording.mood.tightens and near.wording.stems & _SAYING:
            yield from self._about_content(near.wording)
        if any(self._is_called(name) for name in (*near.wording.names, *near.wording.excepted)):
            return  # a tool or an argument by its own name is no value
        groups = [*self._groups(near, sentence)][:1]
        tools = [_listed(found) for share in (_NEAR, _AROUND) if (found := near.within(share)[:_FEW])]
        named = any(stems_of(tool.name_words) <= near.wording.stems for _, tool in near.tools[:2])
        for part in [*tools[:1], *groups, *tools[1:]] if named else [*groups, *tools]:
            by_tool = {tool.key: self._likely(near.wording, tool) for tool in part.tools}
            limits = Counter(by_tool.values()).most_common(1)[0][0] if part.doing.things else by_tool[part.tools[0].key]
            alike = tuple(name for name in part.doing.tools if by_tool[name.text] == limits)
            if near.wording.mood is Mood.MAY and not {*near.wording.names, *near.wording.excepted} <= set(
                names_in(limits)
            ):
                continue  # a permission is not offered without what the sentence limits it to
            about = replace(part.doing, tools=alike)
            permits = near.wording.mood is Mood.MAY
            try:
                lines = self.composer.made(
                    near.wording.mood, about, Limits([*limits], only=near.wording.only and permits)
                )
                for count in self._counts(near.wording, part.tools) if permits else ():
                    lines += self.composer.made(Mood.NEVER, about, Limits([count]))
            except Problem:
                continue
            if not _leaves_out(near.wording, part.tools, lines):
                yield lines

    def _is_called(self, name: Name) -> bool:
        """Return whether a name is that of a tool, or of an argument of one."""
        if any(name.text in (tool.key, tool.name) for tool in self.tools):
            return True
        return name.quoted and any(tool.argument(name.text) is not None for tool in self.tools)

    def _about_content(self, wording: Wording) -> Iterator[list[str]]:
        """Yield a statement about what a text says, for whatever leaves with one."""
        for acts in (("send",), ("create", "change")):
            try:
                yield self.composer.made(wording.mood, Doing(acts, (Thing(),)), Limits([content_of(wording)]))
            except Problem:
                continue
            return

    def _counts(self, wording: Wording, tools: Sequence[Tool]) -> list[Limit]:
        """Return how many at most a permission speaks of: it forbids more."""
        found = (option for tool in tools[:1] for option in options(wording, tool, self.known) if option.likely)
        return [option.limit for option in found if isinstance(option.limit, Count)]

    def _likely(self, wording: Wording, tool: Tool) -> tuple[Limit, ...]:
        """Return the limits that a clause names, as far as a tool has arguments for them."""
        named = [option for option in options(wording, tool, self.known) if option.likely]
        return tuple(limit for option in named if (limit := turned(option, wording)))

    # --- What is put off. ---

    def concerned(self, sentence: Sentence) -> list[Tool]:
        """Return the tools that a sentence might be about."""
        near = {tool.key for each in self.near(sentence) for tool in each.within(_AROUND)}
        spoken = stems_of(re.findall(r"[a-z]+", sentence.text.lower()))
        return [tool for tool in self.tools if tool.key in near or _is_spoken_of(tool, spoken)]


def _leaves_out(wording: Wording, tools: Sequence[Tool], lines: Sequence[str]) -> bool:
    """Return whether a clause has words or numbers that statements say nothing of.

    INVARIANT: no permission is offered for less than its clause says, and no prohibition of everything for a verb that
    no tool bears: *run the command ls* is not *run any command*.
    """
    text = " ".join(lines)
    if wording.mood.tightens and wording.apart and not any(sign in text for sign in _LEFT_OUT):
        return True  # *never mail anybody outside the team* is not *never mail the team*
    if wording.mood.tightens and wording.below:
        return True  # *ask before paying up to 50* is not *ask before paying more*
    if not all(number.value in text or not _SPANS.isdisjoint(number.words) for number in wording.numbers):
        return True
    if any(_YEAR.fullmatch(number.value) and not number.words for number in wording.numbers):
        return True  # when, and not how many
    if wording.mood.tightens and "anything with anything" not in text:
        return False
    if wording.beyond:
        return True
    said = stems_of(re.findall(r"[a-z]+", text.lower()))
    for tool in tools:
        nouns = (word for thing in (*tool.things, *tool.loose_things) for word in thing.split())
        said |= stems_of((*tool.name_words, *nouns, *words_of(tool.server))) | verbs_of(tool.might.acts)
    return not wording.stems <= said


def _is_spoken_of(tool: Tool, spoken: frozenset[str]) -> bool:
    """Return whether words name a tool that reaches people, or an option of a tool: *recording*, `auto_recording`."""
    if tool.of(Category.PARTY) and stems_of(tool.name_words) & spoken:
        return True
    return any(stems_of(a.words) & spoken for a in tool.arguments.values() if not a.required and not a.roles)


def _listed(tools: Sequence[Tool]) -> Part:
    return Part(Doing(tools=tuple(tool_name(tool.key) for tool in tools)), tuple(tools))
