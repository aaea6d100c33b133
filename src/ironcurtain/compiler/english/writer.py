"""Writes the rules of a clause, and says what of it could not be understood."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english import restricting
from ironcurtain.compiler.english.conditions import PRESENT, with_effects
from ironcurtain.compiler.english.cues import Mood
from ironcurtain.compiler.english.drafts import Draft, Rank, Understanding
from ironcurtain.compiler.english.granting import granted, granted_files
from ironcurtain.compiler.english.grounding import (
    Grounding,
    Meant,
    Tools,
    ground,
    is_object,
    is_strange,
    left_over,
    where,
)
from ironcurtain.compiler.english.lexicon import (
    ANYTHING,
    EVERY,
    EVERYBODY,
    FILES,
    OWNERS,
    PEOPLE,
    READ,
    THINGS,
    Act,
)
from ironcurtain.compiler.english.places import Place, is_whole_server, places_of
from ironcurtain.compiler.english.surface import terms_of
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ironcurtain.compiler.english.clauses import Clause
    from ironcurtain.compiler.english.reading import Phrase
    from ironcurtain.compiler.setup import Known

_IDLE: Final = lexicon(
    """be is are was were been am i it they we to the a an of that which already have has had do does not my any
        all there"""
)
_WHERE: Final = (*lexicon("in into inside within on onto to at under from of with for through by via across per"), "")
"""What stands before a place that a permission is for."""
_GENERIC: Final = lexicon("people person contact recipient address everyone anyone member list email mail group team")
_SOME: Final = re.compile(
    r"\b(?:some|a few|certain|its own|your own|our own|our family|the family)(?= \w)"
    r"|\b[Ii]n (?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    r"|\bwhen (?:mentioned|asked|needed|told)\b"
)
"""Which of them, nobody can say."""
_SOME_OF_THEM: Final = re.compile(
    r"\b(?:my|our|own|company|work|usual|other|certain|some|same|right|relevant)\b.{0,30}\b(?:address(?:es)?|people|recipients?)\b"
    r"|\b(?:people|recipients?|address(?:es)?) (?:at|in|from|within|of|i|we|who|that)\b|\bwithin (?:the|my|our) \w+",
    re.IGNORECASE,
)
_TARGETS: Final = lexicon("in into to onto at on inside within")
_ABOUT: Final = ("for", "about", "regarding", "concerning")
_PLACES: Final = lexicon("folder directory subfolder server workspace app")
_FIELDS: Final = lexicon("status state priority label tag assignee assign")
_KIN: Final = {
    "cancel": frozenset({"delete"}),
    "call_off": frozenset({"delete"}),
    "trash": frozenset({"delete"}),
    "move_to_trash": frozenset({"delete"}),
    "move_to_the_trash": frozenset({"delete"}),
    "move": frozenset({"update"}),
    "download": frozenset({"create", "update"}),
    "share": frozenset({"send"}),
    "convert": frozenset({"update"}),
}
"""What a verb may come to besides."""
_NAMED: Final = lexicon(
    """branch table bucket database namespace channel project board deck label folder collection environment account
        calendar list repository tag topic index cluster workspace team site store sheet notebook playlist queue group
        room vault base pipeline job service flag key section view page source dashboard schema status state"""
)
"""Sorts of things that people give names to: `the staging namespace`, but not `the vacation reply`."""
_SENT: Final = lexicon("gone went out outgoing")


class Writer:
    """Writes the rules of clauses, for the tools at hand."""

    def __init__(self, tools: Tools, known: Known, things: Mapping[str, str]) -> None:
        self._tools = tools
        self._known = known
        self._things = dict(things)
        self._topic: frozenset[str] = frozenset()
        self._named: list[Place] = []
        """What permissions were given for."""

    def understand(self, clause: Clause, scope: frozenset[str], sentence: str, topic: frozenset[str]) -> Understanding:
        """One clause. `scope` are the servers of its heading, `topic` those that were spoken of just before."""
        grounding = ground(clause, self._tools, scope)
        found = Understanding(clause, clause.mood, servers=grounding.called)
        bare = clause.unsettled and not any(p.references for p in clause.phrases)
        if clause.mood is None or (bare and not (scope or topic)):
            found.mood = None  # nothing was said yet that it could take back
            return found
        if not scope and topic and _is_vague(clause) and (narrow := ground(clause, self._tools, topic)).meant:
            grounding = narrow
        self._topic = scope or topic
        found.servers = frozenset(each.tool.server for each in grounding.meant)
        places, doubts = self._places(clause, grounding)
        if clause.mood is Mood.PERMIT and not (scope or grounding.called or places) and _is_boundless(clause):
            found.ungrounded = True
            found.notes.append("says neither what nor where, so it permits nothing")
            return found
        for place in (place for place in places if not place.values):
            found.notes.append(f"nothing in the set-up is called {place.text!r}")
            doubts.append(place.text)
        places = [place for place in places if place.values]
        if clause.mood is Mood.OBLIGE:
            self._oblige(found, grounding, places)
        elif clause.mood is Mood.PERMIT and len([p for p in clause.phrases if is_object(p)]) > 1:
            return self._each(found, scope, sentence, topic)
        elif clause.mood is Mood.PERMIT:
            self._permit(found, grounding, places, doubts)
        else:
            self._restrict(found, grounding, places, doubts, sentence)
        return found

    def _each(self, found: Understanding, scope: frozenset[str], sentence: str, topic: frozenset[str]) -> Understanding:
        """A permission for several things: what is not sure of one leaves the others alone."""
        clause = found.clause
        objects = [p for p in clause.phrases if is_object(p)]
        moods = []
        for each in objects:
            phrases = tuple(p for p in clause.phrases if p is each or p not in objects)
            one = self.understand(replace(clause, phrases=phrases), scope, sentence, topic)
            found.drafts += one.drafts
            found.notes += one.notes
            moods.append(one.mood)
            found.ungrounded |= one.ungrounded
        found.mood = Mood.ASK if Mood.ASK in moods else Mood.PERMIT
        if found.ungrounded:  # something in it is not understood, so nothing of it is sure
            found.mood = Mood.ASK
            found.drafts = [
                replace(d, then=Mood.ASK, rank=Rank.ASKED) if d.then is Mood.PERMIT else d for d in found.drafts
            ]
        return found

    def _unbounded(self, clause: Clause, places: Sequence[Place]) -> Iterator[str]:
        """What a permission names and no condition would hold it to."""
        for phrase in clause.phrases:
            sends = phrase.preposition in ("to", "with") or (not phrase.preposition and "send" in clause.effects)
            if sends and phrase.head in PEOPLE - EVERYBODY and not phrase.references:
                yield phrase.head
            vague = "send" in clause.effects and not any(p.references for p in clause.phrases)
            if vague and phrase.head in EVERYBODY and _SOME_OF_THEM.search(clause.text):
                yield phrase.head  # `my own address`, `people at work`
            if vague and phrase.preposition in ("within", "inside") and phrase.head in OWNERS:
                yield phrase.head  # `within the company`
            told = phrase.preposition in _ABOUT and not phrase.is_subject
            if told and phrase.head in THINGS and not self._tools.hold(terms_of(phrase.head)):
                yield phrase.head  # `query the database for orders`
            if phrase.head == "name" and phrase.modifiers:
                yield f"{phrase.modifiers[-1]} names"  # not what is in them
            if phrase.names_people and phrase.head and phrase.head not in _GENERIC:
                yield phrase.head  # `my contacts' assistants`
            named = sum(len(other.references) for other in clause.phrases)
            if phrase.references and phrase.head and is_strange(phrase.head, ()) and phrase.head not in _PLACES:
                yield phrase.head  # `Archive tbd`
            if phrase.number not in (0, named) and not phrase.references and not phrase.is_people:
                yield f"{phrase.number} {phrase.head}".strip()
        if some := _SOME.search(clause.text):
            yield some.group()
        if any(place.kind == "path" for place in places):
            yield from (place.text for place in places if place.kind == "value")
        yield from (place.text for place in places if place.kind == "host" and re.search(r"\w/\w", place.text))

    @staticmethod
    def _mentioned(clause: Clause) -> Iterator[str]:
        """Names that say where something comes from or what it is about, and not where it goes."""
        writes = clause.effects - READ - {"move", "delete"}
        where = [p for p in clause.phrases if p.references and p.preposition in _TARGETS]
        for phrase in clause.phrases if where and writes and "move" not in clause.effects else ():
            kinds = {(r.kind, r.thing) for p in where if p is not phrase for r in p.references}
            beside = phrase.preposition != where[-1].preposition and phrase.preposition != "from"
            beside = beside and not set(phrase.references) <= {
                r for p in where if p is not phrase for r in p.references
            }
            if beside and any((r.kind, r.thing) in kinds for r in phrase.references):
                yield f"{phrase.preposition} {phrase.references[0].text}".strip()  # `notes on Archive in Projects`
        for phrase in clause.phrases:
            sent = phrase.preposition == "from" and all(r.kind == "directory" for r in phrase.references)
            if not phrase.references or (sent and "send" in clause.effects):
                continue
            plain = clause.effects <= READ and not any(act.words for act in clause.acts)
            reads = plain and phrase.preposition in ("to", "onto")  # `up to Archive`
            if phrase.preposition not in _WHERE or reads or (writes and phrase.preposition == "from"):
                yield f"{phrase.preposition} {phrase.references[0].text}"

    # --- Names, and what is left over. ---

    def _places(self, clause: Clause, grounding: Grounding) -> tuple[list[Place], list[str]]:
        """The names in a clause, and the words that we cannot check."""
        sends = clause.sticks or (bool(clause.effects & {"send"}) and clause.effects != EVERY)
        named = places_of(clause.phrases, self._known, self._things, sends=sends)
        places = [self._sorted(p, clause) for p in named if not self._tools.servers_called([p.text.lower()])]
        sure = clause.mood is Mood.PERMIT or all(act.effects for act in clause.acts)
        unlisted = dict(self._unlisted(clause, grounding)) if sure else {}
        spent = frozenset(word for words in unlisted.values() for word in words)
        doubts = [word for word in left_over(clause, grounding.meant, self._tools) if word not in spent]
        spoken = frozenset(word for each in grounding.meant for word in each.tool.says)
        said = [word.lower() for word in clause.said if word.lower() not in _IDLE]
        if "sent" in spoken:
            said = [word for word in said if word not in _SENT]
        if not all(word in spoken or word.rstrip("s") in spoken for word in said):
            doubts.append(" ".join(clause.said))
        if clause.condition:
            doubts.append(" ".join(clause.condition))
        if clause.mood is not Mood.PERMIT:
            doubts += [f"other {p.head}" for p in clause.phrases if p.other and not self._can_tell(p, grounding)]
        exceptions = self._exceptions(clause)
        lost = [p for p in clause.exceptions if p.head and not p.references and not p.other]
        if len(exceptions) < len([p for p in clause.exceptions if p.references]) + len(lost):
            doubts += [f"except {p.head}" for p in lost]
        return [*places, *unlisted], doubts

    def _does_that(self, act: Act, grounding: Grounding) -> bool:
        """Whether the tools that are meant have in their names what is done, though we do not know the word."""
        words = frozenset(word for each in grounding.meant for word in each.tool.words)
        return any(word.startswith(stem) for word in words for stem in act.words if stem)

    def _can_tell(self, phrase: Phrase, grounding: Grounding) -> bool:
        """Whether a call says which one it is about, so that another one can be told from it."""
        if not phrase.head or phrase.head in ANYTHING or phrase.head in PEOPLE or phrase.references:
            return True
        terms = terms_of(phrase.head)
        tools = [each.tool for each in grounding.meant] or self._tools.all
        category = Category.URL if "page" in terms else Category.PATH if terms & FILES else Category.NONE
        return any(tool.leaves_for(terms) or tool.of(category) for tool in tools)

    def _sorted(self, place: Place, clause: Clause) -> Place:
        """A name, with the sort of thing that the clause is about: `table definitions, except for hr.salaries`."""
        if place.kind != "value" or place.is_option:
            return place
        if place.thing and any(tool.leaves_for(place.terms) for tool in self._tools.all):
            return place
        if place.thing and any(is_whole_server(tool, place, self._tools.all) for tool in self._tools.all):
            return place
        place = replace(place, thing="")
        if place.text in self._known.names:
            return place  # `cells in the Budget`: what holds them is no cell
        for word in (word for p in clause.phrases if not p.references for word in (*p.modifiers, p.head)):
            if word and word not in ANYTHING and any(tool.leaves_for(terms_of(word)) for tool in self._tools.all):
                self._things[place.text] = word
                return replace(place, thing=word, guessed=True)
        return place

    def _unlisted(self, clause: Clause, grounding: Grounding) -> Iterator[tuple[Place, tuple[str, ...]]]:
        """Names that the set-up does not have: `the staging namespace`, `the decks Biochem and Statistics`."""
        tools = [each.tool for each in grounding.meant] or list(self._tools.all)
        thing = "branch" if any(act.verb in ("push", "commit", "merge") for act in clause.acts) else ""
        for phrase in clause.phrases:
            words = [word for word in (*phrase.modifiers, phrase.head) if word]
            options = {
                o for tool in tools for found in tool.options.values() for o in found if o.lower() in phrase.said
            }
            if phrase.preposition and not phrase.references and options:
                text = " ".join(phrase.written)
                yield (
                    Place("value", tuple(sorted(options)), text=text, is_option=True, outside=phrase.outside),
                    tuple(words),
                )
                continue
            nouns = [word for word in words if word not in PEOPLE]
            sorts = [word for word in nouns if any(tool.leaves_for(terms_of(word)) for tool in tools)]
            strange = tuple(word for word in words if is_strange(word, tools if clause.mood is Mood.PERMIT else ()))
            sorts = [word for word in sorts if word not in strange]
            thing = sorts[-1] if sorts and not phrase.references else thing
            brands = [word for word in words if self._tools.servers_called([word])]
            whole = len(strange) + len(sorts) + len(brands) == len(words) == len(phrase.written)
            like_a_name = phrase.preposition and (thing == "branch" or any(w[:1].isupper() for w in phrase.written))
            named = thing in _NAMED or any(word in _NAMED or terms_of(word) & _NAMED for word in sorts)
            if named and strange and whole and (sorts or like_a_name):
                name = " ".join(w for w, word in zip(phrase.written, words, strict=True) if word in strange)
                yield Place("value", (name,), thing, outside=phrase.outside, text=name), strange

    # --- Permission. ---

    def _permit(
        self, found: Understanding, grounding: Grounding, places: Sequence[Place], doubts: Sequence[str]
    ) -> None:
        clause, inside = found.clause, [place for place in places if not place.outside]
        doubts = [*doubts, *(f"not {place.text}" for place in places if place.outside)]
        doubts += self._mentioned(clause)
        excepted = list(self._excepted(clause, grounding))
        guessed = any(place.guessed for place in self._exceptions(clause))
        if clause.exceptions and (guessed or not excepted):
            doubts.append("the exception")
        if clause.oneself and clause.effects & {"send", "share"}:
            doubts.append("me")
        doubts += self._unbounded(clause, inside)
        if clause.negated and not doubts:
            doubts = ["a no in it"]
        if grounding.unknown and all(act.verb == "touch" for act in clause.acts):
            found.ungrounded = True
            found.notes.append(f"no word in it says what may be done to {', '.join(grounding.unknown)}")
            return
        counted = list(restricting.counted(clause, grounding.meant, Mood.FORBID))
        if clause.count is not None and not counted:
            doubts.append(f"up to {clause.count.beyond:g} {clause.count.unit}".strip())
        if doubts:
            found.notes.append(f"cannot check {_quoted(doubts)}, so it asks")
            found.mood = Mood.ASK
        then = found.mood or Mood.ASK
        vague = bool(doubts) and _only_permits(clause)  # what another sentence permits, this one does not take back
        found.drafts += self._nowhere_else(clause, inside)
        drafts = list(granted_files(clause, inside, then, self._tools))
        if not drafts:
            drafts = [d for each in grounding.meant for d in granted(clause, each, inside, then, self._tools)]
        if not drafts:
            found.ungrounded = True
            found.notes.append("no tool at hand can be held to it" if grounding.meant else "no tool at hand does this")
            return
        if vague:
            drafts = [replace(d, rank=Rank.ASKED_IN_GENERAL) if d.rank is Rank.ASKED else d for d in drafts]
        if grounding.unknown:
            found.notes.append(f"no tool at hand deals with {', '.join(grounding.unknown)}")
        self._named += inside
        found.drafts += [*drafts, *counted, *excepted]
        if clause.only and inside and not _is_of_subject(clause):
            found.drafts += self._closed(clause, grounding, inside, Mood.FORBID)
        found.drafts += self._nothing_else(clause, grounding, inside)

    def _nowhere_else(self, clause: Clause, places: Sequence[Place]) -> Iterator[Draft]:
        """`Stick to Projects`, `Nothing outside Projects`: whatever was permitted, nothing is done elsewhere."""
        if not clause.sticks or not places:
            return
        inner = replace(clause, mood=Mood.FORBID, acts=(Act("touch", EVERY),), only=False)
        yield from self._closed(inner, ground(inner, self._tools, frozenset()), places, Mood.FORBID)
        yield from self._of_tables(places)

    def _of_tables(self, places: Sequence[Place]) -> Iterator[Draft]:
        """A statement does not say in an argument which table it is about: it asks."""
        for tool in self._tools.all:
            if tool.statement and any(place.thing == "table" for place in places):
                yield Draft(Mood.ASK, Rank.ASKED, (tool,))

    def _nothing_else(self, clause: Clause, grounding: Grounding, places: Sequence[Place]) -> Iterator[Draft]:
        """`Archive may only be read`: nothing else is done to it."""
        if not clause.only_act or not places:
            return iter(())
        particular = all(act.words for act in clause.acts)
        others = EVERY - READ - (frozenset() if particular else clause.effects)
        phrases = tuple(p for p in clause.phrases if p.references)
        inner = replace(clause, mood=Mood.FORBID, acts=(Act("touch", others),), phrases=phrases, only=False)
        granted = {each.tool.key for each in grounding.meant}
        meant = [each for each in ground(inner, self._tools, frozenset()).meant if each.tool.key not in granted]
        return restricting.there(inner, meant, places, Mood.FORBID, self._tools)

    def _excepted(self, clause: Clause, grounding: Grounding) -> Iterator[Draft]:
        """What a permission leaves out."""
        places = [self._sorted(replace(place, outside=False), clause) for place in self._exceptions(clause)]
        if run := [p.head for p in clause.exceptions if p.head in restricting.PROGRAMS]:
            yield from restricting.programs(run, Mood.FORBID, self._tools)
        inner = replace(clause, mood=Mood.FORBID, exceptions=())
        yield from restricting.there(inner, grounding.meant, places, Mood.FORBID, self._tools)

    def _exceptions(self, clause: Clause) -> list[Place]:
        """What is excepted: what the set-up knows, and names of the sort of thing that the clause speaks of."""
        words = [word for p in clause.phrases for word in (*p.modifiers, p.head) if word]
        sorts = [w for w in words if w in THINGS and any(tool.leaves_for(terms_of(w)) for tool in self._tools.all)]
        unlisted = [
            Place("value", p.written[-1:], sorts[-1], text=p.written[-1], guessed=True)
            for p in clause.exceptions
            if sorts and p.written and not p.references and is_strange(p.head, ())
        ]
        chosen = [
            Place("value", (option,), text=option, is_option=True)
            for option in sorted({o for tool in self._tools.all for each in tool.options.values() for o in each})
            if any(option.lower() in p.said and not p.references for p in clause.exceptions)
        ]
        return [*places_of(clause.exceptions, self._known, self._things, excepted=True), *unlisted, *chosen]

    def _closed(self, clause: Clause, grounding: Grounding, exempt: Sequence[Place], then: Mood) -> Iterator[Draft]:
        return restricting.closed(clause, grounding.meant, exempt, then, self._tools, self._known.sandbox)

    def _oblige(self, found: Understanding, grounding: Grounding, places: Sequence[Place]) -> None:
        """`Commands have to be run in Reports`: not elsewhere; but nobody said that they may be run."""
        if places and not any(place.outside for place in places):
            found.drafts += self._closed(found.clause, grounding, places, Mood.FORBID)
            found.drafts += self._of_tables(places)
        if not found.drafts:
            found.notes.append("says how something is to be done, which no rule can see to")

    # --- Prohibition and approval. ---

    def _restrict(
        self, found: Understanding, grounding: Grounding, places: Sequence[Place], doubts: list[str], sentence: str
    ) -> None:
        clause, then = found.clause, found.clause.mood or Mood.FORBID
        unknown = [word for word in grounding.unknown if word not in restricting.PROGRAMS]
        if run := [word for word in grounding.unknown if word in restricting.PROGRAMS]:
            found.drafts += restricting.programs(run, then, self._tools)
            if not unknown and not grounding.meant and not places:
                return
        doubts = [
            *doubts,
            *(act.verb for act in clause.acts if not act.effects and not self._does_that(act, grounding)),
        ]
        if unknown and not grounding.meant:
            doubts = [*doubts, *unknown]
            known = tuple(p for p in clause.phrases if p.head not in unknown or p.references)
            grounding = ground(replace(clause, phrases=known), self._tools, frozenset())
            grounding.meant = _by_verb(clause, grounding.meant)
            found.ungrounded = True
        elif unknown and _is_about_content(clause, unknown):
            doubts = [*doubts, *unknown]
        elif unknown:
            found.notes.append(f"no tool at hand deals with {', '.join(unknown)}")
        if clause.count is not None:
            counted = list(restricting.counted(clause, grounding.meant, then))
            found.drafts += counted
            if counted:
                return
            doubts = [*doubts, f"more than {clause.count.beyond:g} {clause.count.unit}".strip()]
        if doubts and (clause.said or not clause.read_only):
            self._assess(found, grounding, places, doubts, sentence)
        else:
            self._forbid(found, grounding, places, then)
        found.drafts += restricting.folders(clause, then)
        found.drafts += restricting.secrets(clause, then)
        strange = any(p.head and not p.references and is_strange(p.head, self._tools.all) for p in clause.phrases)
        if strange and all(act.verb == "touch" for act in clause.acts):  # `For payroll ask me`, whatever that is
            found.drafts = [replace(d, rank=min(d.rank, Rank.ASKED)) if d.then is Mood.ASK else d for d in found.drafts]
        found.drafts += self._kin(clause, grounding, places)
        found.drafts += self._fields(clause, grounding) if not places else ()
        if not found.drafts and places and grounding.meant:  # it cannot be told where that is
            self._assess(found, grounding, [], [place.text for place in places], sentence)
        if not found.drafts:
            self._whatever_it_is(found, places, sentence)

    def _whatever_it_is(self, found: Understanding, places: Sequence[Place], sentence: str) -> None:
        """`Pretend Archive does not exist`: we do not know what must not be done there, so everything asks."""
        clause = found.clause
        if clause.acts and not clause.effects:
            every = replace(clause, acts=(Act("touch", EVERY),))
            meant = ground(every, self._tools, frozenset()).meant
            found.drafts += restricting.there(every, meant, places, Mood.ASK, self._tools)
        if not found.drafts and _goes_out(clause):
            self._in_words(found, sentence)
        if not found.drafts:
            found.notes.append("no tool at hand does this")

    def _kin(self, clause: Clause, grounding: Grounding, places: Sequence[Place]) -> Iterator[Draft]:
        """What has the effect of a particular verb under another name asks: `never cancel events`, of deleting one.

        INVARIANT: a match by name adds to the tools that have the effect, and never takes their place.
        """
        to_people = "send" in clause.effects and any(place.kind == "party" for place in places)
        if not any(act.words for act in clause.acts) and not to_people:
            return
        acts = tuple(
            Act(act.verb, act.effects | _KIN.get(act.verb, act.effects), thing=act.thing) for act in clause.acts
        )
        wide = replace(clause, acts=acts, mood=Mood.ASK)
        named = {each.tool.key for each in grounding.meant}
        meant = ground(wide, self._tools, frozenset()).meant
        if any(place.kind == "party" for place in places):
            sent = (tool for tool in self._tools.all if tool.effects & {"send", "share"})
            meant = [*meant, *(Meant(tool) for tool in sent if tool.of(Category.PARTY))]
        meant = [each for each in meant if each.tool.key not in named]
        drafts = restricting.with_tools(meant, Draft(Mood.ASK, Rank.ASKED_IN_GENERAL))
        inside = [place for place in places if not place.outside]
        if inside:
            drafts = restricting.there(replace(wide, confined=True), meant, inside, Mood.ASK, self._tools)
        rank = Rank.ASKED if to_people else Rank.ASKED_IN_GENERAL
        yield from (replace(draft, rank=rank) for draft in drafts)

    def _fields(self, clause: Clause, grounding: Grounding) -> Iterator[Draft]:
        """`Never set the status`, of a tool that can change everything: it asks where that is among what it changes."""
        spoken = {p.head for p in clause.phrases if is_object(p)} | {word for act in clause.acts for word in act.words}
        terms = frozenset(term for word in spoken & _FIELDS for term in terms_of(word))
        named = {each.tool.key for each in grounding.meant}
        heads = [p.head for p in clause.phrases if p.head in THINGS and p.head not in _FIELDS]
        things = frozenset(term for head in heads for term in terms_of(head))
        for tool in self._tools.all if terms else ():
            if tool.key in named or not tool.effects & {"create", "update"} or (things and not tool.holds(things)):
                continue
            for leaf in tool.leaves_for(terms):
                if leaf in tool.texts and leaf not in tool.required:
                    yield Draft(Mood.ASK, Rank.ASKED, (tool,), values={f"arg:{leaf}": PRESENT})

    def _in_words(self, found: Understanding, sentence: str) -> None:
        """No tool buys, shares or uploads; but messages and commands may come to that."""
        out = [Meant(tool) for tool in self._tools.all if tool.effects & {"send", "share", "execute", "pay"}]
        drafts = restricting.with_tools(out, Draft(Mood.ASK, Rank.ASKED, question=sentence))
        found.drafts += drafts
        if found.drafts:
            found.notes.append("no tool at hand is for this, so it asks where a message or a command might come to it")

    def _assess(
        self, found: Understanding, grounding: Grounding, places: Sequence[Place], doubts: Sequence[str], sentence: str
    ) -> None:
        """What cannot be checked is asked, wherever it might be."""
        clause, meant = found.clause, grounding.meant
        found.notes.append(f"cannot check {_quoted(doubts)}, so it asks where that might be")
        if all(act.effects and act.effects != EVERY for act in clause.acts):
            if not meant:  # we know the verb, and no tool does it
                found.ungrounded = False
                return
        elif clause.said and not places:
            meant = [each for each in meant if each.tool.effects - READ]
        if not meant or found.ungrounded:
            named = where(clause, self._tools.all)
            topic = self._topic if len(named) == len(self._tools.all) else frozenset()
            meant = [Meant(tool) for tool in named if tool.effects - READ or tool.server in topic]
        drafts = restricting.with_tools(meant, Draft(Mood.ASK, Rank.ASKED))
        if places:
            drafts = restricting.there(clause, meant, places, Mood.ASK, self._tools)
        found.drafts += [replace(draft, question=sentence) for draft in drafts]

    def _forbid(self, found: Understanding, grounding: Grounding, places: Sequence[Place], then: Mood) -> None:
        clause = found.clause
        if clause.read_only:
            on_disk = all(r.kind == "directory" for p in clause.phrases for r in p.references)
            changes = (
                {"create", "update", "delete", "move"} if on_disk else EVERY - READ
            )  # to send it is not to change it
            acts = tuple(replace(act, effects=frozenset(changes), words=frozenset()) for act in clause.acts)
            clause = replace(clause, acts=acts)
            grounding = ground(clause, self._tools, frozenset())
        exceptions = self._exceptions(clause)
        outside = [place for place in places if place.outside]
        others = any(phrase.other for phrase in clause.phrases)
        if exceptions and clause.grants:
            found.drafts += self._granted_by(clause, exceptions)
        if others or outside or exceptions:
            spoken_of = [p for p in self._named if others and _is_one_of(p, clause)]
            found.drafts += self._closed(clause, grounding, [*outside, *exceptions, *spoken_of], then)
            places = [] if others or exceptions else [place for place in places if not place.outside]
        elif not places:
            about = where(clause, self._tools.all)
            files = len(about) == len(self._tools.all) or any(tool.of(Category.PATH) for tool in about)
            found.drafts += restricting.everywhere(clause, grounding.meant, then, files=files)
        found.drafts += restricting.there(clause, grounding.meant, places, then, self._tools)
        if clause.only and places:
            found.drafts += self._closed(clause, grounding, places, Mood.FORBID)

    def _granted_by(self, clause: Clause, exceptions: Sequence[Place]) -> list[Draft]:
        """`Never delete anything except in Temp` lets it delete in Temp."""
        objects = (p for p in clause.phrases if not p.references)
        permitted = replace(clause, mood=Mood.PERMIT, exceptions=(), phrases=(*objects, *clause.exceptions))
        allowed = Understanding(permitted, Mood.PERMIT)
        inside = [replace(place, outside=False) for place in exceptions]
        self._permit(allowed, ground(permitted, self._tools, frozenset()), inside, [])
        return allowed.drafts


def guards_of(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """What a permission to read by statements must never let through: writing to files, functions with effects."""
    tools = dict.fromkeys(
        tool
        for draft in drafts
        for tool in draft.tools
        if draft.then is Mood.PERMIT and tool.statement and f"arg:{tool.statement}" in draft.values
    )
    for tool in tools:
        values = {f"arg:{tool.statement}": {"matches": with_effects()}}
        yield Draft(Mood.FORBID, Rank.FORBIDDEN, (tool,), values=values)


def _is_of_subject(clause: Clause) -> bool:
    """`Archive may only be read` says what is done to it, and not that others are not read."""
    return clause.only_act and any(p.references and p.is_subject and not p.preposition for p in clause.phrases)


def _only_permits(clause: Clause) -> bool:
    """Whether nothing in a permission says no: no exception, no condition, no limit."""
    limits = clause.exceptions or clause.condition or clause.count or clause.said
    closes = clause.only or clause.only_act or clause.negated or clause.oneself
    return not limits and not closes and not any(p.outside or p.other for p in clause.phrases)


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def _is_vague(clause: Clause) -> bool:
    """Whether it says `it` or `anything` of what was spoken of, and means no more than that."""
    if clause.mood is Mood.PERMIT or clause.emphatic or clause.said:
        return False
    return all((p.head in ANYTHING or not p.head or p.pronoun) and not p.references for p in clause.phrases)


def _by_verb(clause: Clause, meant: list[Meant]) -> list[Meant]:
    """`Search for shops`, though no tool knows of shops: what has searching in its name."""
    verbs = frozenset(word for act in clause.acts for word in act.verb.split("_"))
    named = [each for each in meant if verbs & each.tool.words] if clause.effects <= READ else []
    said = frozenset(word for p in clause.phrases for word in p.modifiers)
    return [each for each in named if said & each.tool.words] or named or meant


def _goes_out(clause: Clause) -> bool:
    return (bool(clause.effects & {"pay", "share"}) and clause.effects != EVERY) or any(
        act.verb == "upload" for act in clause.acts
    )


def _is_one_of(place: Place, clause: Clause) -> bool:
    """Whether a place is of the sort that a clause says `other` of."""
    terms = frozenset(term for p in clause.phrases if p.other for term in terms_of(p.head))
    called = frozenset(term for word in place.text.lower().split()[-1:] for term in terms_of(word))
    return place.kind == "value" and bool((place.terms | called) & terms)


def _is_boundless(clause: Clause) -> bool:
    """Whether a permission names neither what, nor where, nor how in particular."""
    nouns = any(is_object(p) and p.head not in ANYTHING for p in clause.phrases)
    return not nouns and not any(act.words or act.thing or not act.effects for act in clause.acts)


def _is_about_content(clause: Clause, unknown: Sequence[str]) -> bool:
    """`Whatever you write, no customer should be recognisable`: what is unknown is in it, and not another object."""
    objects = [p for p in clause.phrases if is_object(p)]
    about = [p for p in objects if p.head not in unknown]
    said_of = all(p.is_subject for p in about) and any(not p.is_subject for p in objects if p.head in unknown)
    return bool(about) and (said_of or all(p.head in ANYTHING for p in about))
