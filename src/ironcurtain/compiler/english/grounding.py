"""Which tools a clause speaks of, and what of it no tool or argument answers to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon, singular
from ironcurtain.compiler.english.cues import Mood
from ironcurtain.compiler.english.lexicon import (
    ACTS,
    ANYTHING,
    EVERY,
    FILES,
    HARMLESS,
    HOLDS,
    NOUNS_OF_ACTS,
    OWNERS,
    PEOPLE,
    READ,
    RELATED,
    THINGS,
    WRITE,
    Act,
)
from ironcurtain.compiler.english.reading import Phrase
from ironcurtain.compiler.english.surface import Surface, terms_of
from ironcurtain.model.roles import Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ironcurtain.compiler.english.clauses import Clause

_WITHOUT_OBJECT: Final = ("commit", "push", "stage")
"""`Commit and make branches` is not committing branches."""
_SEARCHING: Final = ("search", "search_for", "look_for", "find", "search_through")
_SEARCHED: Final = lexicon("search find query lookup")
_SHORTEST: Final = 4  # letters of a name that may stand for a longer one
_MANY: Final = lexicon("batch bulk mass multiple many all")
_PARTICULAR: Final = lexicon(
    """forward broadcast invite publish share cancel trash merge approve reject suspend revert rollback disable stop
    reset transfer unsubscribe subscribe ban kick mute block revoke grant react reaction watch delegate forwarding
    import export download"""
)
"""Words in a tool's name that no general verb permits."""
_UPLOADED: Final = lexicon("upload put attach import file document object media photo image asset attachment")
_LISTED: Final = lexicon("list search find all count")
_LISTING: Final = lexicon("list enumerate count")
_FOR_GOOD: Final = lexicon("permanently irreversibly irrevocably forever")
_MESSAGES: Final = lexicon("message email comment post reply note chat thread sms notification tweet")
_EVERYWHERE: Final = lexicon(
    "list workspace account computer machine system world disk internet web online server service app"
)
_VAGUE: Final = lexicon("data item entry page object history record information thing content")
"""Words of headings that speak of no server."""
_WRITING: Final = lexicon("write put")
SQL: Final = {
    "read": ("select", "show", "describe", "explain"),
    "create": ("insert", "create"),
    "update": ("update", "alter", "replace", "merge"),
    "delete": ("delete", "drop", "truncate"),
}
"""What statements of a query language do, by their first word."""


@dataclass(frozen=True, slots=True)
class Meant:
    """A tool that is meant, and in which of its modes; none: in all."""

    tool: Surface
    modes: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    """The first words of the statements that are meant, for a tool that takes any."""


