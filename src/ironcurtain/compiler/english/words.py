"""A sentence as words: in lower case, contractions opened, and what the set-up knows as one word each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import singular
from ironcurtain.compiler.english.lexicon import ACTS, HARMLESS, THINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ironcurtain.compiler.setup import Known

_TOKEN: Final = re.compile(
    r"""
    (?P<quoted>"[^"\n]{1,200}"|\u201c[^\u201d\n]{1,200}\u201d|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{2,200}'(?!\w))
  | (?P<url>https?://[^\s<>"']+[^\s<>"'.,;:!?)])
  | (?P<address>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
  | (?P<path>(?<![\w/])(?:~|\.{0,2})/[\w.~/@+-]*[\w/~+-]|(?<![\w/])~(?![\w/]))
  | (?P<list>(?<!\w)@[a-z][\w-]*)
  | (?P<channel>\#[\w-]+)
  | (?P<money>[$\u20ac\u00a3]\s?\d[\d,]*(?:\.\d+)?
    | \d[\d,]*(?:\.\d+)?\s?(?:\$|\u20ac|\u00a3|(?:usd|eur|gbp|dollars?|euros?|pounds?|cents?)\b))
  | (?P<number>\d{1,3}(?:,\d{3})+(?!\w)|\d+(?:\.\d+)?(?![\w-]))
  | (?P<dotted>\*?\.?[A-Za-z0-9_-]+(?:[./][A-Za-z0-9_-]+)+)
  | (?P<word>[^\W_]+(?:[-_'\u2019][^\W_]+)*'?)
  | (?P<mark>[,;:()\u2013\u2014-])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CONTRACTIONS: Final = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "it's": "it is",
    "i'm": "i am", "that's": "that is", "there's": "there is", "i've": "i have", "i'd": "i would", "i'll": "i will",
    "it'll": "it will", "who's": "who is", "they're": "they are", "you're": "you are", "let's": "let us",
    "what's": "what is", "we're": "we are", "we've": "we have", "he's": "he is", "she's": "she is",
}  # fmt: skip
_SPELLINGS: Final = (
    ("off limit", "offlimits"), ("off limits", "offlimits"), ("out of bounds", "offlimits"), ("no go", "offlimits"),
    ("hands off", "offlimits"), ("e mail", "email"), ("e mails", "emails"), ("to do", "todo"), ("to dos", "todos"),
    ("read only", "readonly"), ("look only", "readonly"), ("view only", "readonly"), ("go ahead", "approval"),
    ("sign off", "approval"), ("say so", "approval"), ("green light", "approval"), ("thumbs up", "approval"),
    ("o k", "ok"), ("okay", "ok"), ("alright", "ok"), ("all right", "ok"), ("web site", "website"),
    ("web sites", "websites"), ("web page", "webpage"), ("web pages", "webpages"), ("data base", "database"),
    ("re schedule", "reschedule"), ("sub domains", "subdomains"), ("sub domain", "subdomain"),
)  # fmt: skip
_PRONOUNS: Final = frozenset(
    {"it", "them", "this", "that", "these", "those", "things", "stuff", "everything", "anything"}
)
_NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
} | {"dozen": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "thousand": 1000}
_FOLDERS: Final = frozenset({"folder", "folders", "directory", "directories"})
BEFORE_PLACES: Final = frozenset({"in", "from", "to", "into", "inside", "under", "within", "outside", "of"})
_BEFORE_VERBS: Final = frozenset({"to", "and", "or", "may", "can", "not", "never", "it"})
_USUAL: Final = ("Documents", "Downloads", "Desktop", "Pictures", "Music", "Videos", "Movies", "Photos", "Public")
_FILES: Final = re.compile(r"[\w-]+\.(?:md|py|sh|rs|pl|cc|ps|so|ts|js)", re.IGNORECASE)
_DOMAINS: Final = re.compile(
    r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|edu|gov|mil|int|io|dev|app|ai|co|info|biz|me|tv|news|blog|shop"
    r"|cloud|example|test|local|internal|[a-z]{2})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """Something that the sentence names: a directory, a list, a person, a channel."""

    kind: str
    """`directory`, `list`, `name`, `address`, `domain`, `literal`."""
    text: str
    values: tuple[str, ...] = ()
    thing: str = ""
    """What sort of thing it is, if its name says so: `the School calendar`."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word, or several that are one."""

    text: str
    """In lower case; phrases with underscores."""
    written: str
    reference: Reference | None = None
    number: float | None = None
    money: bool = False

    @property
    def singular(self) -> str:
        """As a noun."""
        return singular(self.text)

    @property
    def is_mark(self) -> bool:
        """Punctuation."""
        return self.text in (",", ";", ":", "(", ")", "-")


_NOT_OF_THESE: Final = (
    r"\b(?:that|which|who) ?(?:(?:isn|aren)['\u2019]t|(?:is|are|'s|'re) not) (?:one|any|part) of (?:the|these|those|my)"
    r"(?: \w+)? ?(?:above|listed|mentioned|named|here)?"
)
_REWORDED: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (_NOT_OF_THESE, "else"),
        (r" & ", " and "),
        (r"^should (?=\w+ (?:\w+ )?(?:be|have|need|want|go|get)\b)", "if "),
        (r"\b(folder|directory|calendar|channel|board|list|project|table|bucket|sheet) (?:called|named) ", r"\1 "),
        (r",?\s+(?:and |but )?nowhere else\b", " only"),
        (r"\bno(?:body|[- ]one) (?:but|except|other than|besides) (?:me|us|myself|ourselves)\b", "the assistant never"),
        (r"\bqueries (?:that|which) (?:only |just )*(?:read|select)\b", "select queries on"),
        (
            r"\bquery (.{1,60}?) (only )?(?:with|using) select\b(?: statements?| queries)?",
            r"run \2select queries on \1",
        ),
        (r"\b(queries|query|statements?|selects?|inserts?|run|execute) against\b", r"\1 on"),
        (r"\b(member|user|contact|channel|file)s? list (?:of|for|in|on) ", r"list of \1s in "),
        (r"\bask for (?=(?:more|over|at most|no more|up to)\b)", "fetch "),
        (r"\bwhatever (?:we|i|you|it|they) (?:needs?|wants?|likes?)\b", "anything"),
        (r"(?:(?<=: )|(?<=, )|^)on and off\b", "switch on and switch off"),
        (r"\bno(?:thing|[- ]one) (?:but|other than|except)\b", "only"),
        (
            r"\b(results?|outputs?|files?|documents?|new ones|they|it) goe?s? (?=in(?:to)?\b)",
            r"\1 is put ",
        ),
        (
            r"\b(can|may|must|should|shall|to|never|not|only|nothing) (?:go|end up|land) (?=in(?:to)?\b)",
            r"\1 be put ",
        ),
        (
            r"\bhow (?:tables|they|it|the tables) (?:are|is) (?:defined|structured|built|laid out)\b",
            "table definitions",
        ),
    )
)
"""Ways to say something that is easier to understand otherwise."""


def words_in(
    text: str, known: Known, literals: frozenset[str] = frozenset(), about: frozenset[str] = frozenset()
) -> list[Word]:
    """The words of a sentence.

    `literals` are words that the document uses as names of things, `about` the sorts of things that it stands under.
    """
    for pattern, instead in _REWORDED:
        text = pattern.sub(instead, text)
    return _phrasal(_spelled(_referring(list(_tokens(text)), known, literals, about)))


def _tokens(text: str) -> Iterator[Word]:
    text = text.replace("\u2019", "'").replace("\u2018", "'")
    for found in _TOKEN.finditer(text):
        kind, written = str(found.lastgroup), found.group()
        match kind:
            case "quoted":
                inner = written[1:-1].strip()
                yield Word(inner.lower(), inner, Reference("literal", inner, (inner,)))
            case "url":
                host = written.split("/")[2].split(":")[0].lower()
                yield Word(host, written, Reference("domain", written, (host,)))
            case "address":
                yield Word(written.lower(), written, Reference("address", written, (written.lower(),)))
            case "path":
                yield Word(written, written, Reference("directory", written, (written,)))
            case "list":
                yield Word(written.lower(), written, Reference("list", written[1:]))
            case "channel":
                yield Word(written.lower(), written, Reference("literal", written, (written,), "channel"))
            case "money":
                yield Word(written, written, number=float(re.sub(r"[^\d.]", "", written) or "0"), money=True)
            case "number":
                yield Word(written, written, number=float(written.replace(",", "")))
            case "dotted":
                named = _FILES.fullmatch(written) is not None  # `README.md`
                is_domain = _DOMAINS.fullmatch(written) is not None and not named
                value = written.lower() if is_domain else written
                kind = "domain" if is_domain else "literal"
                thing = "repository" if kind == "literal" and written.count("/") == 1 and "." not in written else ""
                yield Word(written.lower(), written, Reference(kind, written, (value,), thing))
            case "word":
                yield from _opened(written)
            case _:
                yield Word("-" if written in "\u2013\u2014-" else written, written)


def _opened(written: str) -> Iterator[Word]:
    lower = written.lower()
    if lower in _CONTRACTIONS:
        for part in _CONTRACTIONS[lower].split():
            yield Word(part, written)
        return
    if lower.endswith("n't"):
        yield Word(lower[:-3], written)
        yield Word("not", written)
        return
    if lower.endswith(("'s", "s'")):
        lower = lower[:-2] if lower.endswith("'s") else lower[:-1]
    lower = lower.strip("'")
    if re.search(r"[\d_]", lower) and re.search(r"[a-z]", lower) and not re.fullmatch(r"\d+(?:st|nd|rd|th)", lower):
        yield Word(lower, written, Reference("literal", written, (written,)))
    elif "-" in lower and all(part in _NUMBERS for part in lower.split("-")):
        yield Word(lower, written, number=float(sum(_NUMBERS[part] for part in lower.split("-"))))
    elif lower in _NUMBERS and lower != "one":
        yield Word(lower, written, number=float(_NUMBERS[lower]))
    else:
        yield Word(lower, written)


# --- What the set-up knows. ---


def _referring(words: list[Word], known: Known, literals: frozenset[str], about: frozenset[str]) -> list[Word]:
    """Words that name something become one word with what it is."""
    names = sorted(_names(known), key=lambda pair: -len(pair[0]))
    found: list[Word] = []
    index = 0
    while index < len(words):
        taken = _named(words, index, names, about)
        if taken is None:
            taken = _folder(words, index, known) or _literal(words, index, literals)
        if taken is None:
            found.append(_resolved(words[index], known))
            index += 1
        else:
            word, length = taken
            found.append(word)
            index += length
    return found


def _names(known: Known) -> Iterator[tuple[tuple[str, ...], Reference]]:
    for name, path in known.directories.items():
        yield _parts(name), Reference("directory", name, (path,))
    for name in known.lists:
        yield _parts(name.replace("-", " ").replace("_", " ")), Reference("list", name)
    for name, values in known.names.items():
        last = singular(_parts(name)[-1].lower()) if len(_parts(name)) > 1 else ""
        thing = next(iter(sorted(THINGS.get(last, ()))), last)
        yield _parts(name), Reference("name", name, values, "channel" if name.startswith("#") else thing)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"\s+", name.strip()) if part)


