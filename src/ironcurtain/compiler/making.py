"""From a constitution to a product, with the owner's part in it: read, ask what is not understood, compare, compile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from ironcurtain.compiler.catalogue import catalogue_of
from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.readers.reading import State, key_of
from ironcurtain.compiler.readers.store import Readings
from ironcurtain.compiler.reading import united
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.language.parsing import parse
from ironcurtain.language.statement import Mood, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ironcurtain.artifacts.policy import Surroundings
    from ironcurtain.compiler.agreement import Dispute
    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.product import Product
    from ironcurtain.compiler.reading import Read
    from ironcurtain.compiler.setup import Known
    from ironcurtain.compiler.stages import Stages
    from ironcurtain.compiler.waivers import Proposal


class Consult(Protocol):
    """Puts questions to the owner."""

    def unread(self, read: Read, tools: Sequence[Tool], known: Known) -> None:
        """Let the owner choose, write, skip or dismiss what no reader understood; changes the readings."""
        ...

    def missing(self, names: Sequence[str], known: Known) -> Known:
        """Ask what names of the set-up stand for; return the set-up with what was answered."""
        ...

    def waive(self, proposal: Proposal, /) -> bool:
        """Say whether a role that a model would take away is taken away."""
        ...

    def new_tools(self, picks: Mapping[str, Sequence[str]]) -> bool:
        """Say whether permissions that were agreed to may also speak of tools that are new."""
        ...

    def disputed(self, read: Read, disputes: Sequence[Dispute]) -> None:
        """Let the owner choose between two readings; both are then what they took."""
        ...


@dataclass(frozen=True, slots=True)
class Making:
    """Makes a product of a constitution."""

    stages: Stages
    servers: Mapping[str, list[dict[str, Any]]]
    known: Known
    kept: Readings
    directory: Path
    surroundings: Surroundings
    version: int

    def product(self, text: str, consult: Consult | None) -> Product:
        """Read and compile; without `consult`, what is in dispute takes the stricter reading."""
        before = self.stages.remembered(text, self.servers, self.known, self.kept, self.version)
        if before is not None:
            return self._questioned(before)
        read = self.stages.read(text, self.servers, self.known, self.kept)
        if consult is not None and read.missing:
            known = consult.missing(read.missing, self.known)
            if known != self.known:
                return replace(self, known=known).product(text, consult)
        if consult is not None and read.unread:
            consult.unread(read, catalogue_of(self.servers), self.known)
        if consult is not None and (new := self._new_tools(read)) and consult.new_tools(new):
            for line, tools in new.items():
                self.kept.picks[line] = self.kept.picks[line] | frozenset(tools)
        product = self._compiled(text, read)
        if not read.disputed:
            if all(each.agreed or each.reader == "parser" for each in read.readings):
                self.stages.remember(product, self.servers, self.known, self.kept)
            return self._questioned(product)
        while True:  # an answer may bring out a difference that another sentence hid
            second = self._compiled(text, read.other())
            joined, disputes = self.stages.compared(read, product, second, self.directory, self.surroundings)
            if consult is None:
                return self._questioned(joined)
            asked = [each for each in disputes if each.changes]
            if not asked:
                break
            consult.disputed(read, asked)
            product = self._compiled(text, read)
        for each in disputes:
            read.readings[each.number - 1] = united(read.readings[each.number - 1], read.second[each.number - 1])
        return self._questioned(self._compiled(text, read))

    def _new_tools(self, read: Read) -> dict[str, list[str]]:
        """The tools that permissions pick by now, and did not when they were agreed to."""
        found: dict[str, list[str]] = {}
        for reading in read.readings:
            for line in reading.statements if reading.agreed else ():
                if line in self.kept.picks:
                    (meaning,) = compile_statements(
                        [Sourced(parse(line))], catalogue_of(self.servers), self.known
                    ).meanings
                    new = [tool for tool in meaning.tools if tool not in self.kept.picks[line]]
                    found |= {line: new} if new else {}
        return found

    def _compiled(self, text: str, read: Read) -> Product:
        return self.stages.compile(text, read, self.servers, self.known, self.kept, self.version)

    def _questioned(self, product: Product) -> Product:
        """The product with the tests of the model that was named, if it answers."""
        return self.stages.tested(product, self.directory, self.surroundings, self.known)


def kept(product: Product) -> Readings:
    """Return the readings of a product as the owner agreed to them, with the tools that its permissions pick."""
    found = Readings()
    for each in product.report:
        if each.reading.state is not State.UNREAD:
            found.kept[key_of(each.sentence)] = replace(each.reading, agreed=True)
        for told in each.told:
            line = parse(told.meaning.text)
            if isinstance(line, Statement) and line.mood is Mood.MAY and told.meaning.tools:
                found.picks[told.meaning.text] = frozenset(told.meaning.tools)
    return found
