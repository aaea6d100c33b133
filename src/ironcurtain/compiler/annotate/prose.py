"""What a description says that its tool does: the verbs of its first sentences, where a verb stands.

A description is a server's own text and is read in favour of caution: a verb counts unless it is negated, belongs to
another tool, or tells the agent what to do before or after the call.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.acts import acts_of_verb, is_derived, is_noun, verbs
from ironcurtain.compiler.annotate.text import lexicon, singular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_SENTENCES: Final = 6
_IRREGULAR: Final = {
    "sent": "send", "written": "write", "overwritten": "overwrite", "paid": "pay", "bought": "buy", "sold": "sell",
    "made": "make", "built": "build", "found": "find", "shown": "show", "rewritten": "rewrite", "put": "put",
    "set": "set", "withdrawn": "withdraw",
}  # fmt: skip
_TOKEN: Final = re.compile(r"[a-z][a-z0-9']*|[.,;:()/|&]|\d+")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\s[-*\u2022]\s")
_SECTION: Final = re.compile(
    r"\b(?:args|arguments|parameters|params|returns|examples?|inputs?|output|response|raises|notes?|usage|tips?|"
    r"use cases?|usage guidance|prerequisites)\s*:"
)
_OTHER_TOOL: Final = re.compile(
    r"\binstead\b|\bsee also\b|\bother tools?\b|\bprefer\b|\bnot for\b"
    r"|\b(?:use|call|see|try|via|using|with|from|by|run|to|for)\s+(?:the\s+)?[`'\"]?[a-z0-9]+(?:[_][a-z0-9]+)+"
    r"|\buse [`'\"]?[a-z0-9]+(?:-[a-z0-9]+)+[`'\"]? (?:to|for)\b"
)
_NEGATIONS: Final = lexicon("not never cannot can't don't doesn't without won't nor no rather")
_INTRODUCTIONS: Final = re.compile(
    r"^(?:\W*purpose\W*\s|\W*\d+\W+)?(?:(?:this |the |an? )?(?:tool |function |command |method |endpoint |api |action |"
    r"operation |utility )(?:is |can be |that |which )?(?:used )?(?:to |for |will |can |may |lets you |"
    r"allows? (?:you |users |agents |the agent )?(?:to )?|enables? (?:you |users )?(?:to )?|supports? )?"
    r"|use this (?:tool |function )?(?:to |for |when you (?:need|want) to )"
    r"|(?:allows?|enables?|lets) (?:\w+ )?(?:to )?)?"
)
_CONTAINING: Final = lexicon(
    "list detail content information info metadata history summary number set collection status property view tree name"
)
_ENDS_OBJECT: Final = lexicon(
    """. , ; : ( ) / | & of to from in into for with on at as via using by under within about and or that which who is
    are when where including based matching between across against without than you"""
)
_JOINING: Final = lexicon("and or then , / | & also optionally automatically")
_ADVERBS: Final = lexicon(
    """permanently then automatically also immediately only first always irreversibly optionally either both safely
    atomically directly programmatically simply conditionally quickly bulk batch soft hard"""
)
_MODALS: Final = lexicon("will can may might must")
_SUBJECTS: Final = lexicon("it this tool which that operation command")
_PASSIVE: Final = lexicon("is are be gets being")
_CONDITIONS: Final = lexicon("if whether that which who where when already until once unless after before have has")
_CONSEQUENCES: Final = frozenset({"delete", "trash", "send", "share", "pay", "upload"})
"""What is told in the passive: `the file is deleted`."""
_RESULTS: Final = lexicon("output response result results")
_REPLACED: Final = lexicon("overwrite replace")
_WEAK: Final = lexicon(
    """generate produce make start convert build open select run set resolve match sort format compile subscribe connect
    render log record press type scroll use manage control apply define call execute evaluate store save cancel debug
    interact annotate adjust focus"""
)
"""Verbs that a reader's description uses for reading: `generates a report`, `runs a query`."""
_DETERMINERS: Final = lexicon(
    "a an the this these those your its their all any new one some multiple several it them each every existing another"
)
_OBJECTS: Final = _DETERMINERS | lexicon("to up out with file files data content text messages message email emails")