@dataclass(slots=True)
class Grounding:
    """What a clause comes to among the tools at hand."""

    meant: list[Meant] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Words that nothing answers to."""
    called: frozenset[str] = frozenset()
    """Servers that are named."""


class Tools:
    """All tools at hand."""

    def __init__(self, surfaces: Iterable[Surface]) -> None:
        self.all = tuple(surfaces)

    @property
    def servers(self) -> frozenset[str]:
        """Their servers."""
        return frozenset(tool.server for tool in self.all)

    def hold(self, terms: frozenset[str]) -> bool:
        """Whether any of them is about such things."""
        return any(tool.holds(terms) for tool in self.all)

    def servers_called(self, words: Iterable[str]) -> frozenset[str]:
        """Servers that go by one of these names, and by no name of a sort of thing."""
        called = {word for word in words if word not in THINGS and word not in HARMLESS}
        return frozenset(tool.server for tool in self.all if called & tool.brand)

    def servers_about(self, words: Sequence[str]) -> frozenset[str]:
        """Servers that a heading speaks of: by name, or by what their tools are about."""
        if called := self.servers_called(words):
            return called
        content = [singular(word) for word in words if word not in HARMLESS and word not in _VAGUE]
        terms = frozenset(term for word in content for term in terms_of(word))
        by_key = frozenset(
            tool.server for tool in self.all if terms & frozenset(t for word in tool.brand for t in terms_of(word))
        )
        if by_key or not terms:
            return by_key
        if terms & FILES:
            return frozenset(tool.server for tool in self.all if tool.of(Category.PATH))
        return frozenset(tool.server for tool in self.all if tool.holds(terms)) or self._servers_saying(terms)

    def _servers_saying(self, terms: frozenset[str]) -> frozenset[str]:
        """Servers at least half of whose tools describe themselves with one of these: `Todoist`."""
        every = Counter(tool.server for tool in self.all)
        saying = Counter(tool.server for tool in self.all if tool.says & terms)
        found = frozenset(server for server, count in saying.items() if 2 * count >= every[server])
        return found or frozenset(
            tool.server for tool in self.all for name in tool.brand for term in terms if _is_short_for(name, term)
        )


def _is_short_for(name: str, word: str) -> bool:
    """`todo` for Todoist."""
    return len(name) >= _SHORTEST and word.startswith(name) and name not in HARMLESS


def ground(clause: Clause, tools: Tools, scope: frozenset[str]) -> Grounding:
    """The tools that a clause speaks of. `scope` are the servers it is about, if that is known."""
    found = _ground(clause, tools, scope)
    objects = any(is_object(p) and p.head not in ANYTHING for p in clause.phrases)
    return found if found.meant or not scope or not objects else _ground(clause, tools, frozenset())


def _ground(clause: Clause, tools: Tools, scope: frozenset[str]) -> Grounding:
    words = [word for p in clause.phrases for word in (*p.modifiers, p.head) if word]
    names = [r.text.lower() for p in clause.phrases for r in p.references if r.kind in ("literal", "name")]
    called = tools.servers_called([*words, *names])
    found = Grounding(called=called)
    candidates = [tool for tool in tools.all if tool.server in (called or scope or tools.servers)]
    sends = bool(clause.effects & {"send", "share"}) and clause.effects != EVERY
    objects = [p for p in clause.phrases if is_object(p) and not (sends and p.is_people)]
    if clause.effects <= READ:  # `every ticket with its comments`
        objects += [p for p in clause.phrases if p.preposition == "with" and p.things and not p.references]
    if all(p.head in ANYTHING for p in objects):
        candidates = where(clause, candidates)
    brand = frozenset(word for tool in candidates for word in tool.brand) if called else frozenset()
    for act in clause.acts:
        spoken = objects or ([Phrase(head=act.thing)] if act.thing and not act.words else [])
        for phrase in spoken or [Phrase()]:
            only_brand = {*phrase.modifiers, phrase.head} <= brand  # `Todoist`: the server is all that is named
            hits = _hits(candidates, _Asked.of(act, Phrase() if only_brand else phrase, clause))
            if not hits and act.verb in _WITHOUT_OBJECT and len(clause.acts) > 1:
                hits = _hits(candidates, _Asked.of(act, Phrase(), clause))
            named = phrase.head and phrase.head not in ANYTHING and not only_brand
            if named and not hits and not _is_known(phrase.head, tools) and phrase.head not in found.unknown:
                found.unknown.append(phrase.head)
            found.meant += [each for each in hits if each not in found.meant]
    if clause.mood is Mood.PERMIT:
        found.meant = _selected(clause, found.meant)
    return found


def where(clause: Clause, tools: Sequence[Surface]) -> list[Surface]:
    """`put nothing on a card`: where nothing else says what it is about, the place does."""
    nouns = [
        p.head for p in clause.phrases if p.preposition and not p.references and p.head in THINGS and not p.is_people
    ]
    terms = frozenset(term for noun in nouns for term in terms_of(noun)) - FILES
    about = [tool for tool in tools if tool.holds(terms)]
    return about if terms and about else list(tools)


def is_object(phrase: Phrase) -> bool:
    """Whether it says what something is done to, and not where or with whom."""
    return bool(phrase.head) and not phrase.preposition and not phrase.references


def _is_known(word: str, tools: Tools) -> bool:
    """Whether it is a sort of thing that we know, though no tool may do this to it."""
    return word in THINGS or any(word in tool.nouns for tool in tools.all)


def _selected(clause: Clause, meant: list[Meant]) -> list[Meant]:
    """`search arXiv and PubMed`: where a word is in the names of some of the tools, those are meant."""
    spoken = [
        word
        for p in clause.phrases
        for word in (*p.modifiers, *((p.head,) if p.preposition not in ("", "for", "of") or _is_name(p) else ()))
    ]
    brands = frozenset(word for each in meant for word in each.tool.brand)
    ordinary = (THINGS, HARMLESS, ANYTHING, PEOPLE, brands)
    words = {word for word in spoken if word and not any(word in each for each in ordinary)}
    few = max(3, len(meant) // 4)
    picking = {word for word in words if 0 < sum(word in each.tool.words for each in meant) <= few < len(meant) + few}
    named = [each for each in meant if picking & (each.tool.words | each.tool.says)]
    return named if picking and len(meant) > 1 else meant


def _is_name(phrase: Phrase) -> bool:
    return bool(phrase.written) and phrase.written[-1][:1].isupper()


# --- One act, one sort of thing. ---


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of every tool: does it do this to that?"""

    act: Act
    phrase: Phrase
    effects: frozenset[str]
    permits: bool
    for_good: bool
    """Deleting is meant for good: moving to the trash is not that."""

    @classmethod
    def of(cls, act: Act, phrase: Phrase, clause: Clause) -> _Asked:
        for_good = bool(_FOR_GOOD & {word.lower() for word in clause.text.split()})
        return cls(act, phrase, _effects(act, clause), clause.mood is Mood.PERMIT, for_good)

    @property
    def terms(self) -> frozenset[str]:
        """What its object may be called; nothing for anything."""
        return frozenset() if not self.phrase.head or self.phrase.head in ANYTHING else terms_of(self.phrase.head)


