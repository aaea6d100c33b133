"""Sentences about how much: they become budgets, not rules."""

from __future__ import annotations

import re
from typing import Any, Final

_WORDS: Final = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
} | {"twenty": 20, "thirty": 30, "fifty": 50, "a hundred": 100, "one hundred": 100, "two hundred": 200}
_NUMBER: Final = rf"(?P<number>\d[\d,]*|{'|'.join(sorted(_WORDS, key=len, reverse=True))})"
_OVER: Final = r"\b(?:more than|over|at most|up to|no more than|maximum of|max|exceed|limited to|limit of|within)\s+"
_PERIOD: Final = (
    r".*?(?:per|a|an|each|every|in one|in a|in a single|in any|for any one|for one)"
    r" (?:single |given |one )?(?P<period>task|session|day|run|hour)"
)
_CALLS: Final = re.compile(
    rf"{_OVER}{_NUMBER}\s+(?:\w+ )?(?:calls?|requests?|actions?|operations?|steps?|uses?)\b{_PERIOD}", re.IGNORECASE
)
_MONEY: Final = re.compile(
    rf"{_OVER}[$\u20ac\u00a3]\s?(?P<amount>\d[\d,]*(?:\.\d+)?).*?(?:llm|inference|model|token|api|ai)\b{_PERIOD}",
    re.IGNORECASE,
)
_MAILS: Final = re.compile(
    rf"{_OVER}{_NUMBER}\s+(?:\w+ )?(?P<unit>e-?mails?|messages?|mails?|recipients?|people|posts?)\b{_PERIOD}",
    re.IGNORECASE,
)
_LOOP: Final = re.compile(
    r"\b(?:repeat\w*|loops|looping|(?:a|an|infinite|endless) loop"
    r"|same (?:action|call|thing|step)\w* (?:again|over|repeatedly)|going a?round in circles"
    r"|stuck|over and over)\b",
    re.IGNORECASE,
)
_REPEATS: Final = 10


def limit_of(text: str) -> dict[str, Any]:
    """The budget that a sentence sets, in the form of `budget.json`; nothing if it sets none."""
    if found := _CALLS.search(text):
        return {_scope(found["period"]): {"calls": _number(found["number"])}}
    if found := _MONEY.search(text):
        return {_scope(found["period"]): {"inferenceCost": float(found["amount"].replace(",", ""))}}
    if found := _MAILS.search(text):
        name = re.sub(r"[^a-z]", "", found["unit"].lower()).rstrip("s")
        return {_scope(found["period"]): {"named": {name: {"role": "recipient", "most": _number(found["number"])}}}}
    return {"repeats": _REPEATS} if _LOOP.search(text) else {}


def _scope(period: str) -> str:
    return "task" if period.lower() in ("task", "run") else "session"


def _number(text: str) -> int:
    known = _WORDS.get(text.lower())
    return int(text.replace(",", "")) if known is None else known
