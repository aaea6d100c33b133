"""Random worlds for the comparison: policies, annotations, configurations and calls that touch each other often."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.support import Place, tool

if TYPE_CHECKING:
    from collections.abc import Sequence

# Values that lead to a rule come several times, so that most calls get there.
PATH_ROLES = ["read-path", "write-path", "delete-path"]
PATHS = [
    "{box}/a", "{box}/sub/deep/b", "{box}", "{box}2/x", "{box}/out-link", "{box}/out-link/x", "{box}/in-link",
    "{box}/dangling", "{box}/loop", "{box}/twin", "{box}/up/../x", "{box}/../out/s", "{root}/out/s", "{root}/Projects/x",
    "{root}/Projects", "{root}/Projects/link-to-box/y", "{home}", "{home}/notes", "~", "~/notes", "~/.ironcurtain/policy",
    "~/.ironcurtain", "~/.ironcurtain/sandbox/x", "rel/x", "../out/s", ".", "/", "/proc/self/environ", "~root", "$HOME/x",
    "{box}/*", "{box}/.git/config", "{box}/CLAUDE.md", "{box}/.mcp.json", "{box}/.gitmodules", "", "  ", "-rf", "{box}/é",
    "{box}/a", "{box}/a", "{box}/sub/b", "{root}/Projects/x", "{root}/Projects/x", "{root}/Projects/y/z", "{root}/out/s",
    "{root}/out/t", "{home}/notes", "~/Documents/x", "{box}/new", "{root}/Projects/new", "{root}/out/s", "{box}/sub/deep/b",
    "{box}/a", "{root}/Projects/q", "{root}/Projects", "{box}", "{root}/out/u", "{box}/in-link", "{box}/out-link/s",
    "{box}/e\u0301", "C:\\x", "{box}//a/./b/..", "{root}/Projects2/x", "{home}/.IRONCURTAIN/x", "{box}/a\u202eb",
]  # fmt: skip
URLS = [
    "https://example.com/a", "https://sub.example.com/", "http://EXAMPLE.com:80/x/../y", "https://evil.example/",
    "https://example.com.evil.example/", "https://badexample.com/", "http://127.0.0.1/", "http://10.0.0.7:8080/x",
    "http://localhost/", "http://intranet/", "http://x.internal/", "http://169.254.169.254/", "https://a@example.com/", "ftp://example.com/", "example.com",
    "example.com:8443", "javascript:1", "https://[::1]/", "http://0x7f.1/", "", "-x", "//example.com/", "https://",
    "https://example.com/b", "https://a.b.example.com/c", "https://x.example/", "https://y.x.example/", "example.com",
    "https://example.com/", "https://sub.example.com/x", "http://10.0.0.7:8080/x", "https://other.example/", "https://q.example/",
    "https://example.com./", "https://metadata.google.internal/",
]  # fmt: skip
PARTIES = [
    "bob", "eve", "Bob <bob@x.example>", "BOB@x.example", "ann@example.com", "bob, eve", "bob;ann@example.com", "a@b@c",
    '"x', "", ["bob", "ann@example.com"], ["bob", ""], ["bob,eve", "cat"], ["a", "b", "c", "d", "e", "f"], [], None, 7, "-5",
    "--all", ",", ["bob", ";"], "a%b@x.example", "{home}/.ironcurtain/x", "eve@evil.example", "bob\n", "bob", "cat", ["bob", "cat"], "ann@example.com", "bob@x.example", ["eve"], "cat, bob",
]  # fmt: skip
PLACES = [
    "https://example.com/x",
    "https://evil.example/y",
    "\u200bC1",
    " {home}/.ironcurtain/x",
    "C1",
    "C2",
    " C1 ",
    "",
    "-100",
    "--x",
    ["C1", "C2"],
    None,
    3,
]
COMMANDS = [
    ["git", "status"],
    ["ls", "-l"],
    ["ls", ";", "rm"],
    ["", "ls"],
    ["ls", ""],
    " ls",
    "(sudo x)",
    "! sudo x",
    "sudo\tx",
    "rm$IFS-rf",
    "cat ~/.ironcurtain/x",
    "\\ls",
    "git status",
    "ls",
    "ls; rm -rf x",
    "ls && ls",
    "echo $(id)",
    "sudo ls",
    "ls | sudo x",
    "ls > /etc/x",
    "",
    ["ls"],
]
CONTENT = [
    "hello",
    "/* x */",
    "{home}/.ironcurtain/state.db",
    "~/.ironcurtain/x y",
    "./x",
    "secret plan",
    "",
    None,
    {"k": "v"},
    ["a", "b"],
]
AMOUNTS = [0, 5, 99, 100, 100.5, -1, "5", True, None]
IDS = ["id-1", "id-2", "--output=x", "-3", 4, "", None, {"a": "id-1"}]
PAGES = [
    *URLS, "4ea3d5fb", "52772", "team/project", "localhost", "localhost/x", "LOCALHOST", "0x7f000001", "2130706433", "0",
    "16777215", "16777216", "4294967295", "4294967296", "17179869184000", "017", "a//b", "a/", "/a", "a.b", "-x", "Rigg, Hilda", " a", 7, 2130706433, 7.5, True,
    "team/project", "id-1", "id-1", "é", "a b", ["id-1", "https://example.com/a"], None, "\uff11",
]  # fmt: skip
NAMES = [
    *PATHS, "rel/x", "rel", "notes/a b.md", "CLAUDE.md", "x/.git/hooks", "mcp.json", "x/.mcp.json", "a//b", "a/", "../x",
    "x/../y", "a%2fb", "run.py", "x/RUN.SH", "node_modules/x", "Makefile", "nas:", "nas:x/y", "C:x", "\u00e9", "e\u0301", "a/CON",
    "x.json", "package.json", "a b ", "rel/x", "rel/y", ["rel/x", "{box}/a"], "AGENTS.md", "proc/self/environ", "x~", "\u3164x",
    ".hidden", "a*", 7, True, {"k": "rel/x"}, "gone", "claude_desktop_config.json", "https://example.com/x", "file:x", "\u200bx",
]  # fmt: skip
MODES = ["list", "delete", "LIST", 1, None]

# What is easily misread: drawn less often than the rest, so that most calls still get to a rule.
BLANKS = [" ", "\t", "\u3000", "\u00a0", "\u2003", "\u200b", "\n", "\u3164"]
TRICKY_PATHS = [
    "{box}/links/.mcp.json", "{box}/links/second", "{box}/links/CLAUDE.md", "{box}/links/.git/hooks/x", "{box}/links/.git",
    "{box}/links/.git/../x", "{box}/links/.claude/settings.json", "{box}/links/.claude/x", "{box}/links/into-git/x",
    "{box}/links/.github", "{box}/links/.github/x", "{box}/links/.gitmodules", "{box}/links/plain/x", "links/.git/x",
    "{box}/links/plain/../../../home/owner/.ironcurtain/x", "{box}/links/plain/.GIT/x", "{box}/links/dangling/.mcp.json",
    "{box}/nfd/x", "{box}/nfd", "{box}/nfd-away/x", "{box}/e\u0301d/x", "{box}/o\u0301d/x", "{box}/\u00f3d/x",
    "{box}/[]n]", "{box}/.mc[]n].json", "{box}/.mc[[:alpha:]].json", "{box}/[xyz]mcp.json", "{box}/.mcp[]json", "/proc/[x]/mem",
    "{box}/CLAUD[x].md", "{box}/.gi[[:alpha:]]/x", "{box}/[[:alpha:]]", "~/.[x]roncurtain/x", "{box}/.[x]itmodules",
    "{box}/.github", "{box}/.vscode", "{box}/.vscode/x", "{box}/.vscode/tasks.json", "{box}/.githu[x]", "{root}/hom[x]",
]  # fmt: skip
TRICKY_PARTIES = [
    "bob\u200b", "b\u2060ob, eve", "Ann <b;c>", "Bob <bob@X.example>; cat", "Bob </box/.mcp.json>", "\u3000bob ", "bob <eve>",
    ["bob", "bob\u3164"], {"bob": "cat ;eve"}, {"bob": ["Ann <b;c>"]}, "Bob </x>;y/../../.mcp.json",
]  # fmt: skip
TRICKY_PLACES = [
    "git@evil.example:x", "evil.example/x", "git@169.254.169.254:x", "ext::sh -c id", "//evil.example/x", "eve@evil.example",
    "git@EVIL.example:x/y", "a@b@sub.evil.example:x", "git@10.0.0.7:x", "10.0.0.7/x", "10.0.0.7", "metadata.google.internal/x",
    "git@8.8.8.8:x", "http:evil.example", "HTTPS:/evil.example", " //evil.example", "a-b::x", "::x", "@evil.example", "example.com/x",
    "ann@example.com", "git@localhost:x", "git@127.1:x", "https://Example.com:443/x", "\u3000C1", "C1\u00a0", "C1\n", "C1\u3164",
    ["C1", "git@evil.example:x"], {"C1": " C2 "}, {"C1": ["C2"]}, {" C1": 1}, "x@10.0.0.7", "[::1]/x", "git@[::1]:x",
]  # fmt: skip
TRICKY_COMMANDS = [
    "ls $@", "ls $5", "ls $ 5", "ls 5$", "ls $'x'", "X=1 rm x", "then rm x", "if x; then rm x", "X=1 Y=2 rm  x", "X='a b' rm x",
    "( time rm x )", "do exec command rm x", "until builtin rm x", "if ! rm x", "then(rm x)", "echo then rm x", "thenrm x", "X=1",
    "sudo rm x", "X=1 sudo x", "else git status", "rm x", "cat ~owner/.ironcurtain/x", "cat {box}/links/.mcp.json",
]  # fmt: skip
STATEMENTS = [
    "select 1", "select a from b where c > 1", "select a from b where c < 1;", "select 1; drop b", "select 1 -- x", "select 1 /* x */",
    "select 'a' || 'b'", "select a & 1", "select $1", "select $x$a$x$", "select 5$", "select `a`\nfrom b", "select U&'x\\0061'", "rm x", "ls",
    "select # x", "drop b", "select 1;;", "; select 1", "select a from /a/.mcp.json", "", ["select 1", "drop b"], {"select 1": "drop b"},
]  # fmt: skip
TRICKY_CONTENT = [
    "\u3000{home}/.ironcurtain/x", "\u00a0\u200b/a/.mcp.json", "/a/.mcp.json\u3000", "/a/.mcp.json \nmore", "\u2028~/.ironcurtain/x\t",
    "~owner/.ironcurtain/x", "~owner/notes", "~root/.ironcurtain/x", "jar:file:///a/.mcp.json", "JAR:FILE:///a/x",
    "file:\\\\host\\a\\.mcp.json", "file:///a%5C.mcp.json", "file:///a/.mcp.json%20", "/a\\.mcp.json", "/a/.mc[x].json", "/a/.mc[]n].json",
    "{box}/links/second", "{box}/links/.git/x", "{box}/links/CLAUDE.md", "{box}/loop/.mcp.json", "/proc/[[:alpha:]]elf/mem", " plain ",
    "{box}/e\u0301d/x", "{box}/nfd-home/x", "{box}/h\u0301/x", "{root}/Projects", " ~/.ironcurtain/x", {"~owner/.ironcurtain/x": 1},
]  # fmt: skip
TRICKY_MODES = [" list", "list ", "\u3000delete", "list\u200b", "delete\n", " other "]
# What a deny or escalate compares folded and an allow exactly: case, width, blanks, `#` and `@` before it.
VARIANT_PARTIES = [
    "+49 151 123-4567",
    "+491511234567",
    "+49-151",
    " +49.151/1234567 ",
    "BOB",
    "@bob",
    "#Bob",
    "@",
    "CAT, @BOB",
    ["@Bob", "Cat"],
    "\uff42ob",
    "ANN@example.com",
    "USER7",
    "stra\u00dfe",
]
VARIANT_PLACES = [
    "#C1", "@c1", "c1", "\uff23\uff11", "# C1", "#@c1", "\uff03c2", "#", "@", "##", "C1#", "\uff20C2", "general", "#General",
    "\ufb01le", "File", "STRASSE", "Stra\u00dfe", ["c1", "#C2"], {"#C1": "@general"}, "\uff27eneral ", "#\u3000c2",
]  # fmt: skip
VARIANT_COMMANDS = [
    "LS", "Git  Status", "\uff4cs", "ls; SUDO x", "@ls", "#ls", "SUDO x", "\uff53udo x", "rM x", "x; \uff32m x", "GIT STATUS", "ls ",
]  # fmt: skip
VARIANT_CONTENT = [
    "\uff53ecret plan",
    "SECRET",
    "#hello",
    "Hello ",
    "ID-1",
    "\uff49d-1",
    "#id-1",
    "\u2460",
    "id-\uff17",
    "@ID-2",
]
VARIANTS: dict[str, list[Any]] = {
    "to": VARIANT_PARTIES,
    "cc": VARIANT_PARTIES,
    "channel": VARIANT_PLACES,
    "account": VARIANT_PLACES,
    "command": VARIANT_COMMANDS,
    "sql": ["SELECT 1", "\uff53elect 1", "DROP b", "#select 1", "\uff24rop b;", " Select 1"],
    "body": VARIANT_CONTENT,
    "id": VARIANT_CONTENT,
    "mode": ["List", "#list", "\uff4cist"],
    "files[].note": VARIANT_CONTENT,
    "talk": VARIANT_PLACES + VARIANT_PARTIES,
    "run": VARIANT_COMMANDS + VARIANT_PLACES,
    "say": VARIANT_PLACES + VARIANT_CONTENT,
}
TRICKY: dict[str, list[Any]] = {
    "path": TRICKY_PATHS,
    "paths": [[one, "{box}/a"] for one in TRICKY_PATHS],
    "dest": TRICKY_PATHS,
    "where": TRICKY_PATHS,
    "to": TRICKY_PARTIES,
    "cc": TRICKY_PARTIES,
    "channel": TRICKY_PLACES,
    "account": TRICKY_PLACES,
    "command": TRICKY_COMMANDS,
    "body": TRICKY_CONTENT,
    "id": TRICKY_CONTENT,
    "mode": TRICKY_MODES,
    "files[].path": TRICKY_PATHS,
    "files[].note": TRICKY_CONTENT,
    "m[][].path": TRICKY_PATHS,
    "talk": TRICKY_PLACES + TRICKY_PARTIES,
    "run": TRICKY_COMMANDS + TRICKY_PLACES,
    "say": TRICKY_PLACES + TRICKY_CONTENT,
}

LEAVES: dict[str, tuple[list[list[str]], list[Any]]] = {
    "path": (
        [[r] for r in PATH_ROLES]
        + [["identifier", "write-path"]]
        + [["read-path", "write-path"], ["read-path", "delete-path"]],
        PATHS,
    ),
    "paths": (
        [["read-path"], ["write-path"]],
        [[a, b] for a, b in zip(PATHS, PATHS[3:], strict=False)] + [[], PATHS[0]],
    ),
    "dest": ([["write-path"]], PATHS),
    "url": ([["fetch-url"], ["send-url"]], URLS),
    "where": ([["fetch-url", "read-path"]], URLS + PATHS),
    "name": (
        [
            ["identifier", "read-path"],
            ["identifier", "read-path", "write-path"],
            ["delete-path", "identifier"],
            ["identifier", "outbound-content", "read-path"],
            ["fetch-url", "identifier", "read-path"],
            ["identifier", "place", "read-path"],
            ["command", "read-path"],
            ["outbound-content", "read-path"],
        ],
        NAMES,
    ),
    "page": ([["fetch-url", "identifier"], ["identifier", "send-url"], ["fetch-url", "host", "identifier"]], PAGES),
    "to": ([["recipient"], ["attendee"], ["recipient", "attendee"]], PARTIES),
    "cc": ([["recipient"]], PARTIES),
    "channel": ([["channel"], ["repository"], ["place"], ["host"], ["place", "host"]], PLACES),
    "account": ([["account"], ["unheard-of"]], PLACES),
    "command": ([["command"]], COMMANDS),
    "sql": ([["command"], ["command", "channel"]], STATEMENTS),
    "body": ([["outbound-content"], ["none"]], CONTENT),
    "amount": ([["amount"]], AMOUNTS),
    "id": ([["identifier"], ["none"]], IDS),
    "files[].path": ([["read-path"]], []),
    "files[].note": ([["outbound-content"], ["none"]], []),
    "options.target": ([["write-path"], ["recipient"]], []),
    "m[][].path": ([["read-path"], ["write-path"], ["read-path", "delete-path"], ["read-path", "identifier"]], PATHS),
    "talk": ([["channel", "recipient"], ["recipient", "channel"], ["recipient", "identifier"]], PARTIES + PLACES),
    "run": ([["channel", "command"], ["command", "account"]], COMMANDS + PLACES),
    "say": ([["account", "outbound-content"], ["identifier", "account"], ["channel", "outbound-content"]], PLACES),
}
ROLES = sorted({role for roles, _ in LEAVES.values() for entry in roles for role in entry} - {"none"})


class Dice(Random):
    """Random choices from one seed.

    Hypothesis draws the seed and nothing else: of what it draws itself it repeats large parts from one example to the
    next, and a world is too large to be shrunk anyway.
    """

    def yes(self) -> bool:
        return self.random() < 0.5

    def one_in(self, many: int) -> bool:
        return self.randrange(many) == 0

    def some(self, choices: Sequence[Any], least: int = 1, most: int = 2) -> list[Any]:
        """Different ones, `least` to `most` of them; what stands there several times comes more often."""
        wanted = self.randint(least, most)
        found: dict[str, Any] = {}
        for _ in range(4 * wanted):
            one = self.choice(choices)
            found.setdefault(repr(one), one)
            if len(found) >= wanted:
                break
        return [*found.values()][:wanted]


_SEEDS = st.integers(0, 2**64 - 1)


def _entries(dice: Dice, leaf: str) -> Any:
    roles = LEAVES[leaf][0]

    def one() -> dict[str, Any]:
        absent = {"absent": dice.choice(["nothing", "unknown"])} if dice.yes() else {}
        return {"roles": dice.choice(roles), **absent}

    if leaf == "sql":
        return {**one(), "language": "sql"}
    if leaf == "command" and dice.one_in(3):
        return {**one(), "roles": ["command"], "language": "argv"}
    if leaf not in ("path", "id", "channel") or not dice.yes():
        return one()
    first, second = one(), one()
    when = dice.choice([{"mode": "list"}, {"mode": ["list", "show"]}, {"mode": {"equals": "list"}}])
    return [{**first, "when": when}, {**second, "when": {"mode": {"in": ["delete", 1]}}}]


def _tools(dice: Dice) -> list[dict[str, Any]]:
    made = []
    for index in range(dice.randint(1, 3)):
        leaves = dice.some(sorted(LEAVES), 0, 5)
        args = {leaf: _entries(dice, leaf) for leaf in leaves}
        if any(isinstance(entry, list) for entry in args.values()):
            args["mode"] = dice.choice([{"roles": ["none"]}, {"roles": ["account"]}, {"roles": ["identifier"]}])
        top = sorted({_top(leaf) for leaf in args})
        required = dice.some(top, 0, 2) if top else []
        server = dice.choice(["fs", "net"])
        definition = {"name": f"tool_{index}", "inputSchema": _schemas(dice, tuple(args), required)}
        made.append(tool(f"tool_{index}", args, server=server, definition=definition))
    return made


def _top(leaf: str) -> str:
    """The argument that a leaf is in."""
    return leaf.split(".", maxsplit=1)[0].rstrip("[]")


def _schema(leaves: tuple[str, ...]) -> dict[str, Any]:
    """A schema with these leaves, lists of lists included."""
    root: dict[str, Any] = {"type": "object", "properties": {}}
    for leaf in leaves:
        node = root
        *parents, last = leaf.split(".")
        for parent in parents:
            node = node["properties"].setdefault(parent.rstrip("[]"), {})
            for _ in range(parent.count("[]")):
                node["type"] = "array"
                node = node.setdefault("items", {})
            node.update(type="object", properties=node.get("properties", {}))
        node["properties"].setdefault(last, {})
    return root


# No directories in these: a definition is pinned as it is written here.
DEFAULTS: dict[str, list[Any]] = {
    "path": ["~/notes", "rel/x", None],
    "dest": ["~/.ironcurtain/x", "rel/x"],
    "to": ["bob", "eve", None, ["bob", "cat"]],
    "cc": ["bob", "Eve <eve@evil.example>"],
    "channel": ["C1", " C2 ", "git@evil.example:x"],
    "account": ["C1", ""],
    "body": ["hello", "~/.ironcurtain/x"],
    "id": ["id-1", None],
    "mode": ["list", "delete", " list "],
    "options": [{"target": "bob"}, {}],
    "files": [[], [{"path": "~/notes"}]],
    "m": [[], [[]], [[{"path": "rel/x"}]]],
}


def _schemas(dice: Dice, leaves: tuple[str, ...], required: list[str]) -> dict[str, Any]:
    """Now and then with a default: of the argument itself, beside a reference, in a branch or in a condition."""
    made = _schema(leaves)
    if required:
        made["required"] = required
    able = sorted(name for name in made["properties"] if name in DEFAULTS)
    if not able or not dice.one_in(3):
        return made
    name = dice.choice(able)
    default = {"default": dice.choice(DEFAULTS[name])}
    way = dice.choice(["own", "own", "reference", "both", "branch", "then", "else", "dependent", "around"])
    own = made["properties"][name]
    if way == "own":
        own.update(default)
    elif way in ("reference", "both"):
        there = own if way == "reference" else {**own, "default": dice.choice(DEFAULTS[name])}
        made["$defs"] = {"there": there}
        made["properties"][name] = {"$ref": "#/$defs/there", **default}
    elif way == "branch":
        made["properties"][name] = {"allOf": [{**own, **default}]}
    elif way == "dependent":
        made["dependentSchemas"] = {name: {"properties": {name: default}}}
    elif way == "around":
        made["default"] = {}
    else:
        made["if"] = {"required": [name]}
        made[way] = {"properties": {name: default}}
    return made


PREDICATES: dict[str, list[dict[str, Any]]] = {
    "recipient": [
        {"minItems": 3},
        {"maxItems": 2},
        {"equals": "bob"},
        {"equals": "@Bob"},
        {"in": ["bob", "BOB@X.example"]},
        {"matches": "b.*"},
        {"matches": "b.*", "minItems": 2},
        {"matches": ".*", "maxItems": 2},
        {"equals": "Bob", "in": ["Bob", "@CAT"]},
        {"maximum": 5},
        {"given": True},
        {"given": True, "equals": "bob"},
    ],
    "amount": [
        {"maximum": 100},
        {"minimum": 50},
        {"equals": 5},
        {"equals": True},
        {"equals": "5"},
        {"matches": "-?[0-9]0?"},
        {"matches": "5|.*0", "minimum": 1},
        {"minimum": 1, "maximum": 99},
        {"maximum": 50, "minItems": 2},
        {"given": True, "minimum": 50},
    ],
    "outbound-content": [
        {"maxLength": 6},
        {"matches": "(?i).*secret.*"},
        {"matches": ".*secret.*"},
        {"matches": [".*secret.*", "(?i)s.*"]},
        {"minItems": 2},
        {"equals": "HELLO"},
        {"in": ["hello", "secret plan", "v"]},
    ],
    "identifier": [
        {"in": ["id-1", 4]},
        {"matches": "id-[0-9]+"},
        {"matches": "(id-)?[14]"},
        {"equals": "ID-1"},
        {"in": ["#id-2", "1"]},
    ],
    "command": [
        {"in": ["git status", "ls"]},
        {"matches": "sudo .*"},
        {"equals": "ls"},
        {"equals": "Git Status"},
        {"in": ["RM x", "@LS", "SELECT 1"]},
        {"matches": "rm .*"},
        {"matches": "select [^;]*;?"},
        {"matches": ".*drop.*"},
        {"given": True},
    ],
    "channel": [
        {"equals": "C1"},
        {"maxItems": 1},
        {"equals": "#c1"},
        {"in": ["#General", "@C2", "#"]},
        {"matches": "C[0-9]"},
    ],
    "place": [{"equals": "c1"}, {"minItems": 2}, {"in": ["file", "strasse", "@"]}],
    "host": [{"in": ["C1", "#C2"]}, {"matches": ".*evil.*"}],
    "account": [{"in": ["C1", "C2"]}, {"matches": "C.*|3"}, {"equals": "@C1"}, {"in": ["general", 3]}],
    "read-path": [{"matches": ".*/Projects/.*"}, {"minItems": 2}, {"maxItems": 1}, {"given": True}],
}
GROUPS: dict[str, list[dict[str, Any]]] = {
    "recipient+attendee": [*PREDICATES["recipient"], {"minItems": 4}, {"maxItems": 3}],
    "attendee+recipient+channel": [
        {"in": ["bob", "C1", "#c2"]},
        {"minItems": 3},
        {"maxItems": 3},
        {"matches": "[a-z]+"},
    ],
    "channel+place+host": [{"equals": "C1"}, {"maxItems": 1}, {"minItems": 2}, {"in": ["#general", "C2"]}],
    "read-path+write-path": [{"minItems": 2}, {"maxItems": 2}, {"matches": ".*/Projects/.*"}],
    "outbound-content+identifier": [{"maxLength": 6}, {"minItems": 2}, {"in": ["hello", "id-1"]}],
    "amount+identifier": [{"maximum": 50}, {"minItems": 2}],
    "account+account": [{"equals": "C1"}, {"maxItems": 1}],
}
DIRECTORIES = ["{box}", "{root}/Projects", "{home}", "{box}/sub", "/", "~/", "{root}", "~/Documents", "{root}/out"]
ON_VALUES = ["paths", "domains", "lists", "values", "group", "arg", "values", "lists"]
ON_ANYTHING = [
    "server", "tool", "paths", "domains", "lists", "values", "tool", "sideEffects", "roles", "paths", "domains", "lists",
    "values", "group", "arg", "origin", "assess",
]  # fmt: skip


ON_RULES = [*ON_VALUES, *ON_VALUES, "tool", "sideEffects", "roles", "roles", "origin", "assess"]
ARGUMENT_PREDICATES: list[dict[str, Any]] = [
    {"in": ["rel/x", "rel"]},
    {"matches": "rel/.*|nas:.*"},
    {"equals": "list"},
    {"equals": "#C1"},
    {"in": ["bob", "hello", "ls", "id-1", 5]},
    {"maxLength": 8},
    {"maximum": 50},
    {"minItems": 2},
    {"maxItems": 1},
    {"matches": ".*a.*"},
    {"matches": "[a-z ]+", "maxLength": 8},
    {"matches": ["[a-z ]+", ".*b.*"]},
    {"given": True},
    {"given": True, "matches": "[a-z]+"},
    {"given": True, "minItems": 2},
]
ELEMENT_PREDICATES: list[dict[str, Any]] = [
    {"minItems": 2},
    {"maxItems": 1},
    {"minItems": 1, "maxItems": 3},
    {"maxItems": 0},
]
MEMBERS = [("body", "k"), ("body", "a.b"), ("id", "a"), ("id", "k"), ("note", "a")]
"""Members of arguments that may be an object."""
ORIGINS = ["person", "result", "fs", "net/*", "n*", "fs/tool_0", "role:read-path", "role:recipient", "absent", "kind:x"]
HOSTS = ["example.com", "*.example.com", "10.0.0.7", "localhost", "@hosts", "x.example", "evil.example"]
HOST_ROLES = ["fetch-url", "send-url", "recipient", "channel", "repository", "place", "host"]
LISTED = ["@contacts", "bob", "C1", "eve@evil.example", 7, "@many", "@channels", "#c1", "CAT", "stra\u00dfe"]
LISTED_ROLES = ["recipient", "attendee", "channel", "account", "identifier", "place", "command"]


@dataclass(frozen=True)
class Subjects:
    """What conditions may speak of: arguments by leaf, and roles."""

    leaves: tuple[str, ...]
    roles: tuple[str, ...] = tuple(ROLES)

    def among(self, roles: list[str]) -> list[str]:
        return [role for role in roles if role in self.roles]

    def predicates(self, table: dict[str, list[dict[str, Any]]]) -> list[str]:
        """The entries of a table that speak of one of the roles."""
        return [name for name in sorted(table) if set(name.split("+")) & set(self.roles)]


def _conditions(dice: Dice, subjects: Subjects, kinds: list[str], least: int = 0, most: int = 3) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for kind in dice.some(kinds, least, most):
        if kind == "server":
            made[kind] = dice.some(["fs", "net", "f*", "other"])
        elif kind == "tool":
            made[kind] = dice.some(["tool_0", "tool_1", "tool_*", "*_2", "nothing"])
        elif kind == "sideEffects":
            made[kind] = dice.yes()
        elif kind == "assess":
            made[kind] = {"question": "is it so?"}
        elif kind == "roles":
            made[kind] = dice.some(subjects.among(ROLES))
        elif kind == "origin":
            made[kind] = {"roles": dice.some(subjects.among(ROLES)), "from": dice.some(ORIGINS, 1, 3)}
        elif kind == "paths" and (roles := subjects.among(PATH_ROLES)):
            within = dice.some(DIRECTORIES, 1, 3) if dice.one_in(3) else dice.choice(DIRECTORIES)
            made[kind] = {"roles": dice.some(roles), "within": within}
        elif kind == "domains" and (roles := subjects.among(HOST_ROLES)):
            made[kind] = {"roles": dice.some(roles), "allowed": dice.some(HOSTS, 1, 3)}
        elif kind == "lists" and (roles := subjects.among(LISTED_ROLES)):
            made[kind] = [{"roles": dice.some(roles), "allowed": dice.some(LISTED)}]
        elif kind in ("values", "group", "arg"):
            made["values"] = {**made.get("values", {}), **_predicates(dice, subjects, kind)}
    return {key: body for key, body in made.items() if body != {}}


def _predicates(dice: Dice, subjects: Subjects, kind: str) -> dict[str, Any]:
    """A predicate on one role, on a group of roles or on an argument; none if there is no such role or argument."""
    if kind == "arg":
        leaves = [*subjects.leaves, *(f"{leaf}.{member}" for leaf, member in MEMBERS if leaf in subjects.leaves)]
        lists = [f"{leaf}[]" for leaf in subjects.leaves]
        lists += [f"{leaf.partition('[]')[0]}[]" for leaf in subjects.leaves if "[]" in leaf]
        names = [*leaves, *dict.fromkeys(lists)]
        table = dict.fromkeys(leaves, ARGUMENT_PREDICATES) | dict.fromkeys(lists, ELEMENT_PREDICATES)
    else:
        table = PREDICATES if kind == "values" else GROUPS
        names = subjects.predicates(table)
    if not names:
        return {}
    name = dice.choice(names)
    return {("arg:" if kind == "arg" else "role:") + name: dice.choice(table[name])}


@dataclass(frozen=True)
class Style:
    """What chains look like: how many rules, how many conditions each, of which kinds, with which decisions."""

    rules: tuple[int, int]
    conditions: tuple[int, int]
    kinds: list[str]
    decisions: list[str]


ANY_STYLE = Style((0, 7), (0, 3), ON_ANYTHING, ["allow", "allow", "deny", "escalate"])
TASK_STYLE = Style((0, 3), (0, 3), ON_ANYTHING, ["allow", "allow", "deny", "escalate"])
SHORT_STYLE = Style((1, 3), (0, 2), ON_RULES, ["allow", "allow", "deny", "deny", "escalate", "escalate", "escalate"])


def _rules(dice: Dice, subjects: Subjects, style: Style) -> list[dict[str, Any]]:
    made = []
    for index in range(dice.randint(*style.rules)):
        then = dice.choice(style.decisions)
        conditions = _conditions(dice, subjects, style.kinds, *style.conditions)
        if then == "allow":
            conditions.pop("assess", None)
            conditions = conditions or {"tool": ["tool_0"]}
        exceptions = dice.choice([0, 0, 0, 1, 1, 2])
        groups = [_conditions(dice, subjects, ON_VALUES, 1, 2) for _ in range(exceptions)]
        if groups := [group for group in groups if group]:
            conditions["unless"] = groups
        rule: dict[str, Any] = {"name": f"rule-{index}", "if": conditions, "then": then}
        if then == "escalate":
            rule |= {flag: True for flag in ("elsewhere", "joined") if dice.one_in(3)}
        made.append(rule)
    return made


def _value(dice: Dice, leaf: str, usual: list[Any]) -> Any:
    """A usual value, now and then a tricky one or one spelled differently, now and then with blanks around it."""
    chance = dice.randint(0, 15)
    table = TRICKY if chance < 3 else VARIANTS if chance < 6 else {}
    found = dice.choice(table.get(leaf, usual))
    if isinstance(found, str) and found and chance == 15:
        return dice.choice([*BLANKS, ""]) + found + dice.choice([*BLANKS, ""])
    return found


def _arguments(dice: Dice, entry: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    required = entry["definition"]["inputSchema"].get("required", ())
    for leaf in entry["args"]:
        name = _top(leaf)
        if name not in required and dice.one_in(4):
            continue
        if leaf == "mode":
            made[leaf] = _value(dice, leaf, MODES)
        elif leaf.startswith("files[]"):
            member = leaf.split(".")[1]
            files = made.setdefault("files", [{} for _ in range(dice.randint(0, 2))])
            for item in files:
                if not dice.one_in(4):
                    item[member] = _value(dice, leaf, PATHS if member == "path" else CONTENT)
        elif leaf == "m[][].path":
            shape = dice.choice([(1,), (1,), (2, 1), (1, 0), (0,), ()])
            made["m"] = [
                [{"path": _value(dice, leaf, PATHS)} if not dice.one_in(6) else {} for _ in range(length)]
                for length in shape
            ]
        elif leaf == "options.target":
            made["options"] = dice.choice(
                [
                    {},
                    {"target": "{box}/t"},
                    {"target": "bob"},
                    {"target": "{root}/out/t"},
                    {"target": "{box}/links/.git/x"},
                ]
            )
        else:
            made[leaf] = _value(dice, leaf, LEAVES[leaf][1])
    if dice.one_in(30):
        made["surprise"] = "x"
    return made


PATTERNS = [
    "tool_0",
    "tool_*",
    "*",
    "group:fs",
    "group:web",
    "group:runtime",
    "fs/*",
    "net/tool_1",
    "other",
    "group:own",
]


def _layer(dice: Dice) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if dice.one_in(3):
        made["allow"] = dice.some(PATTERNS, 1, 3)
    if dice.one_in(3):
        made["deny"] = dice.some(PATTERNS[:2] + PATTERNS[3:], 0, 2)
    if dice.one_in(4):
        made["alsoAllow"] = dice.some(PATTERNS, 0, 2)
    if dice.one_in(5):
        made["profile"] = dice.choice(["minimal", "coding", "analysis", "full"])
    return made


def _config(dice: Dice) -> dict[str, Any]:
    own_group = {"own": ["tool_2", "group:web"]}
    if not dice.one_in(3):
        return {"tools": {"groups": own_group}}
    tools = {**_layer(dice), "groups": own_group}
    if dice.yes():
        tools["byProvider"] = {"openai": _layer(dice), "OpenAI/gpt": _layer(dice)}
    if dice.yes():
        tools["subagents"] = {"tools": _layer(dice)}
    made: dict[str, Any] = {"tools": tools}
    if dice.yes():
        made["agents"] = {"coder": {"tools": _layer(dice)}}
    if dice.yes():
        made["groups"] = {"team": {"tools": _layer(dice), "toolsByMember": {"ann": _layer(dice)}}}
    return made


PRINCIPALS = [
    {}, {"agent": "coder"}, {"provider": "openai"}, {"provider": "openai/gpt"}, {"group": "team"},
    {"group": "team", "member": "ann"}, {"subagent": True}, {"agent": "coder", "provider": "OPENAI/other", "subagent": True},
]  # fmt: skip


World = tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any], list[dict[str, Any]]]


def _world(dice: Dice, calls: int) -> World:
    """Tools, rules, a configuration, and calls; directories still as placeholders."""
    tools = _tools(dice)
    subjects = Subjects(tuple(sorted({leaf for entry in tools for leaf in entry["args"]})))
    chain = _rules(dice, subjects, ANY_STYLE)
    if dice.yes():  # what nothing refuses is then allowed: a clause that one side has lost shows
        chain.append({"name": "rest", "if": {"server": ["fs", "net"]}, "then": "allow"})
    config = _config(dice)
    made = []
    for _ in range(calls):
        entry = dice.choice(tools)
        request: dict[str, Any] = {
            "serverName": entry["serverName"],
            "toolName": entry["toolName"],
            "arguments": _arguments(dice, entry),
        }
        principal = dice.choice(PRINCIPALS)
        if principal:
            request["principal"] = principal
        if dice.yes():
            request["sources"] = dice.some(["fs/tool_0", "fs/tool_1", "net/tool_2", "net/tool_0", "other/x"], 0, 3)
        if dice.one_in(8):
            ends = dice.choice(["2027-01-16T00:00:00Z", "2020-01-01T00:00:00Z", "2027-01-16T00:00:00Z"])
            request["task"] = {
                "version": 1,
                "task": "t",
                "expiresAt": ends,
                "rules": _rules(dice, subjects, TASK_STYLE),
            }
        made.append(request)
    return tools, chain, config, made


# Values that no earlier step refuses, so that the rules decide: plain ones, spelling variants, unknown and opaque ones.
PLAIN_PATHS = [
    "{box}/a",
    "{box}/sub/b",
    "{box}/twin",
    "{root}/Projects/x",
    "{root}/out/s",
    "~/Documents/x",
    "~/notes",
    "",
]
PLAIN_PLACES = [
    "C1", "c1", "#C1", "@C2", "\uff23\uff11", "general", "#General", "# c2", "#", "@", "File", "\ufb01le", "Stra\u00dfe", 3, "",
    ["C1", "c2"], ["C1", ""], "git@evil.example:x", "https://example.com/x", "ann@example.com",
]  # fmt: skip
PLAIN: dict[str, list[Any]] = {
    "path": [*PLAIN_PATHS, None],
    "paths": [["{box}/a", "{root}/out/s"], ["{root}/Projects/x", "{root}/Projects/y"], ["{box}/a", ""], "{box}/a", []],
    "dest": PLAIN_PATHS,
    "url": ["https://example.com/a", "https://sub.example.com/", "https://evil.example/", "https://y.x.example/", ""],
    "to": [
        "bob", "BOB", "@bob", "cat", "CAT", "eve", "ann@example.com", "eve@evil.example", "bob, cat", ["bob", "eve"], "a, b, c, d",
        ["bob", ""], "", '"x', ["bob", '"x'], ",", 7, "stra\u00dfe", "STRASSE", "\uff42ob", None,
    ],
    "cc": ["bob", "Bob", ["cat", "bob"], "eve@evil.example", "", '"x', 5, None],
    "channel": PLAIN_PLACES,
    "account": PLAIN_PLACES,
    "command": ["ls", "LS", "git status", "git  STATUS", "sudo x", "SUDO x", "\uff53udo x", "ls; rm x", "x; RM x", "@ls", "echo $(x)", "", " ls"],
    "body": ["hello", "Hello ", "#hello", "secret plan", "\uff53ecret plan", "SECRET", "a\nsecret", ["hello", "secret plan"], "", 7, {"k": "v"}],
    "amount": [0, 5, 99, 100, 100.5, "5", True, None, [5, 500], [5, "x"], ""],
    "id": ["id-1", "ID-1", "#id-1", "id-2", "\uff49d-1", "id-\uff17", "-3", 4, "", None, {"a": "id-1"}],
}  # fmt: skip


def _world_of_rules(dice: Dice, calls: int) -> World:
    """Worlds in which hardly anything but the rules decides: one server, no configuration, no task, plain values.

    The rules speak of the roles and arguments that the tools have.
    """
    tools = []
    for index in range(dice.randint(1, 2)):
        leaves = sorted({*dice.some(sorted(PLAIN), 1, 2), *dice.some(["body", "amount", "id"], 0, 1)})
        args = {
            leaf: {
                "roles": dice.choice([roles for roles in LEAVES[leaf][0] if roles != ["none"]]),
                "absent": dice.choice(["nothing", "unknown"]),
            }
            for leaf in leaves
        }
        tools.append(tool(f"tool_{index}", args, required=dice.some(leaves, 0, 1)))
    roles = {role for entry in tools for argument in entry["args"].values() for role in argument["roles"]}
    subjects = Subjects(tuple(sorted({leaf for entry in tools for leaf in entry["args"]})), tuple(sorted(roles)))
    chain = _rules(dice, subjects, SHORT_STYLE)
    rest = dice.choice([{}, {"server": ["fs"]}, {"server": ["fs"]}, {"roles": dice.some(subjects.roles, 1, 3)}])
    if rest:
        chain.append({"name": "rest", "if": rest, "then": "allow"})
    made = []
    for _ in range(calls):
        entry = dice.choice(tools)
        needed = entry["definition"]["inputSchema"].get("required", ())
        given = [leaf for leaf in entry["args"] if leaf in needed or not dice.one_in(5)]
        request: dict[str, Any] = {
            "serverName": "fs",
            "toolName": entry["toolName"],
            "arguments": {leaf: dice.choice(PLAIN[leaf]) for leaf in given},
        }
        if dice.yes():
            request["sources"] = dice.some(["fs/tool_0", "fs/tool_1", "other/x"], 0, 2)
        made.append(request)
    return tools, chain, {}, made


def rules(most: int = 7) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Chains of rules that speak of no argument; directories still as placeholders."""
    return _SEEDS.map(lambda seed: _rules(Dice(seed), Subjects(()), replace(ANY_STYLE, rules=(0, most))))