def _effects(act: Act, clause: Clause) -> frozenset[str]:
    """What the act comes to in this clause: writing to people is sending, writing in a folder is not."""
    permits = clause.mood is Mood.PERMIT
    objects = [p for p in clause.phrases if not p.preposition]
    if act.verb == "open" and any(p.things & {"issue", "pull_request"} for p in objects):
        return frozenset({"create"}) if permits else frozenset({"create", "read"})
    if permits and "create" in act.effects and objects and all(p.is_new for p in objects if p.head):
        return act.effects - {"update"}  # `write new files`
    if act.verb not in _WRITING:
        return act.effects
    if any(p.preposition == "to" and (p.is_people or p.names_people) for p in clause.phrases):
        return frozenset({"send"})
    on_disk = any(p.things & FILES or any(r.kind == "directory" for r in p.references) for p in clause.phrases)
    mail = act.verb == "write" and any(p.things & {"email", "message", "comment"} or p.head == "note" for p in objects)
    return act.effects | {"send"} if mail or not (permits or on_disk) else act.effects


def _hits(tools: Sequence[Surface], asked: _Asked) -> list[Meant]:
    hits = [meant for tool in tools if (meant := _meant(tool, asked))]
    act = asked.act
    if not hits and act.words and act.effects and not asked.permits and act.verb not in ("attach", "empty"):
        wider = asked.effects | ({"send"} if "share" in asked.effects else set())
        general = replace(asked, act=replace(act, words=frozenset()), effects=wider)  # whatever might do it
        hits = [meant for tool in tools if (meant := _meant(tool, general))]
    if asked.permits and act.verb in _SEARCHING and asked.terms:
        found = [each for each in hits if each.tool.words & _SEARCHED and each.tool.says & asked.terms]
        hits = found or hits
        return hits if found else _best(hits, asked)
    return hits if act.verb == "attach" or not asked.terms else _best(hits, asked)


def _best(hits: list[Meant], asked: _Asked) -> list[Meant]:
    """Those whose names say it; only where none does, those that speak of it."""
    terms = asked.terms
    related = frozenset(other for term in terms for other in RELATED.get(term, ()))
    by_name = [each for each in hits if each.tool.holds(terms) or _by_role(each.tool, terms)]
    by_relation = [each for each in hits if each.tool.nouns & related]
    by_modifier = [each for each in hits if any(each.tool.holds(terms_of(word)) for word in asked.phrase.modifiers)]
    by_text = [each for each in hits if each.tool.says & terms]
    if asked.permits:
        named = asked.act.words  # `comment on tickets`: the tool is for comments, and says on what
        by_text = [each for each in by_text if each.tool.words & named or not each.tool.nouns & frozenset(THINGS)]
    return by_name or by_relation or by_modifier or by_text


