"""A constitution as sentences, each with what it stands under: headings, the line that introduces a list."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKED: Final = re.compile(r"^\s*(?://|>|\[.?\]|\||~~|[^\w\s\"'`(#@$*/.~-])|\||~~|->|\u2192|=")
LONGEST: Final = 400_000  # characters of a constitution
_HEADING: Final = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_BOLD_LINE: Final = re.compile(r"^\s*(?:\*\*|__)([^*_]+?):?(?:\*\*|__):?\s*$")
_TITLE: Final = re.compile(r"^\s{0,3}(?:[A-Z][\w']*(?:\s+[\w'&/]+){0,3}|[a-z]\w*(?:\s+\w+)?):?\s*$")
"""A line of a few words and no end, over other lines."""
_DECORATED: Final = r"[^\w\s]{0,3}\s*"
_DECIDED_TITLE: Final = re.compile(
    rf"^\s{{0,3}}{_DECORATED}(?:[0-9]{{1,2}}[.)]|[A-Za-z][.)])?\s*{_DECORATED}"
    r"((?:not |never |always |only )?(?:allowed|forbidden|permitted|prohibited|off limits|ask(?: me)?(?: first)?|never"
    r"|blocked|restricted|exceptions?|needs? (?:my )?(?:approval|okay|ok|permission)))"
    rf"\s*{_DECORATED}$",
    re.IGNORECASE,
)
"""`B. Forbidden`, `*Not allowed*`: whatever it is written with."""
_TITLE_LEVEL: Final = 5
_FEW: Final = 4  # words that are a title rather than a sentence
_UNDERLINE: Final = re.compile(r"^\s{0,3}(?:=+|-{3,})\s*$")
_ITEM: Final = re.compile(r"^(\s*)(?:[-*+\u2022\u2013]|\(?\d{1,3}[.)]|[a-z][.)])\s+(.*)$")
_LABEL: Final = re.compile(r"^(?:\*\*|__)(.{1,60}?)(?:\*\*|__)\s*[:.\u2013\u2014-]?\s*")
_LABELLED: Final = re.compile(r"^\s{0,3}[#@]?[\w'/&+ -]{1,40}:\s+\S")
"""A line that begins with what it is about is no part of the one before it."""
_STATED: Final = re.compile(r"(?:may|must never|must ask) ")
"""A line that begins like a statement, after one that has ended."""
_END: Final = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|\s*;\s+")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|mr|mrs|ms|dr|st|vs|no|approx|incl|max|min)|\b[A-Z])\.$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the owner's, exactly as it stands."""

    text: str
    headings: tuple[str, ...]
    """What it stands under, the outermost first."""
    lead: str
    """The line that introduces the list it is an item of: `The assistant may:`."""
    block: int
    """Which paragraph or list item it is in."""
    after: str = ""
    """The paragraph before the list it is an item of, where none introduces it."""
    marked: bool = False
    """It is quoted, crossed out, ticked, in a table or over a list that it goes on in: it is not said plainly."""
    stretch: int = 0
    """Which paragraph or list it is in."""


def sentences_of(text: str) -> list[Sentence]:
    """All sentences, in order. What is neither a heading nor a lead is in one of them."""
    found: list[Sentence] = []
    headings: list[tuple[int, str]] = []
    paragraph = introduced = ""
    stretch, listed = 0, False
    leads: list[tuple[int, str]] = []
    """What introduces the lists that are open, each with how far it is indented."""
    for number, block in enumerate(_with_parents(list(_blocks(text)))):
        if block.apart and not block.item and not block.level:  # a title over lines ends with them
            headings = [(level, name) for level, name in headings if level != _TITLE_LEVEL]
        if block.level:
            headings = [(level, name) for level, name in headings if level < block.level]
            headings.append((block.level, block.text))
            leads, paragraph, introduced, listed = [], "", "", False
            continue
        stretch += not (block.item and listed)
        listed = block.item
        paragraph = paragraph if block.item else block.text
        names = tuple(name for _, name in headings)
        depth = block.indent if block.item else -1
        if not block.item and leads:
            introduced = " ".join(lead for _, lead in leads)  # it holds until something else is said to follow
        beside = block.item and not block.text.endswith(":")  # `1. Never:` over `- read`
        leads = [(at, lead) for at, lead in leads if at < depth or (beside and at == depth)]
        lead = " ".join(lead for _, lead in leads)
        label = _LABEL.match(block.text)
        under = (*names, label.group(1).strip(" .:")) if label else names
        pieces = _split(block.text)
        after = "" if lead else paragraph if block.item else introduced
        found += [
            Sentence(each, under, lead, number, after, block.marked or _MARKED.search(each) is not None, stretch)
            for each in pieces
            if not each.endswith(":")
        ]
        if block.leads and not block.text.endswith(":"):
            leads.append((depth, block.text))
        if pieces and pieces[-1].endswith(":"):
            introduced = ""
            leads.append((depth, pieces[-1].rstrip(" :")))
            if not _is_followed(text, pieces[-1]):
                found.append(Sentence(pieces[-1].rstrip(" :"), under, lead, number, stretch=stretch))
    return found