def configs() -> st.SearchStrategy[dict[str, Any]]:
    """Configurations with access layers."""
    return _SEEDS.map(lambda seed: _config(Dice(seed)))


def worlds(calls: int = 40) -> st.SearchStrategy[World]:
    """Tools, rules, a configuration, and calls; directories still as placeholders."""
    return _SEEDS.map(lambda seed: _world(Dice(seed), calls))


def worlds_of_rules(calls: int = 12) -> st.SearchStrategy[World]:
    """The same, but hardly anything but the rules decides."""
    return _SEEDS.map(lambda seed: _world_of_rules(Dice(seed), calls))


LISTS = {
    "contacts": ["bob", "Ann@Example.com", "cat", "a", "b", "c", "d"],
    "hosts": ["*.x.example", "example.com"],
    "many": [f"user{i}" for i in range(80)] + ["C2", "ann@example.com"],
    "channels": ["#General", "@C1", "c2", "file", "#"],
}


def furnish(place: Place) -> None:
    """The files and links that the paths above speak of."""
    for directory in ("box/sub/deep", "out", "Projects", "box2", "Projects2", "box/e\u0301d", "box/o\u0301d"):
        (place.root / directory).mkdir(parents=True, exist_ok=True)
    for file in ("box/a", "out/s", "Projects/x", "home/owner/notes"):
        place.file(file)
    (place.root / "box" / "twin").hardlink_to(place.root / "out" / "s")
    links = {
        "box/out-link": "{root}/out", "box/in-link": "a", "box/dangling": "{root}/out/nothing", "box/loop": "loop",
        "box/up": "..", "Projects/link-to-box": "{box}", "box/links/.mcp.json": "../a", "box/links/second": ".mcp.json",
        "box/links/CLAUDE.md": "../a", "box/links/.git": "../sub", "box/links/.claude": "../sub", "box/links/.github": "../sub",
        "box/links/into-git": ".git/deep", "box/links/.gitmodules": "../a", "box/links/plain": "../sub",
        "box/links/dangling": "../nothing", "box/nfd": "e\u0301d", "box/nfd-away": "o\u0301d", "box/\u00f3d": "{root}/out",
        "box/h\u0301": "{home}/.ironcurtain", "box/nfd-home": "h\u0301",
    }  # fmt: skip
    for link, to in links.items():
        place.link(link, to)