def _by_role(tool: Surface, terms: frozenset[str]) -> bool:
    """Files are what paths lead to, and pages what addresses do."""
    on_disk = bool(terms & FILES) and bool(tool.of(Category.PATH))
    return on_disk or ("page" in terms and "fetch-url" in tool.all_roles and tool.effects <= READ)


def _meant(tool: Surface, asked: _Asked) -> Meant | None:
    """The tool, if it does this to that. A permission must cover all that it does, a prohibition any of it."""
    act = asked.act
    if act.verb == "attach":
        return Meant(tool) if tool.attaches or (not asked.permits and "attachment" in tool.words) else None
    if act.verb == "upload":
        takes = bool(tool.effects & {"create", "update", "send"}) and bool(tool.words & _UPLOADED)
        sends = takes and "write-path" not in tool.all_roles
        return Meant(tool) if sends or (tool.attaches and not asked.permits) else None
    if asked.terms and not _speaks_of(tool, asked):
        return None
    if (
        asked.permits
        and act.verb in _LISTING
        and not asked.terms & FILES
        and tool.required.intersection(tool.leaves_for(asked.terms))
    ):
        return None  # it is told which one, so it does not list them
    told = any(leaf.lower().endswith("id") for leaf in tool.required) and not tool.words & _LISTED
    if asked.permits and act.verb in _LISTING and asked.terms and told and asked.terms & tool.nouns:
        return None
    if asked.permits and asked.phrase.head in ("mail", "email") and act.words and "email" not in tool.nouns:
        return None  # `answer mail` says nothing of chats
    if tool.statement and (tool.sql or tool.effects <= {"execute", "read"}) and not act.words:
        return _by_statement(tool, asked)
    if tool.modes:
        modes = tuple(mode for mode, does in tool.modes.items() if _does(tool, does, asked))
        return Meant(tool, () if len(modes) == len(tool.modes) else modes) if modes else None
    return Meant(tool) if _does(tool, tool.effects, asked) else None


def _speaks_of(tool: Surface, asked: _Asked) -> bool:
    terms, effects = asked.terms, asked.act.effects
    inside = any(HOLDS.get(term, frozenset()) & tool.nouns for term in terms)
    of_itself = bool(effects) and effects <= {"create", "delete", "share", "move"}
    if of_itself and inside and not tool.nouns & terms:
        return False  # creating an issue creates no repository
    related = any(RELATED.get(term, frozenset()) & tool.nouns for term in terms)
    by_modifier = any(tool.holds(terms_of(word)) for word in asked.phrase.modifiers)
    return bool(tool.holds(terms) or _by_role(tool, terms) or tool.says & terms or related or by_modifier)


def _does(tool: Surface, does: frozenset[str], asked: _Asked) -> bool:
    effects, words = asked.effects, asked.act.words
    sends = "send" in effects or (not asked.permits and "create" in effects)  # `never add anything to #staff`
    sending = sends and does <= {"send", "create"} and bool(tool.nouns & _MESSAGES)
    sending = sending and "draft" not in tool.words
    if not effects:  # a verb that we do not know: only tools with that very word, or what it is said of
        if asked.terms and not asked.permits:
            return bool(does - READ)
        return any(word.startswith(stem) for word in tool.words for stem in words if len(stem) > 2)
    if asked.permits:
        return _may(tool, does, asked, sending=sending)
    if words & tool.words or any(f"{word}ing" in tool.words for word in words):  # `forwarding`
        return True
    if "move" in effects and "move" in does:
        return True
    if "delete" in effects and "trash" in tool.words and not words:
        return not asked.for_good
    if "execute" in effects and "command" in tool.all_roles:
        return True
    shared = {"share"} if effects & {"send", "share"} else set()
    return bool(does & shared) or (not words and (bool(does & effects) or sending))