@lru_cache(maxsize=1)
def _forms() -> dict[str, tuple[str, str]]:
    """Return every inflected form with its verb and the kind of the form."""
    forms: dict[str, tuple[str, str]] = {}
    for verb in verbs():
        stem = verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb
        twice = verb + verb[-1] if re.search(r"[^aeiou][aeiou][bdgklmnprt]$", verb) else stem
        ends_in_y = re.search(r"[^aeiou]y$", verb)
        third = verb[:-1] + "ies" if ends_in_y else verb + ("es" if re.search(r"(?:s|x|z|ch|sh)$", verb) else "s")
        past = verb[:-1] + "ied" if ends_in_y else stem + "ed"
        kinds = {third: "third", stem + "ing": "ing", twice + "ing": "ing", past: "past", twice + "ed": "past"}
        for form, kind in kinds.items():
            forms.setdefault(form, (verb, kind))
    forms |= {form: (verb, "past") for form, verb in _IRREGULAR.items()}
    return forms | {verb: (verb, "base") for verb in verbs()}


def sentences_of(text: str, most: int = MOST_SENTENCES) -> list[str]:
    """Return the first sentences of a cleaned description, without its sections on arguments and results."""
    body = _SECTION.split(text, maxsplit=1)[0]
    return [sentence for sentence in _SENTENCE.split(body) if re.search(r"[a-z]{2}", sentence)][:most]


def acts_of_text(text: str, named: frozenset[str]) -> frozenset[str]:
    """Return the acts of the verbs in a cleaned description; `named` are those of the tool's name."""
    found: set[str] = set()
    for number, sentence in enumerate(sentences_of(text)):
        own = _own_part(sentence)
        introduction = _INTRODUCTIONS.match(own)
        body = own[introduction.end() :] if introduction else own
        tokens = _TOKEN.findall(body)
        leads = number == 0 or (introduction is not None and introduction.end() > 2)
        for verb, nouns in _verbs(tokens, leads=leads, loose=not named, strict=named == {"read"}):
            weak = named == {"read"} and verb in _WEAK
            found |= frozenset() if weak else acts_of_verb(verb, nouns)
    return frozenset(found)


def leading_verb(text: str) -> str:
    """Return the verb with which a cleaned description begins, or the empty string."""
    return next((verb for verb, _ in leading_verbs(text)), "")


def leading_verbs(text: str) -> list[tuple[str, list[str]]]:
    """Return the verbs with which a cleaned description begins, each with the nouns after it."""
    for sentence in sentences_of(text, 1):
        introduction = _INTRODUCTIONS.match(sentence)
        tokens = _TOKEN.findall(sentence[introduction.end() :] if introduction else sentence)
        found = list(_verbs(tokens, leads=True, loose=False))
        return found if _begins(tokens) else found[:0]
    return []


def _begins(tokens: Sequence[str]) -> bool:
    """Return whether a verb is at the very start, adverbs apart."""
    for token in tokens:
        if token not in _ADVERBS:
            return token in _forms()
    return False


def object_of(text: str) -> list[str]:
    """Return the words of what a cleaned description's first verb is done to, in the singular."""
    for sentence in sentences_of(text, 1):
        introduction = _INTRODUCTIONS.match(sentence)
        tokens = _TOKEN.findall(sentence[introduction.end() :] if introduction else sentence)
        verb = next((index for index, token in enumerate(tokens[:4]) if token in _forms()), None)
        return [] if verb is None else _object(tokens[verb + 1 :])
    return []


def _object(tokens: Sequence[str]) -> list[str]:
    """Return the noun phrase at the start of these tokens; of `a list of the users` it is `users`."""
    words: list[str] = []
    for index, token in enumerate(tokens[:12]):
        if token in ("of", "about") and words and words[-1] in _CONTAINING:
            words.clear()
        elif token in _ENDS_OBJECT:
            if words or not token.isalpha():
                break
        elif token in _forms() and not words and tokens[index - 1] in ("or", "and", "/", ","):
            continue
        else:
            words.append(singular(token))
    return words


