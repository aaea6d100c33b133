"""A value of an artifact together with the place it stands at, so that every complaint can name it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NoReturn

from ironcurtain.errors import ArtifactError, Refusal, quote
from ironcurtain.wire import strict_json
from ironcurtain.wire.limits import ARTIFACT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ironcurtain.model.call import Json
    from ironcurtain.model.resolved import Scalar

_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|\+00:00)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a file."""

    value: Json
    file: str
    place: str = ""

    def fail(self, problem: str, help_: str, code: str = "artifact_malformed") -> NoReturn:
        """Refuse the file because of this value."""
        raise ArtifactError(code, self.file, self.place, problem, help_)

    def members(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Item]:
        """The members of an object that must have the required keys and may have the optional ones, and no others."""
        value = self._object()
        known = {*required, *optional}
        for key in value:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1) or [k for k in known if k.lower() == key.lower()]
                hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(sorted(known))}"
                self.fail(f"unknown key {quote(key)}", hint)
        for key in required:
            if key not in value:
                self.fail(f"the key {key!r} is missing", f"add {key!r}; see docs/formats.md")
        return {key: self._at(key, member) for key, member in value.items()}

    def entries(self) -> dict[str, Item]:
        """The members of an object whose keys are names."""
        return {key: self._at(key, member) for key, member in self._object().items()}

    def elements(self, *, least: int = 0) -> list[Item]:
        """The elements of a list."""
        if not isinstance(self.value, list):
            self.fail(f"a list is expected, not {quote(self.value)}", "write [ ... ]")
        if len(self.value) < least:
            self.fail("the list is empty", "name at least one, or leave the key out")
        return [Item(element, self.file, f"{self.place}[{index}]") for index, element in enumerate(self.value)]

    def text(self, *, blank: bool = False) -> str:
        """A string, not blank unless it may be."""
        if not isinstance(self.value, str) or not (blank or self.value.strip()):
            self.fail(f"a non-empty string is expected, not {quote(self.value)}", 'write "..."')
        return self.value

    def number(self) -> float:
        """A number; `true` is none."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            hint = "write it without quotes" if isinstance(self.value, str) else "write a number, for example 1"
            self.fail(f"a number is expected, not {quote(self.value)}", hint)
        return self.value

    def count(self, *, least: int = 0) -> int:
        """A whole number of things."""
        number = self.number()
        if not isinstance(number, int) or number < least:
            self.fail(f"a whole number of at least {least} is expected, not {quote(self.value)}", "for example 1")
        return number

    def flag(self) -> bool:
        """`true` or `false`."""
        if not isinstance(self.value, bool):
            self.fail(f"true or false is expected, not {quote(self.value)}", "write true or false, without quotes")
        return self.value

    def word(self, words: Iterable[str]) -> str:
        """One of a few words, exactly."""
        known = list(words)
        if self.value not in known:
            near = difflib.get_close_matches(str(self.value).lower(), known, 1, 0.5)
            self.fail(
                f"{quote(self.value)} is not one of {', '.join(known)}", f"write {near[0] if near else known[0]!r}"
            )
        return str(self.value)

    def scalar(self) -> Scalar:
        """A string, number, `true`, `false` or `null`."""
        if isinstance(self.value, (list, dict)):
            self.fail("a single value is expected", 'write "...", a number, true, false or null')
        return self.value

    def time(self) -> float:
        """A UTC time, in seconds since the epoch."""
        text = self.text()
        try:
            moment = datetime.fromisoformat(text) if _TIME.fullmatch(text) else None
        except ValueError:  # a month 13, say
            moment = None
        if moment is None:
            self.fail(f"not a UTC time: {quote(text)}", "write 2026-11-15T08:00:00Z")
        return moment.replace(tzinfo=UTC).timestamp()

    def _object(self) -> dict[str, Json]:
        if not isinstance(self.value, dict):
            self.fail(f"an object is expected, not {quote(self.value)}", "write { ... }")
        return self.value

    def _at(self, key: str, member: Json) -> Item:
        return Item(member, self.file, f"{self.place}.{key}" if self.place else key)


def parse(data: bytes, file: str) -> Item:
    """Read an artifact's JSON with the strict reader."""
    try:
        return Item(strict_json.loads(data, ARTIFACT), file)
    except Refusal as refusal:
        raise ArtifactError("artifact_malformed", file, "", refusal.reason, "write plain, complete JSON") from None