def _may(tool: Surface, does: frozenset[str], asked: _Asked, *, sending: bool) -> bool:
    """Whether a permission covers all that a tool does."""
    effects, words = asked.effects, asked.act.words
    last = asked.phrase.written[-1:]
    if tool.words & _MANY and does - READ and last and singular(last[0]) == last[0]:
        return False  # `add a contact`
    if words:
        spoken = tool.words | (tool.says if "share" in effects else frozenset())
        alike = (("move", WRITE | {"move"}), ("send", WRITE | {"send"}))  # moving is changing, reacting is adding
        fits = any(effect in effects and does <= other for effect, other in alike)
        fits = fits or (bool(effects & WRITE) and does <= WRITE)  # staging is adding
        beside = READ | (WRITE if effects & WRITE else frozenset())
        return bool(words & spoken) and (fits or (bool(does & effects) and does - effects <= beside))
    if tool.words & _PARTICULAR:
        return False
    either = does == WRITE and effects & WRITE
    reads_too = does <= effects | READ and does & effects
    return bool(sending or does <= effects or either or reads_too)


def _by_statement(tool: Surface, asked: _Asked) -> Meant | None:
    """A tool that takes statements: what it does is what the statement says."""
    effects, verb = asked.effects, asked.act.verb
    said = tuple(word for word in asked.phrase.modifiers if any(word in words for words in SQL.values()))
    if "execute" in effects and effects != EVERY:
        return Meant(tool, statements=said or (SQL["read"] if asked.permits else ()))
    if effects == EVERY:
        return Meant(tool)
    if asked.permits and verb in ("list", "count", "enumerate", "show"):
        return Meant(tool, statements=("show", "describe"))
    spoken = (verb,) if any(verb in words for words in SQL.values()) else ()
    if asked.permits:
        made = ("create",) if "table" in asked.phrase.things else ("insert",)  # rows, if it does not say tables
        by_effect = {"read": SQL["read"], "create": made, "update": ("update",), "delete": ("delete",)}
        statements = spoken or tuple(word for effect in sorted(effects) for word in by_effect.get(effect, ()))
        return Meant(tool, statements=statements) if statements else None
    statements = tuple(word for effect, words in SQL.items() if effect in effects for word in words)
    statements = tuple(dict.fromkeys((*spoken, *statements)))
    return Meant(tool, statements=statements) if statements else None


# --- What is left over. ---


def left_over(clause: Clause, meant: Sequence[Meant], tools_at_hand: Tools) -> list[str]:
    """Words that narrow what is named, and that no tool at hand answers to."""
    tools = [each.tool for each in meant]
    brands = frozenset(word for tool in tools_at_hand.all for word in tool.brand)
    spoken = brands | frozenset(word for tool in tools for word in tool.words | tool.nouns | tool.says | tool.brand)
    placed = any(tool.of(Category.PLACE) for tool in tools)
    found: dict[str, None] = {}
    for phrase in clause.phrases:
        words = list(phrase.modifiers)
        if phrase.preposition and clause.mood is not Mood.PERMIT:
            words = []  # a prohibition without its place is only wider
        elif phrase.preposition and not phrase.references and not phrase.is_people:
            words.append(phrase.head)
        owned = not (placed and phrase.things & {"calendar", "channel", "repository"})
        for word in words:
            idle = word in HARMLESS or word in _EVERYWHERE or word in ANYTHING or word in PEOPLE or word in THINGS
            said = bool(terms_of(word) & spoken) or any(word in each for each in SQL.values())
            if word and not idle and not said and not (owned and word in OWNERS):
                found[word] = None
    return list(found)


def is_strange(word: str, tools: Sequence[Surface]) -> bool:
    """A word that is no sort of thing, no action and nothing that a tool speaks of: a name, perhaps."""
    if word in ACTS or word in NOUNS_OF_ACTS or any(word in words for words in SQL.values()):
        return False
    if any(word in words for words in (THINGS, HARMLESS, ANYTHING, PEOPLE, OWNERS)):
        return False
    return not any(
        word in tool.words | tool.nouns | tool.says | tool.brand or tool.leaves_for(terms_of(word)) for tool in tools
    )
