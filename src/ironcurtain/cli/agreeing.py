"""Puts to the owner what no reader understood and where two readings differ, one sentence at a time."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rich.text import Text

from ironcurtain.artifacts.files import write_artifact
from ironcurtain.cli.show import console, heading
from ironcurtain.compiler.drafts import Sourced
from ironcurtain.compiler.problems import Problem
from ironcurtain.compiler.readers.offering import Forms
from ironcurtain.compiler.readers.prompt import tool_text
from ironcurtain.compiler.readers.reading import Reading, State, key_of
from ironcurtain.compiler.readers.store import Readings, read_readings
from ironcurtain.compiler.setup import NamedList
from ironcurtain.compiler.statements import compile_statements
from ironcurtain.errors import visible
from ironcurtain.language.parsing import StatementError, keywords, parse
from ironcurtain.language.writing import write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ironcurtain.compiler.agreement import Dispute
    from ironcurtain.compiler.catalogue import Tool
    from ironcurtain.compiler.readers.form import Form
    from ironcurtain.compiler.reading import Read
    from ironcurtain.compiler.setup import Known
    from ironcurtain.compiler.waivers import Proposal


_HOW: Final = """\
Take a statement by its number, or say what you mean in parts:
may A B with a, not b; never C with `amount` is more than 50"""
_SOURCES: Final = """\
     addresses or other values, separated by commas    ~/a/directory
     file ~/team.txt: a list kept in a file            tool SERVER/TOOL: a list that a tool gives
     Enter skips"""
_EXPLAINED: Final = """\
     may, never, ask or otherwise, then tools by their letters or names, then with and limits by their letters:
       may A B with a          permits A and B where a holds         may A with only a    and nothing else of it
       ask A with not a        asks where a does not hold            never mail/delete_*  tools by name
       may A with `amount` is at most 50                             may A with z         no other arguments
     A semicolon joins several; otherwise asks where nothing permits. You see the statement before it counts."""
_NOTES: Final = 3  # shown with a statement that an answer came to


@dataclass(frozen=True, slots=True)
class Terminal:
    """Asks on the terminal."""

    config: Path | None = None
    """Where what the set-up lacks is written to."""
    drafts: Path | None = None
    """Where answers are kept until the policy is in force, so that an interrupted run goes on where it stopped."""

    def missing(self, names: Sequence[str], known: Known) -> Known:
        """Ask once what each name stands for, and write the answer into the configuration."""
        for name in names:
            console().print(heading(f"\nwho or what is “{visible(name)}”?"))
            console().print(Text(_SOURCES, style="dim"))
            said = input("     > ").strip()
            kind, _, source = said.partition(" ")
            values = tuple(value.strip() for value in said.split(",") if value.strip())
            if said.lower() in ("", "s", "skip"):
                continue
            if kind in ("file", "tool") and source:
                self._keep(("lists", name), {"kind": "email", kind: source.strip()})
                console().print(f"     ironcurtain lists refresh {visible(name)} fills it; then compile again")
            elif said.startswith(("~", "/")):
                known = replace(known, directories={**known.directories, name: said})
                self._keep(("directories", name), said)
            elif all("@" in value for value in values):
                known = replace(known, lists={**known.lists, name: NamedList("email", values)})
                self._keep(("lists", name), {"kind": "email", "values": [*values]})
            else:
                shown = ", ".join(f"“{visible(value)}”" for value in values)
                if (
                    input(f"     {visible(name)} stands for just {shown} in calls: is that right? [y/N] ").strip()
                    != "y"
                ):
                    continue
                known = replace(known, names={**known.names, name: values})
                self._keep(("names", name), [*values])
        return known

    def _keep(self, place: tuple[str, str], value: object) -> None:
        """Write one entry into config.toml, and leave everything else there as it is."""
        if self.config is None:
            return
        import tomlkit  # noqa: PLC0415 - for this alone

        text = self.config.read_text(encoding="utf-8") if self.config.exists() else ""
        document = tomlkit.parse(text)
        document.setdefault(place[0], tomlkit.table())[place[1]] = value
        write_artifact(self.config, tomlkit.dumps(document).encode())
        console().print(f"     written to {self.config}")

    def unread(self, read: Read, tools: Sequence[Tool], known: Known) -> None:
        """Go through the sentences that no reader understood."""
        given = self._taken_up(read)
        count = len(read.unread)
        if not count:
            return
        forms = Forms.of(tools, known)
        console().print(heading(f"\n{count} sentence{'s' if count > 1 else ''} to go through", " (Ctrl-C stops)"))
        console().print(Text(_HOW, style="dim"))
        for place, number in enumerate(read.unread, 1):
            sentence = read.sentences[number - 1]
            form = forms.form(sentence)
            console().print(Text.assemble((f"\n{place}/{count}  ", "dim"), (visible(sentence.text), "bold")))
            why = read.readings[number - 1].why
            if why:
                console().print(Text(f"     {visible(why.splitlines()[0][:160])}", style="dim"))
            for letter, lines in enumerate(form.wholes, 1):
                for shown, line in enumerate(lines):
                    console().print(Text.assemble((f"  {letter if not shown else ' '}  ", "cyan"), visible(line)))
            for line in form.lines():
                console().print(Text(f"     {visible(line)}", style="dim"))
            read.readings[number - 1] = self._chosen(forms, form)
            given.kept[key_of(sentence)] = read.readings[number - 1]
            if self.drafts is not None:
                given.write(self.drafts)

    def _taken_up(self, read: Read) -> Readings:
        """Take up the answers of a run that was interrupted, and return them."""
        given = read_readings(self.drafts) if self.drafts is not None else Readings()
        taken = 0
        for number in read.unread:
            before = given.kept.get(key_of(read.sentences[number - 1]))
            if before is not None:
                read.readings[number - 1] = before
                taken += 1
        if taken:
            shown = f"{taken} answer{'s' if taken > 1 else ''} of a run that was interrupted"
            console().print(Text(f"{shown}: taken up; to give them anew, remove {self.drafts}", style="dim"))
        return given

    def _chosen(self, forms: Forms, form: Form) -> Reading:
        numbers = {0: "", 1: "1 takes it, "}.get(len(form.wholes), f"1-{len(form.wholes)} takes one, ")
        question = (
            f"     {numbers}or say it in parts, w writes a statement, s skips, n: not a rule, ? explains, ?A shows A > "
        )
        while True:
            answer = input(question).strip()
            if answer.isdigit() and 0 < int(answer) <= len(form.wholes):
                return Reading(State.READ, form.wholes[int(answer) - 1], "owner", agreed=True)
            lines: tuple[str, ...] = ()
            match answer.lower():
                case "s":
                    return Reading(State.SKIPPED, reader="owner", agreed=True)
                case "n":
                    return Reading(State.NOT_A_RULE, reader="owner", agreed=True)
                case "w":
                    lines = self._written(forms.tools, forms.known)
                case "" | "?":
                    console().print(Text(_EXPLAINED, style="dim"))
                case asked if asked.startswith("?"):
                    about = [tool for part in form.parts if form.letter(part) in answer.upper() for tool in part.tools]
                    for line in tool_text(about).splitlines():
                        console().print(Text(f"     {visible(line)}", style="dim"))
                case _:
                    lines = self._in_parts(forms, form, answer)
            if lines:
                return Reading(State.READ, lines, "owner", agreed=True)

    @staticmethod
    def _in_parts(forms: Forms, form: Form, answer: str) -> tuple[str, ...]:
        """Return the statements that an answer in parts comes to, once the owner has seen them and said yes."""
        try:
            lines = _stated(answer, forms) or forms.composer.said(form, answer)
        except Problem as problem:
            console().print(Text(visible(f"     {problem}"), style="yellow"))
            return ()
        meanings = compile_statements([Sourced(parse(line)) for line in lines], forms.tools, forms.known).meanings
        for meaning in meanings:
            console().print(Text.assemble(("  =  ", "cyan"), visible(meaning.text)))
            for note in meaning.notes[:_NOTES]:
                console().print(Text(f"     {visible(note)}", style="dim"))
        for meaning in (each for each in meanings if each.problem):  # of the statements together
            console().print(Text(visible(f"     {meaning.problem}; {meaning.help}"), style="yellow"))
            return ()
        return lines if input("     is that what you mean? [Y/n] ").strip().lower() in ("", "y", "yes") else ()

    def _written(self, tools: Sequence[Tool], known: Known) -> tuple[str, ...]:
        """Statements that the owner writes, one a line, each checked at once; an empty line ends."""
        lines: list[str] = []
        with _completing(tools, known):
            while text := input("     statement (Tab completes, an empty line ends) > ").strip():
                try:
                    line = parse(text)
                except StatementError as error:
                    console().print(Text(visible(error.shown()), style="yellow"))
                    continue
                (meaning,) = compile_statements([Sourced(line)], tools, known).meanings
                if meaning.problem:
                    console().print(Text(visible(f"     {meaning.problem}; {meaning.help}"), style="yellow"))
                    continue
                console().print(
                    Text(visible(f"     {len(meaning.tools)} tools: {', '.join(meaning.tools[:5])}"), style="dim")
                )
                lines.append(write(line))
        return tuple(lines)

    def waive(self, proposal: Proposal, /) -> bool:
        """Show a role that a model would take away with the model's reason, and ask; anything but yes is no."""
        what = f"{proposal.server}/{proposal.tool}, argument `{proposal.argument}`"
        console().print(heading(f"\n{visible(what)}", f" was taken for: {proposal.role}"))
        console().print(Text(visible(f"     {proposal.model} says that it is none: {proposal.reason[:300] or '-'}")))
        console().print(Text(f"     rules about {proposal.role} will then not look at this argument", style="dim"))
        return input(f"     take {proposal.role} away? [y/N] ").strip().lower() in ("y", "yes")

    def new_tools(self, picks: Mapping[str, Sequence[str]]) -> bool:
        """Show the tools that permissions would pick in addition, and ask for all of them at once."""
        console().print(heading("\nnew tools that your permissions would pick:"))
        for line, tools in picks.items():
            console().print(Text(visible(f"  {line}  {', '.join(tools[:8])}{' ...' if len(tools) > 8 else ''}")))
        return input("     include them? [y/N] ").strip().lower() in ("y", "yes")

    def disputed(self, read: Read, disputes: Sequence[Dispute]) -> None:
        """Go through the sentences that were read in two ways."""
        for place, dispute in enumerate(disputes, 1):
            number = dispute.number - 1
            change = dispute.changes[0]
            console().print(
                Text.assemble((f"\n{place}/{len(disputes)}  ", "dim"), (visible(read.sentences[number].text), "bold"))
            )
            example = f"{change.server}/{change.tool} {visible(str(change.example.fields()))[:200]}"
            console().print(Text(f"     for example {example}", style="dim"))
            for letter, lines, word in ((1, dispute.first, change.was.word), (2, dispute.second, change.now.word)):
                console().print(
                    Text.assemble(
                        (f"  {letter}  ", "cyan"), visible(" ".join(lines) or "nothing"), (f"  -> {word}", "bold")
                    )
                )
            answer = ""
            while answer not in ("1", "2"):
                answer = input("     which did you mean? 1 or 2 > ").strip()
            if answer == "2":
                read.readings[number] = read.second[number]
            read.readings[number] = replace(read.readings[number], agreed=True)
            read.second[number] = read.readings[number]