def _named(
    words: Sequence[Word], index: int, names: list[tuple[tuple[str, ...], Reference]], about: frozenset[str]
) -> tuple[Word, int] | None:
    for parts, reference in names:
        here = words[index : index + len(parts)]
        if len(here) == len(parts) and all(_same(w, p, reference) for w, p in zip(here, parts, strict=True)):
            people = any(other.kind == "list" and _same(here[0], p[0], other) for p, other in names)
            if len(parts) == 1 and not _meant(words, index, parts[0], reference, alone=not people):
                continue
            return Word(" ".join(parts).lower(), " ".join(w.written for w in here), reference), len(parts)
        if reference.thing and _elsewhere(words, index, parts, reference, about):
            return Word(" ".join(parts).lower(), here[0].written, reference), len(parts) - 1 or 1
    return None


def _same(word: Word, part: str, reference: Reference) -> bool:
    if word.written == part:
        return True
    ordinary = part.lower() in HARMLESS or part.lower() in BEFORE_PLACES or part.lower() in ACTS
    if reference.kind == "name" and ordinary and part[:1].isupper() and word.written[:1].islower():
        return False  # `is allowed to do`, though there is a list To do
    return word.text == part.lower() or (reference.kind == "list" and singular(word.text) == singular(part.lower()))