def _own_part(sentence: str) -> str:
    """Return a sentence without the clause that speaks of another tool."""
    other = _OTHER_TOOL.search(sentence)
    if other is None:
        return sentence
    cut = max(sentence.rfind(mark, 0, other.start()) for mark in (",", ";", "(", ":"))
    return sentence[: max(cut, 0)]


def _verbs(tokens: Sequence[str], *, leads: bool, loose: bool, strict: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Yield the verbs of one sentence with the nouns after each."""
    leading, last, negated = "", -1, False
    for index, token in enumerate(tokens):
        if token in (".", ";", ",", "but", "(", ")", ":"):
            negated = False
        negated = negated or token in _NEGATIONS
        entry = _forms().get(token)
        if entry is None or negated:
            continue
        verb, kind = entry
        if index and is_derived(verb):
            continue
        between = tokens[last + 1 : index] if last >= 0 else ()
        joined = bool(between) and kind == leading and all(word in _JOINING | _ADVERBS for word in between)
        if joined or _stands(tokens, index, (verb, kind, leading), leads=leads, loose=loose, strict=strict):
            leading, last = leading or kind, index
            yield verb, _nouns_after(tokens, index)


def _stands(
    tokens: Sequence[str], index: int, entry: tuple[str, str, str], *, leads: bool, loose: bool, strict: bool
) -> bool:
    """Return whether a form stands where it says what the tool does."""
    verb, kind, leading = entry
    place = index
    while place and tokens[place - 1] in _ADVERBS:
        place -= 1
    before = tokens[place - 1] if place else ""
    after = tokens[index + 1] if index + 1 < len(tokens) else ""
    if kind == "past":
        clear = _CONDITIONS.isdisjoint(tokens[max(0, place - 6) : place])
        serious = acts_of_verb(verb, ()) & _CONSEQUENCES or verb in _REPLACED
        shown = "from" in tokens[index : index + 3] and not _RESULTS.isdisjoint(tokens[index : index + 6])
        return before in _PASSIVE and clear and bool(serious) and not shown
    if place == 0:
        return _leads(kind, after, verb, leads=leads, adverb=index > 0)
    if before in _MODALS and kind == "base":
        subject = tokens[place - 2] if place > 1 else "it"
        return after in _OBJECTS and (subject in _SUBJECTS or loose)
    if before in ("it", "this", "tool") and kind == "third":
        return after in _OBJECTS or not is_noun(verb)
    if before == "by" and kind == "ing":
        return "read" not in acts_of_verb(verb, ())
    if before in _JOINING and leading == kind:
        return after in _DETERMINERS or (not is_noun(verb) and not strict)
    if loose and before == ":" and kind == "base":
        return not is_noun(verb)
    if loose and before in ("to", "for", "you"):
        return kind == ("ing" if before == "for" else "base") and (not is_noun(verb) or after in _OBJECTS)
    return False


def _leads(kind: str, after: str, verb: str, *, leads: bool, adverb: bool) -> bool:
    """Return whether a verb at the start of a sentence says what the tool does, and not what the agent should do."""
    if verb == "accept" and not leads:  # `Accepts table names`
        return False
    if kind == "base":
        return (leads or adverb) and not (is_noun(verb) and after in ("of", "is", "are", ":", ".", ""))
    if kind == "third":
        return not is_noun(verb) or after in _OBJECTS
    return leads


def _nouns_after(tokens: Sequence[str], index: int) -> list[str]:
    """Return the words right after a verb, in the singular."""
    words: list[str] = []
    for token in tokens[index + 1 : index + 6]:
        if token in (".", ";", "(", ":", "in", "on", "from", "for", "by", "with", "that", "which", "as"):
            break
        words.append(singular(token))
    return words
