"""What a heading says of the sentences under it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon
from ironcurtain.compiler.english.cues import Mood, cues_in, mood_of
from ironcurtain.compiler.english.lexicon import HARMLESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ironcurtain.compiler.english.words import Word

WHO: Final = (
    r"(?:(?:my|our|the|this|your) (?:(?!old|former|previous|last|other)\w+ ){0,2}(?:assistant|agent|helper|bot|ai))"
)
TITLES: Final = re.compile(
    rf"(?:(?:the|my|our|your|house|ground|general|basic|some|a few|short|simple) )*"
    rf"(?:rules?|guidelines?|instructions?|notes?|constitution|policy)"
    rf"(?: for {WHO}(?: that works (?:on|with|for) .*)?)?"
    rf"|what (?:{WHO}|it|you) (?:may|can|is allowed to|are allowed to|is permitted to) (?:and (?:may|can) not )?do"
    rf"|(?:(?:\w+ )?(?:assistant|agent|helper|bot),? )?(?:please )?read (?:this|these|the rules)(?: first)?"
    rf"|{WHO}|everywhere|general|everything|all tools|always",
    re.IGNORECASE,
)
"""Headings that say no more than that rules follow."""
_OF_HEADINGS: Final = lexicon(
    "what things rules rule list do does dos allowed fine ok okay permitted without asking data"
)
_LIMITING: Final = lexicon("after with if when once unless before until only during sometimes maybe provided as")
_NOT_OF_IT: Final = lexicon(
    "i we she he they was were people users everyone humans others colleagues customers members"
)
ASKING: Final = re.compile(r"\b(?:ask|approval|approved|check with me|okay first|my okay)\b", re.IGNORECASE)
LIMITED: Final = re.compile(
    r"(?i:\b(?:if|when|while|during|after (?:my (?:ok|okay|yes|approval)|i|asking|approval|hours|work)|until|unless"
    r"|once|emergenc\w+|holidays?|vacation|weekends?|weekdays?|at night|examples?|drafts?|old|former|previous|rejected"
    r"|propos\w+|ideas?|wish\w*|future|planned|deprecated|expired?|obsolete|todo|maybe|perhaps|later|not yet|yet"
    r"|sometimes|most of|only|in force|(?:other|another) (?:bot|agent|assistant)s?)\b)"
    r"|\b[A-Z]\w+['\u2019]s (?:bot|agent|assistant|helper)\b"
)
"""Words of a heading under which not everything holds, or not always."""


def cued(words: Sequence[Word]) -> set[int]:
    """The words that say yes, no or ask."""
    return {index for cue in cues_in(words) for index in range(cue.start, cue.end)}


def mood_of_heading(heading: str, words: Sequence[Word]) -> Mood | None:
    """`Never`, `What it may do`, `Ask first`; nothing of `What it may and may not do`."""
    cues = cues_in(words)
    if {"permit", "forbid"} <= {cue.name for cue in cues}:
        return None
    if cues and all(cue.name == "unasked" for cue in cues):
        denies = any(word.text in ("not", "no", "nothing", "never", "none") for word in words)
        return Mood.ASK if denies else Mood.PERMIT  # `Without asking`
    mood = mood_of(cues)
    accounted = all(
        word.text in HARMLESS or word.text in _OF_HEADINGS or index in cued(words) for index, word in enumerate(words)
    )
    plainly = {cue.name for cue in cues} <= {"permit", "unasked", "no_need"}
    limited = any(word.text in _LIMITING for word in words) and not any(cue.name != "permit" for cue in cues)
    if mood is Mood.PERMIT and (not plainly or limited or "?" in heading or any(w.text in _NOT_OF_IT for w in words)):
        return Mood.ASK  # `What I can do`
    if mood is Mood.PERMIT and not accounted:
        asks = words[0].text not in ("what", "how")  # `Allowed on weekends`, but not `What my helper is allowed to do`
        return Mood.ASK if asks else None
    if mood is not None:
        return mood
    text = "" if any(word.text in _NOT_OF_IT for word in words) else heading.lower()
    if re.search(r"\bask\b|\bapproval\b|\bcheck with me\b", text):
        return Mood.ASK
    if re.search(r"\bnever\b|\boff[- ]limits\b|\bforbidden\b|\bdon'?ts?\b|\bprohibited\b|\bno[- ]go\b", text):
        return Mood.FORBID
    if not accounted or not re.search(r"\ballowed\b|\bfine\b|\bokay\b|\bdo'?s\b|\bpermitted\b", text):
        return None
    return Mood.ASK if any(word.text in _LIMITING for word in words) else Mood.PERMIT  # `Allowed after asking`
