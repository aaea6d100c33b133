"""What a plan says of a program, beside what the program does when it is run: nothing is missing, nothing is invented."""

from __future__ import annotations

import json
import random
import sys
import types
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ironcurtain.sandbox.plan import plan_of

NAMES = ("p", "q", "s")
LISTS = ("l", "k")
MODULES = {"fs", "mail", "web"}
MOST_CALLS = 60
MOST_LINES = 1_000
MOST_HELD = 1_000  # characters and elements


class StoppedError(Exception):
    """It went on for long enough."""


class Writer:
    """Writes a program at random, of everything that makes a plan hard."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._made = 0
        self._plain = chance.random() < 0.6
        """Nothing in it that ends the following of what flows."""

    def program(self) -> str:
        begin = ["import fs, mail, web", "p = q = s = ''", "l = ['l']", "k = [['k']]", "m = {'a': 'm'}", "t = str"]
        return "\n".join([*begin, *self._functions(), *self._block(0, 0, loop=False)])

    def _functions(self) -> list[str]:
        body = self._block(1, 2, loop=False)
        named = f"global {self._chance.choice(NAMES)}" if self._chance.random() < 0.3 else "pass"
        with_parameter = ["def h(x, y=l):", *self._block(1, 2, loop=False), "    y.append(x)", "    return y"]
        return ["def f():", f"    {named}", *body, f"    return {self._value()}", *with_parameter]

    def _constant(self) -> str:
        self._made += 1
        return f"'c{self._made}'"

    def _value(self, depth: int = 0) -> str:
        name, constant = self._chance.choice(NAMES), self._constant()
        kinds = [
            constant, constant, name, name, f"f'{{{name}}}-{self._made}'", f"{name} + {constant}", f"str({name})",
            f"{self._chance.choice(LISTS)}[0]", f"({name} := {constant})", "mail.read()", "t()",
            f"({constant} if cond() else {name})", f"(cond() and {name} or {constant})", f"''.join(({name}, {constant}))",
            f"f'{{{self._chance.choice(LISTS)}}}'", f"{name}[:9]", "m['a']", f"m.get({constant}, {name})",
        ]  # fmt: skip
        if not self._plain:
            kinds += [f"(lambda: {name})()", "h(p)[0]", f"[{name}, {constant}][0]", f"dict(a={name})['a']"]
        if depth < 2:
            kinds += [f"fs.read(path={self._value(depth + 1)})", f"str({self._list(depth + 1)})"]
        return self._chance.choice(kinds)

    def _list(self, depth: int = 0) -> str:
        name = self._chance.choice(LISTS)
        kinds = [
            name,
            f"[{self._constant()}]",
            f"[[{self._constant()}]]",
            f"list({name})",
            f"[*{name}]",
            f"{name} + []",
        ]
        if depth < 2:
            value = self._value(depth + 1)
            kinds += [f"[{value}, {value}]", f"[e for e in {name}]", f"h({value})", f"h({value}, {name})"]
        return self._chance.choice(kinds)

    def _block(self, indent: int, depth: int, *, loop: bool) -> list[str]:
        number = self._chance.randint(1, 3 if depth else 8)
        return [line for _ in range(number) for line in self._statement(indent, depth, loop=loop)]

    def _statement(self, indent: int, depth: int, *, loop: bool) -> list[str]:
        name, other = self._chance.choice(NAMES), self._chance.choice(LISTS)
        inner, deeper = indent + 1, depth + 1
        plain = [
            [f"{name} = {self._value()}"], [f"{name} = {self._constant()}"], [f"{other} = {self._list()}"],
            [f"fs.write(path={self._value()})"], [f"fs.write(path={name})"], [f"web.post(body={other})"],
            [f"web.post(body={self._list()})"], [f"{other}.append({self._value()})"], [f"{name} += {self._constant()}"],
            [f"{name}, {self._chance.choice(NAMES)} = {self._value()}, {self._value()}"], ["f()"],
            [f"x = {other}", f"x.append({self._value()})"], [f"from math import pi as {name}", f"{name} = str({name})"],
            [f"for x in {other}:", "    if isinstance(x, list):", f"        x.append({self._value()})"],
            [f"m['a'] = {self._value()}"], ["m.update(a=p, b=q)"], ["def g(z, *w, **o):", "    return [z, w, o]", f"k = g({name}, {name}, o={name})"],
            [f"[{name}, *x] = {self._list()}"],
        ]  # fmt: skip
        if self._chance.random() < 0.02:
            plain += [["t = mail.read"]]
        if not self._plain:
            plain += [[f"class A:\n{'    ' * inner}{name} = {self._constant()}"]]
        if loop:
            plain += [["if cond():", "    break"], ["if cond():", "    continue"]]
        lines = self._chance.choice(plain)
        made = ["    " * indent + line for line in lines]
        if depth >= 3 or self._chance.random() < 0.6:
            return made
        compound = self._chance.choice(["if", "for", "unroll", "while", "try", "match", "with"])
        block = self._block(inner, deeper, loop=loop)
        more = self._block(inner, deeper, loop=loop)
        looped = self._block(inner, deeper, loop=True)
        at = "    " * indent
        match compound:
            case "if":
                return [f"{at}if cond():", *block, f"{at}else:", *more]
            case "for":
                return [f"{at}for {self._chance.choice(('i', name))} in {self._list()}:", *looped, f"{at}else:", *more]
            case "unroll":
                over = f"[{self._constant()}, {self._constant()}]"
                return [f"{at}for {name} in {over}:", *looped]
            case "while":
                return [f"{at}while cond():", *looped, f"{at}else:", *more]
            case "try":
                end = self._block(inner, deeper, loop=False)
                handler = [f"{at}except ValueError as e:", *more]
                return [f"{at}try:", *block, f"{at}    boom()", *block, *handler, f"{at}finally:", *end]
            case "match":
                return [f"{at}match {self._list()}:", f"{at}    case [{name}]:", *_deeper(block), f"{at}    case _:", *_deeper(more)]  # fmt: skip
            case _:
                return [f"{at}with around() as {name}:", *block]


def _deeper(lines: list[str]) -> list[str]:
    return ["    " + line for text in lines for line in text.split("\n")]


class Around:
    def __enter__(self) -> str:
        return "entered"

    def __exit__(self, *_: object) -> None:
        return None


def is_small(values: list[Any]) -> bool:
    """Whether it can be written down; what is in it twice counts twice."""
    pending, held = values, 0
    while pending and held <= MOST_HELD:
        each = pending.pop()
        inner = [*each.values()] if isinstance(each, dict) else each if isinstance(each, (list, tuple)) else []
        pending.extend(inner[:MOST_HELD])
        held += len(each) if isinstance(each, str) else 1
    return held <= MOST_HELD


def calls_of(program: str, chance: random.Random) -> tuple[list[tuple[str, Any]], bool]:
    """What a program calls when it is run, and whether it came to its end."""
    made: list[tuple[str, Any]] = []

    def tool(name: str) -> Any:
        def call(**given: Any) -> str:
            made.append((name, json.loads(json.dumps(given, default=str))))
            if len(made) >= MOST_CALLS:
                raise StoppedError
            return f"RESULT-{name}-{len(made)}"

        return call

    turns = [chance.random() < 0.5 for _ in range(40)]

    def boom() -> None:
        if turns and turns.pop():
            raise ValueError("boom")

    modules = {
        module: types.SimpleNamespace(**{name: tool(f"{module}.{name}") for name in ("read", "write", "post")})
        for module in MODULES
    }
    known = {"cond": lambda: bool(turns and turns.pop()), "boom": boom, "around": Around}
    text = program.replace("import fs, mail, web\n", "", 1)
    lines = 0

    def trace(frame: types.FrameType, *_: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != "program":
            return None
        lines += 1
        held = [*frame.f_locals.values(), *(frame.f_globals[name] for name in (*NAMES, *LISTS, "m"))]
        if lines > MOST_LINES or not is_small([each for each in held if each is not frame.f_builtins]):
            raise StoppedError
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        exec(compile(text, "program", "exec"), {**modules, **known, **dict.fromkeys((*NAMES, *LISTS, "m"))})
    except Exception:  # noqa: BLE001 - whatever ends it
        return made, False
    finally:
        sys.settrace(before)
    return made, True


@given(st.integers(min_value=0, max_value=2**40))
def test_a_plan_says_what_the_program_does(seed: int) -> None:
    program = Writer(random.Random(seed)).program()
    plan = plan_of(program, MODULES)
    sites = plan["calls"]
    for run in range(3):
        made, to_its_end = calls_of(program, random.Random(seed + run))
        times: Counter[str] = Counter()
        for name, given_ in made:
            if name in plan["open"] or name.partition(".")[0] in plan["open"]:
                continue
            fits = [site for site in sites if site["name"] == name and site.get("kwargs", given_) == given_]
            assert fits, (name, given_, program)
            if not any(site["often"] == "many" for site in fits):
                spelled = json.dumps([name, given_])
                times[spelled] += 1
                assert times[spelled] <= len(fits), (name, given_, program)
            if "RESULT-mail" in json.dumps(given_):
                assert any({"mail", "mail.read"} & {*site["flows"]} for site in fits), (name, given_, program)
        if to_its_end and len(made) < MOST_CALLS:
            for site in sites:
                if site["often"] == "once" and "kwargs" in site:
                    assert (site["name"], site["kwargs"]) in made, (site, program)