def _meant(words: Sequence[Word], index: int, part: str, reference: Reference, *, alone: bool) -> bool:
    """Whether a single word is the name, and not the ordinary word that it also is; `alone`: nor that of a list."""
    word = words[index]
    if reference.kind == "directory":
        following = words[index + 1].text if index + 1 < len(words) else ""
        before = words[index - 1].text if index else ""
        said_of = following in ("is", "are", "stays", "remains", "must", "should", "") and before not in _BEFORE_VERBS
        meant = before in ("the", "my", "our", "off", "no") or word.written.isupper()
        if word.written == f"{part}'s" or (alone and said_of and meant):
            return True  # `the archive is off limits`
        placed = index > 0 and words[index - 1].text in BEFORE_PLACES
        if index == 0 and word.singular in THINGS and following and following not in (*_FOLDERS, ":", "-", ",", "and"):
            return False  # `Tickets may be read`, though there is a folder of that name
        return (word.written == part and (part[:1].isupper() or placed or not part.isalpha())) or following in _FOLDERS
    if reference.kind == "name":
        return word.written == part or part.startswith("#")
    return True


def _elsewhere(
    words: Sequence[Word], index: int, parts: tuple[str, ...], reference: Reference, about: frozenset[str]
) -> bool:
    """`the School and Family calendars`, `the staff channel`: the sort of thing stands further on, or above it."""
    body = tuple(part.lstrip("#") for part in parts) if parts[0].startswith("#") else parts[:-1]
    here = words[index : index + len(body)]
    if not body or len(here) < len(body) or any(w.text != b.lower() for w, b in zip(here, body, strict=True)):
        return False
    other = not parts[0].startswith("#") and any(w.written[:1] != b[:1] for w, b in zip(here, body, strict=True))
    following = words[index + len(body)].singular if index + len(body) < len(words) else ""
    called = (
        index > 0 and words[index - 1].text in ("my", "the", "our") and reference.thing in THINGS.get(following, ())
    )
    if other and not called:  # `work`, but `my work calendar`
        return False
    rest = words[index + len(body) : index + len(body) + 6]
    return reference.thing in about or any(reference.thing in THINGS.get(singular(w.text), ()) for w in rest)


