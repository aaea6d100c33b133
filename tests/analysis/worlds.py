"""Random policies that differ a little, and calls that lie on both sides of their conditions.

Everything follows from one number. There are few values and many conditions on them, so that a call is decided by what
rules see of all its arguments together: exceptions, joined questions, groups of roles, counts, other spellings, values
that are left out or cannot be read.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support import tool

if TYPE_CHECKING:
    from random import Random

Rule = dict[str, Any]

PEOPLE = [
    "bob",
    "BOB",
    "#bob",
    "ann",
    "@ann",
    "cat",
    "ann@x.example",
    "#ann@x.example",
    "eve@y.example",
    '"',
    "",
    "\uff42ob",
]
PLACES = [
    "c1",
    "C1",
    "#c1",
    "c2",
    "general",
    "git@x.example:r",
    "https://x.example/r",
    "ann@s.x.example",
    "",
    "\uff231",
]
TEXTS = ["hello", "HELLO", "secret plan", "Secret", "hi", "", " hello", "\uff48ello", "hellohello", "x\ny", "{root}/p"]
IDS = ["id-1", "ID-1", "#id-1", "id-2", 4, "", "\uff49d-1", "other"]
NUMBERS = [0, 5, 50, 99, 100, 100.5, -1, "5", True]
PATHS = [
    "{box}/a", "{box}", "{root}/p/x", "{root}/p", "{root}/p/q/x", "{root}/P/x", "{root}/p/X", "{root}/out/s", "", "{box}/sub/x",
]  # fmt: skip
URLS = [
    "https://x.example/a", "https://x.example/A", "https://s.x.example/", "https://y.example/", "http://10.0.0.7/",
    "http://10.0.0.8/", "",
]  # fmt: skip
COMMANDS = [
    "ls",
    "LS",
    "git status",
    "ls; rm x",
    "rm x",
    "echo $(id)",
    "ls && git status",
    "sudo x",
    "",
    "\uff2c\uff33",
]
MODES = ["list", "delete", "LIST", "other", ""]

# Each argument: the roles it may have, the types its schema may name, and its values.
ARGUMENTS: dict[str, tuple[list[list[str]], list[Any], list[Any]]] = {
    "path": ([["read-path"], ["write-path"], ["delete-path"], ["read-path", "delete-path"]], ["string", None], PATHS),
    "paths": ([["read-path"], ["write-path"]], [None, "array"], PATHS),
    "url": ([["fetch-url"], ["send-url"]], ["string", None], URLS),
    "where": ([["fetch-url", "read-path"]], [None], [*URLS, *PATHS]),
    "to": ([["recipient"], ["attendee"]], ["string", None, "array"], PEOPLE),
    "cc": ([["recipient"], ["attendee"]], ["string", None, "array"], PEOPLE),
    "channel": ([["channel"], ["repository"], ["place"]], ["string", None], PLACES),
    "account": ([["account"], ["channel"]], ["string", None, "array"], PLACES),
    "command": ([["command"]], ["string", None], COMMANDS),
    "body": ([["outbound-content"], ["none"]], ["string", None, "array"], TEXTS),
    "note": ([["outbound-content"], ["identifier"], ["none"]], ["string", None, "null"], TEXTS),
    "id": ([["identifier"], ["none"]], [None, "array", "choice"], IDS),
    "amount": ([["amount"], ["none"]], ["number", None], NUMBERS),
    "force": ([["none"]], ["boolean"], [True, False]),
    "mode": ([["none"], ["identifier"], ["account"]], ["string", "choice"], MODES),
    "data": ([["identifier"], ["outbound-content"], ["none"]], ["object", None], IDS),
}
MEMBERS = ["data", "data.a", "data.a", "data.b", "data.c.d"]
"""What of an object without a schema rules may look at."""
PATH_ROLES = {"read-path", "write-path", "delete-path"}
READING = {"read-path", "write-path", "fetch-url"}
HOST_ROLES = {"fetch-url", "send-url", "recipient", "attendee", "channel", "repository", "place"}
GROUPS = [
    "recipient+attendee",
    "channel+account",
    "outbound-content+identifier",
    "read-path+write-path",
    "amount+identifier",
]
DIRECTORIES = ["{box}", "{root}/p", "{root}/p/q", "{root}", "/", "{root}/out"]
HOSTS = ["x.example", "*.x.example", "10.0.0.7", "y.example"]
PATTERNS = ["[a-z]+", "(?i).*secret.*", ".*o.*", "[^a-z]+", "id-[0-9]+", ".{0,4}"]
SOURCES = ["s/t0", "s/t1", "s/t2"]
EXCLUDED = {"fetch-url", "send-url"}
"""Roles whose values have patterns and lengths that the analysis says it cannot tell apart."""


@dataclass(frozen=True)
class World:
    """Two policies for the same tools, and calls."""

    tools: list[dict[str, Any]]
    old: list[Rule]
    new: list[Rule]
    calls: list[dict[str, Any]]


@dataclass(frozen=True)
class Maker:
    """Makes one world."""

    chance: Random

    def world(self, calls: int = 60) -> World:
        tools = [self.tool(f"t{index}") for index in range(self.chance.randint(1, 2))]
        rules = [self.rule(f"rule-{index}", tools) for index in range(self.chance.randint(1, 7))]
        if self.one_in(2):
            rules.append({"name": "rest", "if": {"server": ["s"]}, "then": "allow"})
        other = deepcopy(rules)
        for _ in range(self.chance.choice([1, 1, 2, 5])):
            other = self.changed(other, tools)
        return World(tools, rules, other, [self.call(self.chance.choice(tools)) for _ in range(calls)])

    def one_in(self, number: int) -> bool:
        return self.chance.randrange(number) == 0

    # --- Tools. ---

    def tool(self, name: str) -> dict[str, Any]:
        names = self.chance.sample(sorted(ARGUMENTS), self.chance.randint(1, 5))
        entries: dict[str, Any] = {}
        properties = {}
        for each in names:
            roles, types, values = ARGUMENTS[each]
            entries[each] = {"roles": self.chance.choice(roles), "absent": self.chance.choice(["nothing", "unknown"])}
            properties[each] = _schema(self.chance.choice(types), values)
        steered = [each for each in names if each in ("path", "channel", "id")]
        if "mode" in names and steered and self.one_in(2):
            first = steered[0]
            roles = ARGUMENTS[first][0]
            entries[first] = [
                {"roles": self.chance.choice(roles), "when": {"mode": "list"}},
                {"roles": self.chance.choice(roles), "when": {"mode": ["delete"]}},
            ]
        required = [each for each in names if self.one_in(4)]
        schema = {"type": "object", "properties": properties, "required": required}
        return tool(name, entries, server="s", definition={"name": name, "inputSchema": schema}, side_effects=True)

    # --- Rules. ---

    def rule(self, name: str, tools: list[dict[str, Any]]) -> Rule:
        then = self.chance.choice(["allow", "allow", "deny", "escalate", "escalate"])
        made: Rule = {"name": name, "if": self.conditions(tools), "then": then}
        if (able := [role for role in _roles(tools) if role in READING]) and self.one_in(5):
            # Reading is not sending, and what is in the sandbox is asked about nowhere: both depend on the whole call.
            made["if"] = {"roles": [self.chance.choice(able)]}
            made |= {"then": "escalate", "elsewhere": True} if self.one_in(2) else {"then": "allow"}
            then = made["then"]
        groups = [self.group(tools) for _ in range(self.chance.choice([0, 0, 1, 1, 2, 3]))]
        if any(groups):
            made["if"]["unless"] = [group for group in groups if group]
        if then == "escalate":
            made |= {flag: True for flag in ("joined", "elsewhere") if self.one_in(3)}
        elif then == "allow" and not made["if"].keys() - {"unless"}:
            made["if"]["server"] = ["s"]
        return made

    def conditions(self, tools: list[dict[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if not self.one_in(4):
            made["server"] = ["s"]
        if self.one_in(2):
            made["tool"] = self.chance.choice([["t0"], ["t1"], ["t0", "t1"], ["t*"]])
        roles = _roles(tools)
        if roles and self.one_in(5):
            made["roles"] = self.some(roles)
        if roles and self.one_in(12):
            made["origin"] = {
                "roles": self.some(roles),
                "from": self.chance.choice([["result"], ["s/t0"], ["s/t1"], ["person"]]),
            }
        for _ in range(self.chance.choice([0, 0, 1, 1, 2])):
            made |= self.test(tools)
        return made

    def group(self, tools: list[dict[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for _ in range(self.chance.choice([1, 1, 1, 2])):
            made |= self.test(tools)
        return made

    def test(self, tools: list[dict[str, Any]]) -> dict[str, Any]:
        """One condition on values."""
        roles = _roles(tools)
        kind = self.chance.choice(["paths", "domains", "lists", "role", "role", "group", "arg", "arg", "arg"])
        if kind == "paths" and (able := [role for role in roles if role in PATH_ROLES]):
            return {"paths": {"roles": self.some(able), "within": self.some(DIRECTORIES)}}
        if kind == "domains" and (able := [role for role in roles if role in HOST_ROLES]):
            return {"domains": {"roles": self.some(able), "allowed": self.some(HOSTS)}}
        if kind == "lists" and (able := [role for role in roles if role not in PATH_ROLES | EXCLUDED | {"amount"}]):
            role = self.chance.choice(able)
            return {"lists": [{"roles": [role], "allowed": self.values_of(tools, role)}]}
        if kind == "role" and roles:
            role = self.chance.choice(roles)
            return {"values": {f"role:{role}": self.predicate(tools, role)}}
        if kind == "group":
            able = [group for group in GROUPS if set(group.split("+")) & set(roles)]
            if able:
                group = self.chance.choice(able)
                return {"values": {f"role:{group}": self.predicate(tools, group)}}
        leaf = self.chance.choice(sorted({leaf for entry in tools for leaf in entry["args"]}))
        leaf = self.chance.choice(MEMBERS) if leaf == "data" else leaf
        return {"values": {f"arg:{leaf}": self.predicate(tools, leaf)}}

    def predicate(self, tools: list[dict[str, Any]], subject: str) -> dict[str, Any]:
        kinds = ["in", "in", "in", "minItems", "minItems", "maxItems"]
        if subject in ("amount", "amount+identifier"):
            kinds = ["minimum", "maximum", "in", "minItems"]
        elif subject not in ("path", "paths", "url", "where", "force") and not set(subject.split("+")) & (
            PATH_ROLES | EXCLUDED
        ):
            kinds += ["matches", "maxLength"]
        kind = self.chance.choice(kinds)
        if kind == "in":
            return {"in": self.values_of(tools, subject)}
        if kind == "matches":
            return {"matches": self.chance.choice(PATTERNS)} | ({"minItems": 2} if self.one_in(5) else {})
        numbers = {
            "minItems": [1, 1, 2, 3],
            "maxItems": [1, 2],
            "maxLength": [2, 5, 8],
            "minimum": [5, 50],
            "maximum": [5, 99],
        }
        return {kind: self.chance.choice(numbers[kind])}

    def values_of(self, tools: list[dict[str, Any]], subject: str) -> list[Any]:
        """Values that an argument, or arguments of a role, can have; only those that can be named."""
        found = [
            value
            for entry in tools
            for leaf, given in entry["args"].items()
            if leaf == subject.partition(".")[0]
            or set(subject.split("+")) & {role for mode in _modes(given) for role in mode["roles"]}
            for value in ARGUMENTS[leaf][2]
        ]
        roles = set(subject.split("+"))
        fine = [
            value for value in found if value not in ("", '"') and not str(value).startswith(("@", "\uff42", "\uff23"))
        ]
        if roles & (PATH_ROLES | EXCLUDED):
            fine = [value for value in fine if str(value).startswith("https:" if roles & EXCLUDED else "{")]
        return self.some(fine or ["bob"], 3)

    def some(self, choices: list[Any], most: int = 2) -> list[Any]:
        different = list({(type(each), each): each for each in choices}.values())
        return self.chance.sample(different, self.chance.randint(1, min(most, len(different))))

    # --- Changes. ---

    def changed(self, rules: list[Rule], tools: list[dict[str, Any]]) -> list[Rule]:
        """The rules with something small done to them."""
        if not rules:
            return [self.rule("another", tools)]
        number = self.chance.randrange(len(rules))
        rule = rules[number]
        kind = self.chance.choice(
            ["then", "joined", "gone", "swap", "exception", "exception", "condition", "new", "named"]
        )
        if kind == "then":
            rule["then"] = self.chance.choice(["allow", "deny", "escalate"])
        elif kind == "joined" and rule["then"] == "escalate":
            rule["joined"] = not rule.get("joined", False)
        elif kind == "gone":
            rules = [*rules[:number], *rules[number + 1 :]]
        elif kind == "swap" and number:
            rules = [*rules[: number - 1], rule, rules[number - 1], *rules[number + 1 :]]
        elif kind == "exception":
            kept = [each for each in rule["if"].get("unless", []) if self.one_in(2)]
            rule["if"]["unless"] = [*kept, self.group(tools)]
        elif kind == "condition":
            rule["if"] |= self.test(tools)
        elif kind == "new":
            rules = [*rules[:number], self.rule(f"new-{self.chance.randrange(10**9)}", tools), *rules[number:]]
        else:
            rule["if"].pop(self.chance.choice(["tool", "roles", "values", "lists", "unless"]), None)
        return [_sound(each) for each in rules]

    # --- Calls. ---

    def call(self, entry: dict[str, Any]) -> dict[str, Any]:
        schema = entry["definition"]["inputSchema"]
        arguments = {}
        for leaf in entry["args"]:
            if leaf in schema["required"] or not self.one_in(3):
                arguments[leaf] = self.value(leaf, schema["properties"][leaf])
        request = {"serverName": entry["serverName"], "toolName": entry["toolName"], "arguments": arguments}
        return request | (
            {"sources": self.some(SOURCES)} if self.one_in(4) else {"sources": []} if self.one_in(8) else {}
        )

    def value(self, leaf: str, schema: dict[str, Any]) -> Any:
        if leaf == "data":
            return self.members()
        values = schema.get("enum") or ARGUMENTS[leaf][2]
        several = [self.chance.choice(values) for _ in range(self.chance.randint(0, 3))]
        if schema.get("type") == "array" or (not schema and self.one_in(3)):
            return several
        if leaf in ("to", "cc") and self.one_in(3):
            return ", ".join(value for value in several if value != '"')
        return None if schema.get("type") == ["string", "null"] and self.one_in(4) else self.chance.choice(values)

    def members(self, depth: int = 0) -> dict[str, Any]:
        """An object with some members, of which some are lists or objects."""
        made: dict[str, Any] = {}
        for key in self.chance.sample(["a", "b", "c", "d", "e"], self.chance.randint(0, 3)):
            some = [self.chance.choice(IDS) for _ in range(self.chance.randint(0, 2))]
            inner = depth < 2 and (key == "c" or self.one_in(6))
            made[key] = self.members(depth + 1) if inner else some if self.one_in(4) else self.chance.choice(IDS)
        return made


def _schema(kind: str | None, values: list[Any]) -> dict[str, Any]:
    if kind is None:
        return {}
    if kind == "choice":
        return {"enum": values[:4]}
    if kind == "null":
        return {"type": ["string", "null"]}
    return {"type": kind}


def _modes(entry: Any) -> list[dict[str, Any]]:
    return entry if isinstance(entry, list) else [entry]


def _roles(tools: list[dict[str, Any]]) -> list[str]:
    found = {
        role for entry in tools for given in entry["args"].values() for mode in _modes(given) for role in mode["roles"]
    }
    return sorted(found - {"none"})


def _sound(rule: Rule) -> Rule:
    """The rule without what does not go with its outcome."""
    conditions = rule["if"]
    conditions = {key: value for key, value in conditions.items() if value not in ([], [{}])}
    if "unless" in conditions:
        conditions["unless"] = [group for group in conditions["unless"] if group]
    if rule["then"] == "allow" and not conditions.keys() - {"unless"}:
        conditions["server"] = ["s"]
    flags = {"joined", "elsewhere"} if rule["then"] != "escalate" else set()
    return {**{key: value for key, value in rule.items() if key not in flags}, "if": conditions}
