"""The built-in compiler: a constitution, the annotated tools and the set-up in; rules, limits and a report out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ironcurtain.compiler.english.context import Reader
from ironcurtain.compiler.english.cues import Mood
from ironcurtain.compiler.english.document import LONGEST, Sentence, sentences_of
from ironcurtain.compiler.english.drafts import Draft, Rank, Understanding
from ironcurtain.compiler.english.grounding import Tools
from ironcurtain.compiler.english.lexicon import ANYTHING, EVERY, HARMLESS
from ironcurtain.compiler.english.order import Placed, ordered
from ironcurtain.compiler.english.writer import guards_of
from ironcurtain.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ironcurtain.compiler.english.clauses import Clause
    from ironcurtain.compiler.english.surface import Surface
    from ironcurtain.compiler.setup import Known


@dataclass(frozen=True, slots=True)
class Reported:
    """One sentence, and what became of it."""

    sentence: Sentence
    verdict: str
    """`rules`, `limits`, `kept` (it holds anyway), `asks` (not sure), `nothing` (no tool), `background` (no rule)."""
    rules: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Compiled:
    """What a constitution came to."""

    rules: list[dict[str, Any]] = field(default_factory=list)
    limits: dict[str, Any] = field(default_factory=dict)
    report: list[Reported] = field(default_factory=list)

    @property
    def lists(self) -> frozenset[str]:
        """The lists that rules refer to."""
        text = repr(self.rules)
        return frozenset(re.findall(r"'@([^']+)'", text))


def compile_constitution(text: str, surfaces: Iterable[Surface], known: Known) -> Compiled:
    """Compile one constitution."""
    if len(text) > LONGEST:
        raise Refusal("constitution_too_long", f"more than {LONGEST} characters", "say it in fewer words")
    sentences = sentences_of(text)
    reader = Reader(text, Tools(surfaces), known)
    understood = [reader.understand(sentence) for sentence in sentences]
    drafts = [
        Placed(draft, number)
        for number in range(len(sentences))
        for meaning in _yielding(number, understood, sentences)
        for draft in meaning.drafts
    ]
    drafts += [Placed(guard, -1) for guard in guards_of(placed.draft for placed in drafts)]
    drafts = _with_care_for_commands(drafts, understood)
    return _written(sentences, understood, drafts)


def _with_care_for_commands(drafts: list[Placed], understood: list[list[Understanding]]) -> list[Placed]:
    """A command can do whatever another sentence forbids: where something is forbidden, commands ask."""
    if not any(placed.draft.then is Mood.FORBID and placed.draft.rank is not Rank.CLOSED for placed in drafts):
        return drafts
    found = []
    for placed in drafts:
        draft = placed.draft
        runs = any("command" in tool.all_roles and not tool.statement for tool in draft.tools)
        if draft.then is Mood.PERMIT and runs:
            note = "a command may do what another sentence forbids, so it asks"
            understood[placed.sentence][0].notes.append(note)
            draft = replace(draft, then=Mood.ASK, rank=Rank.ASKED)
        found.append(Placed(draft, placed.sentence))
    return found


def _yielding(number: int, understood: list[list[Understanding]], sentences: Sequence[Sentence]) -> list[Understanding]:
    """A prohibition in general that is followed at once by a permission in particular makes room for it."""
    found = []
    for index, meaning in enumerate(understood[number]):
        earlier = understood[number][:index] or (understood[number - 1] if number else [])
        if earlier and _is_about(meaning, earlier[-1]):
            meaning.drafts = [
                replace(d, rank=Rank.ASKED) if d.rank is Rank.ASKED_IN_GENERAL else d for d in meaning.drafts
            ]
        following = understood[number][index + 1 : index + 2]
        if not following and number + 1 < len(understood) and sentences[number + 1].block == sentences[number].block:
            following = understood[number + 1][:1]
        particular = next(
            (m for m in following if m.mood is Mood.PERMIT and any(d.rank is Rank.PERMITTED for d in m.drafts)), None
        )
        plain = (
            meaning.mood is Mood.FORBID
            and not meaning.clause.emphatic
            and meaning.clause.count is None
            and not any(p.references for p in meaning.clause.phrases)
        )
        if particular is not None and plain and _same_acts(meaning.clause, particular.clause):
            meaning.drafts = [replace(d, rank=Rank.CLOSED) if d.rank is Rank.FORBIDDEN else d for d in meaning.drafts]
            meaning.notes.append("makes room for what the next sentence permits")
        found.append(meaning)
    return found


def _is_about(asks: Understanding, permits: Understanding) -> bool:
    """`It may post in #staff. Every post needs my approval.`: what was permitted just before asks."""
    named = any(p.references or p.other or p.outside for p in asks.clause.phrases)
    same = {act.verb for act in asks.clause.acts} & {act.verb for act in permits.clause.acts}
    every = all(p.whole or p.pronoun for p in asks.clause.phrases)
    return (
        asks.mood is Mood.ASK
        and permits.mood is Mood.PERMIT
        and not named
        and bool(same or every)
        and bool(asks.clause.effects & permits.clause.effects)
    )


def _same_acts(general: Clause, particular: Clause) -> bool:
    wide = frozenset(effect for act in general.acts for effect in act.effects)
    narrow = frozenset(effect for act in particular.acts for effect in act.effects)
    things = frozenset(thing for p in general.phrases for thing in (p.head, *p.things))
    about = [p for p in particular.phrases if p.head and not p.preposition and not p.is_people]
    same = all(p.head in things or p.things & things or things & ANYTHING for p in about)
    return (
        bool(narrow)
        and narrow <= wide
        and wide != EVERY
        and same
        and all(act.verb != "attach" for act in particular.acts)
    )


# --- Writing it down. ---


def _written(sentences: Sequence[Sentence], understood: list[list[Understanding]], drafts: list[Placed]) -> Compiled:
    found = Compiled()
    names: dict[int, list[str]] = {}
    for placed in _merged(ordered(drafts)):
        number = placed.sentence
        text = sentences[number].text if number >= 0 else ""
        base = f"s{number + 1}-{_slug(text)}" if text else "reading-only"
        name = f"{base}-{len(names.get(number, [])) + 1}"
        names.setdefault(number, []).append(name)
        rule: dict[str, Any] = {"name": name}
        if text:
            rule["principle"] = text
        rule["if"] = placed.draft.conditions()
        rule["then"] = placed.draft.then.value
        if placed.draft.elsewhere:
            rule["elsewhere"] = True
        rule["reason"] = f'"{text}"' if text else "a statement that reads must not write"
        found.rules.append(rule)
    for number, sentence in enumerate(sentences):
        meanings = understood[number]
        for meaning in meanings:
            _join(found.limits, meaning.limits)
        found.report.append(_reported(sentence, meanings, tuple(names.get(number, ()))))
    return found


def _reported(sentence: Sentence, meanings: list[Understanding], rules: tuple[str, ...]) -> Reported:
    notes = tuple(dict.fromkeys(note for meaning in meanings for note in meaning.notes))
    if any(meaning.limits for meaning in meanings):
        verdict = "limits"
    elif rules and not any(m.ungrounded or m.mood is not m.clause.mood for m in meanings):
        verdict = "rules"
    elif rules:
        verdict = "asks"
    elif meanings and all(m.mood is None for m in meanings) and notes:
        verdict = "kept"
    elif not meanings or all(m.mood is None for m in meanings):
        verdict = "background"
    else:
        verdict = "nothing"
    return Reported(sentence, verdict, rules, notes)


def _merged(placed: list[Placed]) -> list[Placed]:
    """Rules that differ only in their tools become one, where nothing that says otherwise stands between them."""
    found: list[Placed] = []
    for each in placed:
        twin = next((index for index, other in _reachable(found, each) if _alike(other, each)), None)
        if twin is None:
            found.append(each)
        else:
            other = found[twin]
            found[twin] = Placed(replace(other.draft, tools=(*other.draft.tools, *each.draft.tools)), other.sentence)
    return found


def _reachable(found: list[Placed], each: Placed) -> Iterator[tuple[int, Placed]]:
    """The rules before this one, back to the first that is of another sentence or says something else."""
    for index in range(len(found) - 1, -1, -1):
        other = found[index]
        if other.sentence != each.sentence or other.draft.then is not each.draft.then:
            return
        yield index, other


def _alike(one: Placed, other: Placed) -> bool:
    same = replace(one.draft, tools=()) == replace(other.draft, tools=())
    return same and _may_share(one.draft, other.draft)


def _may_share(one: Draft, other: Draft) -> bool:
    """One server only: a tool's name may mean another tool elsewhere. Values are of arguments of their own."""
    if not one.tools or not other.tools:
        return False
    return {tool.server for tool in one.tools} == {tool.server for tool in other.tools}


def _slug(text: str) -> str:
    words = [word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in HARMLESS]
    return "-".join(words[:4]) or "rule"


def _join(limits: dict[str, Any], more: dict[str, Any]) -> None:
    """The stricter of two limits."""
    for key, value in more.items():
        if isinstance(value, dict):
            _join(limits.setdefault(key, {}), value)
        else:
            limits[key] = min(limits[key], value) if key in limits else value