def _folder(words: Sequence[Word], index: int, known: Known) -> tuple[Word, int] | None:
    """`my Documents folder`, `the sandbox`, `my home directory`, `the folder Taxes`."""
    word = words[index]
    following = words[index + 1] if index + 1 < len(words) else None
    in_front = following is not None and following.text in _FOLDERS
    if word.text == "sandbox":
        return Word("sandbox", word.written, Reference("directory", "sandbox", (known.sandbox,))), 1 + in_front
    if word.text == "home" and in_front:
        return Word("home", word.written, Reference("directory", "home", (known.home,))), 2
    for usual in _USUAL:
        if word.text == usual.lower() and (in_front or (word.written == usual and index > 0)):
            reference = Reference("directory", usual, (f"{known.home}/{usual}",))
            return Word(word.text, word.written, reference), 1 + in_front
    if in_front and word.written[:1].isupper() and index > 0 and word.reference is None:
        return Word(word.text, word.written, Reference("directory", word.written)), 2
    return None


def _literal(words: Sequence[Word], index: int, literals: frozenset[str]) -> tuple[Word, int] | None:
    word = words[index]
    if word.reference is None and word.written in literals:
        return Word(word.text, word.written, Reference("literal", word.written, (word.written,))), 1
    return None


def _resolved(word: Word, known: Known) -> Word:
    reference = word.reference
    if reference and reference.kind == "literal" and "/" in reference.text:
        first, _, rest = reference.text.partition("/")  # `Projects/Old`
        usual = f"{known.home}/{first}" if first in _USUAL else None
        if (base := known.directories.get(first, usual)) is not None:
            return Word(word.text, word.written, Reference("directory", reference.text, (f"{base}/{rest}",)))
    if reference and reference.kind == "directory":
        return Word(word.text, word.written, Reference("directory", reference.text, (known.absolute(reference.text),)))
    return word