def words_for(tools: Sequence[Tool], known: Known) -> list[str]:
    """Return the words that a statement may have here, for completion."""
    things = {thing for tool in tools for thing in tool.things}
    names = {*known.directories, *known.lists, *known.names}
    arguments = {f"`{leaf}`" for tool in tools for leaf in tool.arguments}
    return sorted({*keywords(), *things, *names, *arguments, *(tool.key for tool in tools)})


@contextlib.contextmanager
def _completing(tools: Sequence[Tool], known: Known) -> Iterator[None]:
    """Complete with the Tab key while the owner writes a statement."""
    try:
        import readline  # noqa: PLC0415 - not on every platform
    except ImportError:
        yield
        return
    words = words_for(tools, known)
    before, delims = readline.get_completer(), readline.get_completer_delims()

    def complete(text: str, state: int) -> str | None:
        found = [word for word in words if word.lower().startswith(text.lower())]
        return found[state] + " " if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n,")
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before)
        readline.set_completer_delims(delims)


def _stated(answer: str, forms: Forms) -> tuple[str, ...]:
    """Return the statement that an answer is; nothing if it is none, and a `Problem` if it only begins like one."""
    try:
        line = parse(answer)
    except StatementError as error:
        if answer.startswith("must "):
            raise Problem(error.message, error.help) from None
        return ()
    (meaning,) = compile_statements([Sourced(line)], forms.tools, forms.known).meanings
    if meaning.problem and answer.startswith("must "):
        raise Problem(meaning.problem, meaning.help)
    return () if meaning.problem else (write(line),)