def _with_parents(blocks: list[_Block]) -> list[_Block]:
    following = [*blocks[1:], _Block("")][: len(blocks)]
    found = []
    for one, two in zip(blocks, following, strict=True):
        below = two.item and (two.indent > one.indent if one.item else not one.level)
        goes_on = below and not one.text.endswith((":", ".", "!", "?"))  # what stands below it may limit it
        leads = one.item and below and len(one.text.split()) <= _FEW
        found.append(replace(one, leads=leads, marked=one.marked or goes_on))
    return found


def _is_followed(text: str, lead: str) -> bool:
    """Whether a list comes after a line that introduces one."""
    rest = text.partition(lead[-40:])[2].lstrip()
    return bool(_ITEM.match(rest.split("\n", 1)[0])) if rest else False


@dataclass(frozen=True, slots=True)
class _Block:
    text: str
    level: int = 0
    item: bool = False
    apart: bool = False
    """There is an empty line before it."""
    indent: int = 0
    marked: bool = False
    leads: bool = False
    """It is a few words over items that stand further in: `- Never`."""


def _blocks(text: str) -> Iterator[_Block]:
    """Headings, list items and paragraphs, their lines joined."""
    lines: list[str] = []
    item = apart = marked = False
    indent = 0
    text = re.sub(r"<!--.*?-->|^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    every = [*text.replace("\r\n", "\n").split("\n"), ""]
    for number, raw in enumerate(every):
        line = "" if _is_comment(raw.strip()) else raw.expandtabs(4)
        following = every[number + 1] if number + 1 < len(every) else ""
        over_a_list = item and bool(_ITEM.match(following)) and not line.startswith(" ")
        decided = _DECIDED_TITLE.match(line)
        if (_TITLE.match(line) or decided) and following.strip() and (not lines or over_a_list or decided):
            if lines:
                yield _Block(" ".join(lines), 0, item, apart, indent, marked)
                lines, item, marked = [], False, False
            yield _Block(decided.group(1) if decided else line.strip().rstrip(":"), _TITLE_LEVEL)
            apart = False
            continue
        heading, bold, bullet = _HEADING.match(line), _BOLD_LINE.match(line), _ITEM.match(line)
        if _UNDERLINE.match(line) and lines and not item:
            yield _Block(" ".join(lines), 1)
            lines = []
            continue
        stated = not item and lines and lines[-1].endswith(".") and _STATED.match(line) is not None
        labelled = stated or (not item and _LABELLED.match(line) is not None)
        if (heading or bold or bullet or labelled or not line.strip()) and lines:
            yield _Block(" ".join(lines), 0, item, apart, indent, marked)
            lines, item, apart, marked = [], False, False, False
        if heading:
            yield _Block(heading.group(2), len(heading.group(1)))
        elif bold:
            yield _Block(bold.group(1), 6)
        elif bullet:
            lines, item, indent = [bullet.group(2).strip()], True, len(bullet.group(1))
        elif line.strip():
            marked = marked or line.lstrip().startswith((">", "|"))
            lines.append(line.strip().removeprefix("> "))
        else:
            item, apart = False, True


def _is_comment(line: str) -> bool:
    return line.startswith("```") or (line.startswith("<!--") and line.endswith("-->"))


def _split(text: str) -> list[str]:
    """The sentences of a paragraph."""
    text = _LABEL.sub("", text, count=1).replace("**", "").replace("__", "")
    found, start = [], 0
    for end in _END.finditer(text):
        piece = text[start : end.start()]
        if ";" not in end.group() and (_ABBREVIATION.search(piece) or piece.endswith("?")):
            continue  # a question is one with its answer
        found.append(piece.strip())
        start = end.end()
    found.append(text[start:].strip())
    return [piece for piece in found if piece.strip(" .;:-")]