# --- Phrases. ---


def _spelled(words: list[Word]) -> list[Word]:
    found: list[Word] = []
    for word in words:
        if word.reference is None and "-" in word.text and len(word.text) > 1:
            joined = word.text.replace("-", " ")
            single = next((to for spelling, to in _SPELLINGS if spelling == joined), None)
            parts = [single] if single else joined.split()
            found += [Word(part, word.written) for part in parts]
        else:
            found.append(word)
    merged: list[Word] = []
    index = 0
    while index < len(found):
        for spelling, to in _SPELLINGS:
            parts = spelling.split()
            here = found[index : index + len(parts)]
            if spelling == "to do" and not (
                index and found[index - 1].text in ("my", "the", "a", "new", "and", "list")
            ):
                continue
            if spelling == "sign off" and not (index and found[index - 1].text in ("my", "explicit", "a")):
                continue
            if [w.text for w in here] == parts and not any(w.reference for w in here):
                merged.append(Word(to, " ".join(w.written for w in here)))
                index += len(parts)
                break
        else:
            merged.append(found[index])
            index += 1
    return merged


_PHRASES: Final = frozenset(
    form for form in (*ACTS, *THINGS) if "_" in form and not (form in ACTS and ACTS[form][1] == "s")
)
_PARTICLES: Final = frozenset({"away", "off", "on", "down", "up", "out", "over"})
_LONGEST_PHRASE: Final = max(form.count("_") + 1 for form in _PHRASES)


def _rejoined(words: list[Word]) -> list[Word]:
    """`throw any mail away` as `throw away any mail`."""
    found = list(words)
    for index, word in enumerate(words):
        for distance in range(2, 6):
            last = index + distance
            if last >= len(words) or word.reference or words[last].text not in _PARTICLES:
                continue
            between = words[index + 1 : last]
            if f"{word.text}_{words[last].text}" in _PHRASES and not any(w.is_mark or w.text in ACTS for w in between):
                joined = Word(f"{word.text}_{words[last].text}", f"{word.written} {words[last].written}")
                return [*found[:index], joined, *between, *_rejoined(found[last + 1 :])]
    return found


def _phrasal(words: list[Word]) -> list[Word]:
    """`get rid of`, `tick them off`, `pull request` as one word."""
    words = _rejoined(words)
    found: list[Word] = []
    index = 0
    while index < len(words):
        for length in range(_LONGEST_PHRASE + 1, 1, -1):
            here = words[index : index + length]
            if len(here) < length or any(w.reference for w in here):
                continue
            *first, last = (w.text for w in here)
            joined = next(
                (form for form in ("_".join((*first, last)), "_".join((*first, singular(last)))) if form in _PHRASES),
                None,
            )
            if joined:
                found.append(Word(joined, " ".join(w.written for w in here)))
                index += length
                break
            apart = "_".join((here[0].text, *(w.text for w in here[2:])))  # `tick them off`
            if length > 2 and here[1].text in _PRONOUNS and apart in _PHRASES:
                found += [Word(apart, " ".join(w.written for w in (here[0], *here[2:]))), here[1]]
                index += length
                break
        else:
            found.append(words[index])
            index += 1
    return found
