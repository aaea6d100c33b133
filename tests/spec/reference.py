"""decide(world, call): the contract of `docs/engine.md`, clause by clause, in the plainest Python that says it.

The plan, with the sections of that page:

(0) load        rules that do not load, a sandbox that overlaps what is protected: deny
(1) validate    the tool, its schema's defaults, arguments nobody annotated
(2) resolve     every occurrence of every leaf becomes values in canonical form, and that form is its own canonical form
(3) invariants  paths and hosts that no rule can open
(4) access      five layers of tool lists, each of which must pass the tool
(5) task        the task's rules, and
(6) rules       the policy's rules, by one procedure; the stricter outcome wins

A refusal at any point is an exception that carries its stage and code; everything else returns.
"""

# A clause is one function however many cases it has, and paths are plain text here.
# ruff: noqa: PTH112, PTH115, PTH118, PTH119, PTH120

import copy
import datetime as dt
import functools
import hashlib
import ipaddress
import itertools
import json
import os
import re
import stat
import string
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

# --- What is protected, by name (engine.md 3.2 and 3.4). ----------------------------------------------------------

PROTECTED_UNDER_HOME = (
    ".claude.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/.credentials.json",
    ".codex/auth.json", ".gemini/oauth_creds.json", ".config/Claude/claude_desktop_config.json",
    "Library/Application Support/Claude/claude_desktop_config.json", ".cursor/mcp.json", ".config/Cursor/User/mcp.json",
    ".config/Cursor/User/settings.json", ".config/Code/User/mcp.json", ".config/Code/User/settings.json",
    "Library/Application Support/Code/User/mcp.json", "Library/Application Support/Code/User/settings.json",
    ".codeium/windsurf/mcp_config.json", ".config/zed/settings.json", ".config/goose/config.yaml",
    ".openclaw/openclaw.json", ".codex/config.toml", ".gemini/settings.json", ".continue/config.json",
    ".continue/config.yaml", ".config/opencode/opencode.json", ".aws/amazonq/mcp.json",
)  # fmt: skip
PROTECTED_NAMES = (
    ".mcp.json", "mcp.json", "mcp_config.json", "claude_desktop_config.json", ".claude/settings.json",
    ".claude/settings.local.json", ".cursor/mcp.json", ".vscode/mcp.json", ".gemini/settings.json", ".codex/config.toml",
)  # fmt: skip
LOADED_ENDINGS = (
    ".py", ".pyc", ".pyd", ".pyw", ".pth", ".so", ".dylib", ".dll", ".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts",
    ".tsx", ".node", ".wasm", ".jar", ".class", ".rb", ".pl", ".lua", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat",
    ".cmd", ".exe", ".php", ".gradle", ".toml",
)  # fmt: skip
LOADED_NAMES = (
    "package.json",
    "node_modules",
    "site-packages",
    "makefile",
    "gnumakefile",
    "gemfile",
    "rakefile",
    "justfile",
    "deno.json",
)
STEERING_NAMES = (
    "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules",
    ".goosehints", ".github/copilot-instructions.md", ".claude", ".cursor", ".codex", ".gemini", ".windsurf",
)  # fmt: skip
GIT_DIRECTORY = ".git"
GIT_STEERING_NAMES = (".gitattributes", ".gitmodules", ".vscode/tasks.json", ".vscode/settings.json")
STEERING_PARENTS = (".github", ".vscode")  # the directory itself, as the last name
METADATA_HOSTS = (
    "169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "100.100.100.200", "192.0.0.192",
    "fd00:ec2::254", "fd20:ce::254", "metadata.google.internal",
)  # fmt: skip

# --- The vocabulary of roles (engine.md 2). -----------------------------------------------------------------------

PATH_ROLES = {"read-path", "write-path", "delete-path"}
URL_ROLES = {"fetch-url", "send-url"}
PARTY_ROLES = {"recipient", "attendee"}
PLACE_ROLES = {"channel", "calendar", "repository", "place", "host"}
CARRIED_ROLES = {"outbound-content", "amount", "identifier"}
READ_ROLES = {"read-path", "fetch-url"}
SENDING_ROLES = PARTY_ROLES | PLACE_ROLES | {"send-url"}
HOST_ROLES = URL_ROLES | PLACE_ROLES  # a place with `scheme://` is resolved like a URL, and then has a host
DOMAIN_ROLES = HOST_ROLES | PARTY_ROLES

# --- Limits and spellings (engine.md 1 and 2). --------------------------------------------------------------------

MAX_PATH_BYTES, MAX_COMPONENT_BYTES, MAX_SYMLINKS = 4096, 255, 40
MAX_PATH_STEPS, MAX_VALUES, MAX_STRAYS, MAX_DEFAULTED_ELEMENTS = 16_384, 1000, 1000, 1000
MAX_PARTIES, MAX_PARTY_CHARACTERS, MAX_PARTIES_CHARACTERS = 1000, 1000, 32_768
MAX_COMMAND_PARTS, MAX_MATCHED_CHARACTERS = 50, 4096
MAX_SUBSCHEMAS, MAX_LEVELS, MAX_DEFINITION_BYTES = 2000, 64, 256 * 1024
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
INVISIBLE = {
    0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10),
    *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000),
}  # fmt: skip  # besides the category Cf: what Unicode calls ignorable by default
OTHER_BLANKS = set("\u2800")  # besides spaces, control and invisible characters
OTHER_DASHES = set("\u02d7\u2043\u207b\u208b\u2212")  # besides the category Pd
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
WILDCARD = re.compile(r"[*?]|\{[^}]*(,|\.\.)[^}]*\}|\[[!^]|\[[^\]]*[^\]]-[^\]]+\]|[@+!]\(")
WINDOWS_PATH = re.compile(r"\\|^[A-Za-z]:|::")
WINDOWS_COMPONENT = re.compile(
    r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?|.*[^.][. ]+|[^.~]{1,6}~\d(\.[^.]{1,3})?", re.DOTALL
)
MAGIC = {"proc": ("self", "thread-self"), "dev": ("fd", "stdin", "stdout", "stderr")}  # and /proc/<pid>
# "`[...]` as a glob has it: a `]` that comes first and classes like `[:alpha:]` are part of it"; `[]` alone is none.
BRACKET = re.compile(r"\[[!^]?+\]?+(?:\[([:.=])[^\]]*?\1\]|[^\]])*\]")
FILE_URL = re.compile(r"(?i)([a-z][a-z0-9+.-]*:)*?file:")
REFUSED_PLACE = re.compile(r"(?i)//|https?:(?!//)|[\w+.-]+::")
SHELL_SEPARATOR = re.compile(r"[;&|\n\r]")
SHELL_UNREADABLE = re.compile(r"[<>`\\]|\$\S")  # a backslash, a redirection, a "`$` before anything but a blank"
COMMAND_WORDS = re.compile(r"[\s'\"=()<>;&|`]+")
WORD_BEFORE_COMMAND = re.compile(
    r"(if|then|elif|else|while|until|do|time|exec|command|builtin)(\s+|(?=\())|[A-Za-z_][A-Za-z0-9_]*=[^\s'\"]*\s+"
)
PRIVATE_SUFFIXES = ("localhost", "local", "localdomain", "internal", "home.arpa", "svc")
LOOKALIKES = set("асеорхуіјѕһԁԛԝɡɑıοαυρνικτ")  # letters that imitate ASCII ones

# --- Access (formats.md, config.toml). ----------------------------------------------------------------------------

BUILT_IN_GROUPS = {
    "fs": (("file_read", "file_write", "file_list", "file_delete"), PATH_ROLES),
    "runtime": (("bash_execute",), {"command"}),
    "web": (("web_fetch", "web_search"), URL_ROLES),
    "sessions": (("session_spawn", "session_list", "session_status"), set()),
    "memory": (("memory_search", "memory_get"), set()),
    "analysis": (("dependency_analyze", "codebase_analysis", "drift_detection"), set()),
}
PROFILES = {
    "minimal": ["session_status"],
    "coding": ["group:fs", "group:runtime", "group:sessions", "group:memory"],
    "analysis": ["group:analysis", "file_read", "file_list"],
    "full": ["*"],
}
SUBAGENT_DENIED_NAMES = [
    "session_list", "session_status", "session_spawn", "bash_execute", "file_delete", "memory_search", "memory_get",
    "agents/spawn", "agents/start",
]  # fmt: skip
SUBAGENT_DENIED_ROLES = {"command", "delete-path"}

STRICTNESS = {"allow": 0, "escalate": 1, "deny": 2}
MISSING = object()
ANY = None  # among the spellings of a piece of a name: any one character

Table = dict[str, Any]  # a JSON object
Place = tuple[str, ...]  # a leaf in parts: ("files", "[]", "path")
Outcome = tuple[str, str]  # a decision and its code
Part = tuple[tuple[str | None, ...], ...]  # one component of a path: pieces, each with the spellings it may stand for
Position = tuple[Any, ...]  # where something stands in the arguments: the keys and indices on the way to it


@dataclass(frozen=True)
class World:
    """Everything but the call that a decision depends on, besides the file system itself."""

    policy: Table
    annotations: Table
    lists: dict[str, list[Any]]
    home: str
    files: tuple[str, ...]
    now: str
    config: Table
    program: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The decision, the stage that made it and a stable code."""

    decision: str
    stage: str
    code: str


@dataclass(frozen=True)
class Value:
    """One canonical value with one role; `state` is known, unknown or opaque.

    `links` are the links met on the way to a path, "as the link's own place with whatever was still to follow behind
    it". They are how the value was reached, and no part of what it is.
    """

    role: str
    data: Any
    state: str = "known"
    links: tuple[str, ...] = field(default=(), compare=False)
    language: str = ""


@dataclass(frozen=True)
class Claim:
    """What must be permitted; `kind` is resource, carried or call (which has no role and no values)."""

    kind: str
    role: str | None
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Resolved:
    """A call after step 2: its values, those by leaf (and by leaf and role), its claims, and what is sent."""

    server: str
    tool: Table
    tool_roles: frozenset[str]
    values: tuple[Value, ...]
    by_leaf: dict[str, tuple[Value, ...]]
    by_leaf_and_role: dict[tuple[str, str], list[Value]]
    claims: tuple[Claim, ...]
    strays: tuple[str, ...]
    sent: Table
    settled: bool
    """What is sent is the form of every role."""
    sources: frozenset[str] | None = None
    """Whose results whoever calls has seen, if that is known."""


Values = tuple[Value, ...]
Test = Callable[[Value], bool]


class Refused(Exception):  # noqa: N818 - a decision, not a mistake
    """The call is denied here and now."""

    def __init__(self, stage: str, code: str) -> None:
        super().__init__(stage, code)
        self.verdict = Verdict("deny", stage, code)


class RuleError(Exception):
    """A condition cannot be evaluated on this value."""


def decide(world: World, call: Table) -> Verdict:
    """Return the verdict on one parsed call."""
    try:
        return decide_or_refuse(world, call)
    except Refused as refusal:
        return refusal.verdict


def decide_or_refuse(world: World, call: Table) -> Verdict:
    check_load(world)  # (0)
    check_call_shape(call)  # (1)
    tool = find_tool(world, call["serverName"], call["toolName"])
    schema = tool["definition"].get("inputSchema", {})
    arguments = copy.deepcopy(call["arguments"])
    insert_defaults([schema], arguments, schema)
    check_covered(arguments, (), [tokens(leaf) for leaf in tool["args"]], schema)
    passes = resolve_to_one_form(world, tool, arguments)  # (2)
    resolved = replace(passes[0], sources=frozenset(call["sources"]) if "sources" in call else None)
    verdicts = [verdict for one in passes for verdict in check_paths(world, one)]  # (3)
    verdicts += check_hosts(world, resolved)
    check_access(world, resolved, call.get("principal", {}))  # (4)
    if "task" in call:  # (5)
        check_task(world, call["task"])
        verdicts.append(judge(world, resolved, call["task"]["rules"], "task"))
    final = judge(world, resolved, world.policy["rules"], "rules")  # (6)
    # The stricter wins; between equals the earlier stage is named, but an allow is always the policy's own.
    worst = max([*verdicts, final], key=lambda verdict: STRICTNESS[verdict.decision])
    return final if worst.decision == "allow" else worst


# === (0) Load =====================================================================================================


def check_load(world: World) -> None:
    fine = all(modes_load(tool["args"]) for _, tool in every_tool(world)) and names_differ(world.config)
    if not fine or not rules_load(world.policy["rules"], world):
        raise Refused("load", "artifact_malformed")
    # The sandbox may not contain or lie inside anything protected; its own place under the home is not.
    sandbox = follow(world.policy["setup"]["sandbox"])
    if is_protected(world, sandbox) or is_ancestor(world, sandbox):
        raise Refused("load", "sandbox_overlap")


def every_tool(world: World) -> list[tuple[str, Table]]:
    """Each annotated tool with its server."""
    return [(server, tool) for server, body in world.annotations["servers"].items() for tool in body["tools"]]


def modes_of(annotation: Any) -> list[Table]:
    return annotation if isinstance(annotation, list) else [annotation]


def all_roles(annotation: Any) -> set[str]:
    """The roles of one leaf in any mode."""
    return {role for mode in modes_of(annotation) for role in mode["roles"]}


def modes_load(args: Table) -> bool:
    """A sibling in a `when` is "an argument of the same object whose roles are carried, `none` or other"."""
    by_place = {tokens(leaf): all_roles(annotation) for leaf, annotation in args.items()}
    for leaf, annotation in args.items():
        for sibling in (name for mode in modes_of(annotation) for name in mode.get("when", {})):
            roles = by_place.get((*tokens(leaf)[:-1], sibling))
            if roles is None or roles & (PATH_ROLES | DOMAIN_ROLES):
                return False
    return True


def names_differ(config: Table) -> bool:
    """Two names of agents, groups, members or providers that are equal trimmed and in lower case are refused."""
    groups = config.get("groups", {})
    tables = [config.get("agents", {}), groups, config.get("tools", {}).get("byProvider", {})]
    tables += [group.get("toolsByMember", {}) for group in groups.values()]
    return all(len({normal(name) for name in table}) == len(table) for table in tables)


def rules_load(rules: Any, world: World) -> bool:
    """formats.md, "A rule" and "Conditions": an unknown key, a wrong type or a missing list does not load."""
    if not isinstance(rules, list) or not all(rule_loads(rule, world) for rule in rules):
        return False
    return len({rule["name"] for rule in rules}) == len(rules)


def rule_loads(rule: Any, world: World) -> bool:
    texts = {"name", "description", "principle", "reason", "then"}
    flags = {"elsewhere", "joined"}
    if not isinstance(rule, dict) or not {"name", "if", "then"} <= set(rule) <= texts | flags | {"if"}:
        return False
    if not all(isinstance(rule[key], str) for key in texts & set(rule)):
        return False
    if not rule["name"] or rule["then"] not in STRICTNESS or not isinstance(rule["if"], dict):
        return False
    if any(rule[flag] is not True or rule["then"] != "escalate" for flag in flags & set(rule)):
        return False
    # "An allow without any condition is refused on load", and an exception is none; `assess` is "not in an allow".
    if rule["then"] == "allow" and (set(rule["if"]) <= {"unless"} or "assess" in rule["if"]):
        return False
    return all(condition_loads(key, body, world) for key, body in rule["if"].items())


def unless_loads(groups: Any, world: World) -> bool:
    """A list of groups of conditions on values; neither the list nor a group is empty."""
    if not isinstance(groups, list) or not groups:
        return False
    for group in groups:
        if not isinstance(group, dict) or not group or not set(group) <= {"paths", "domains", "lists", "values"}:
            return False
        if not all(condition_loads(key, body, world) for key, body in group.items()):
            return False
    return True


def condition_loads(key: str, body: Any, world: World) -> bool:
    if key in ("server", "tool", "roles"):
        return words(body)
    if key == "sideEffects":
        return isinstance(body, bool)
    if key == "lists":
        return isinstance(body, list) and bool(body) and all(membership_loads(item, world) for item in body)
    if key == "domains":  # "url, party and place roles only"
        return membership_loads(body, world) and words(body["allowed"]) and set(body["roles"]) <= DOMAIN_ROLES
    if key == "values":
        return isinstance(body, dict) and bool(body) and all(predicate_loads(*item, world) for item in body.items())
    if key == "paths":  # "path roles only"
        fine = has_keys(body, "roles", "within") and words(body["roles"]) and set(body["roles"]) <= PATH_ROLES
        fine = fine and words(directories_of(body["within"]))
        return fine and all(one == "~" or one.startswith(("/", "~/")) for one in directories_of(body["within"]))
    if key == "unless":
        return unless_loads(body, world)
    if key == "origin":
        fine = has_keys(body, "roles", "from") and words(body["roles"])
        return fine and (isinstance(body["from"], str) or words(body["from"]))
    return key == "assess" and has_keys(body, "question") and isinstance(body["question"], str)


def directories_of(within: Any) -> Any:
    """`within` is one directory or a list of them."""
    return [within] if isinstance(within, str) else within


def has_keys(body: Any, *keys: str) -> bool:
    return isinstance(body, dict) and set(body) == set(keys)


def words(body: Any) -> bool:
    return isinstance(body, list) and bool(body) and all(isinstance(word, str) and word for word in body)


def membership_loads(body: Any, world: World) -> bool:
    if not has_keys(body, "roles", "allowed") or not words(body["roles"]) or not isinstance(body["allowed"], list):
        return False
    named = [entry[1:] for entry in body["allowed"] if isinstance(entry, str) and entry.startswith("@")]
    return all(name in world.lists for name in named)


def predicate_loads(subject: str, predicate: Any, world: World) -> bool:
    fits: dict[str, Callable[[Any], bool]] = {
        "equals": lambda _: True,
        "in": lambda bound: isinstance(bound, list),
        "matches": is_pattern,
        "minimum": is_number,
        "maximum": is_number,
        "maxLength": is_count,
        "minItems": is_count,
        "maxItems": is_count,
        "given": lambda bound: bound is True,
    }
    if not re.fullmatch(r"(role|arg):.+", subject) or not isinstance(predicate, dict) or not predicate:
        return False
    kind, _, name = subject.partition(":")
    if kind == "arg" and name.endswith("[]") and not any(name in tool["args"] for _, tool in every_tool(world)):
        counts = set(predicate) <= {"minItems", "maxItems"} and any(
            is_list(tool, name) for _, tool in every_tool(world)
        )
        return counts and all(fits[key](bound) for key, bound in predicate.items())
    if kind == "arg" and not any(
        name in tool["args"] or any(is_member(tool, leaf, name) for leaf in tool["args"])
        for _, tool in every_tool(world)
    ):
        return False  # a leaf that no tool has
    if kind == "role" and not all(name.split("+")):
        return False  # a group of roles with a role that has no name
    return all(key in fits and fits[key](bound) for key, bound in predicate.items())


def is_pattern(bound: Any) -> bool:
    patterns = bound if isinstance(bound, list) else [bound]
    try:
        for pattern in patterns:
            re.compile(pattern, re.ASCII)
    except (re.error, TypeError):
        return False
    return bool(patterns)


def is_count(bound: Any) -> bool:
    return isinstance(bound, int) and not isinstance(bound, bool) and bound >= 0


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# === (1) Validate =================================================================================================


def check_call_shape(call: Table) -> None:
    """`serverName`, `toolName`, `arguments`, and optionally `principal` and `task`; unknown members are refused."""
    needed = {"serverName": str, "toolName": str, "arguments": dict}
    optional = {"principal": dict, "task": dict, "sources": list}
    fine = set(needed) <= set(call) <= set(needed) | set(optional)
    fine = fine and all(isinstance(call[key], kind) for key, kind in {**needed, **optional}.items() if key in call)
    fine = fine and all(isinstance(source, str) and "/" in source for source in call.get("sources", []))
    for key, value in call.get("principal", {}).items() if fine else ():
        if key == "subagent":
            fine = fine and isinstance(value, bool)
        else:
            fine = fine and key in ("agent", "provider", "group", "member") and isinstance(value, str) and bool(value)
    if not fine:
        raise Refused("validate", "call_malformed")


def find_tool(world: World, server: str, name: str) -> Table:
    """engine.md 3: "unknown server or tool, unusable or drifted tool: deny"."""
    tools = world.annotations["servers"].get(server, {"tools": []})["tools"]
    for tool in tools:
        if tool["toolName"] == name and tool["serverName"] == server:
            large = len(canonical_json(tool["definition"])) > MAX_DEFINITION_BYTES
            deep = levels(tool["definition"]) > MAX_LEVELS
            if large or deep or not is_usable(tool["definition"].get("inputSchema", {})):
                raise Refused("invariants", "tool_unusable")
            if tool.get("pin") != pin(tool["definition"]):
                raise Refused("invariants", "tool_drift")
            return dict(tool)
    raise Refused("invariants", "tool_unknown")


def pin(definition: Table) -> str:
    """formats.md: `sha256:` and the digest of the definition in canonical JSON (sorted keys, no spaces, UTF-8)."""
    return "sha256:" + hashlib.sha256(canonical_json(definition)).hexdigest()


def canonical_json(definition: Table) -> bytes:
    return json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def levels(node: Any) -> int:
    """How deep objects and lists are nested in one another."""
    if not isinstance(node, (dict, list)):
        return 0
    return 1 + max((levels(child) for child in (node.values() if isinstance(node, dict) else node)), default=0)


def is_usable(schema: Any) -> bool:
    """No reference outside itself, no recursive one, at most 2,000 subschemas and 64 levels."""
    seen = 0

    def walk(node: Any, level: int, references: frozenset[str]) -> bool:
        nonlocal seen
        if not isinstance(node, dict):
            return True
        seen += 1
        if seen > MAX_SUBSCHEMAS or level > MAX_LEVELS:
            return False
        inner = [node.get(key) for key in ("items", "additionalProperties", "not", "if", "then", "else", "contains")]
        for key in ("allOf", "anyOf", "oneOf", "prefixItems"):
            inner += node.get(key, [])
        for key in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"):
            inner += node.get(key, {}).values()
        if "$ref" in node:
            if node["$ref"] in references or (target := lookup(node["$ref"], schema)) is None:
                return False
            if not walk(target, level + 1, references | {node["$ref"]}):
                return False
        return all(walk(child, level + 1, references) for child in inner)

    return walk(schema, 1, frozenset())


def lookup(reference: Any, root: Any) -> Any:
    """The subschema a local reference points to, or None."""
    if not isinstance(reference, str) or not re.fullmatch(r"#(/.*)?", reference):
        return None
    node = root
    for part in unquote(reference).split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, dict) or name not in node:
            return None
        node = node[name]
    return node


def pieces(schema: Any, root: Any) -> list[Table]:
    """The schema with what holds besides it: its reference, `allOf`, and the one structured branch of a choice."""
    if not isinstance(schema, dict):
        return []
    found = [schema]
    if "$ref" in schema:
        found += pieces(lookup(schema["$ref"], root), root)
    for part in schema.get("allOf", []):
        found += pieces(part, root)
    for word in ("anyOf", "oneOf"):
        branches = [pieces(branch, root) for branch in schema.get(word, [])]
        structured = [branch for branch in branches if any("properties" in p or elements_of(p) for p in branch)]
        if len(structured) == 1:
            found += structured[0]
    return found


def branches(schema: Any, root: Any, *, conditional: bool = False) -> list[Table]:
    """The schema, what its reference says besides it, and every branch of its `allOf`, `anyOf` and `oneOf`.

    If `conditional`, "also in `then`, `else` or `dependentSchemas`".
    """
    if not isinstance(schema, dict):
        return []
    inner = [lookup(schema["$ref"], root)] if "$ref" in schema else []
    for word in ("allOf", "anyOf", "oneOf"):
        inner += schema.get(word, [])
    if conditional:
        inner += [schema.get("then"), schema.get("else"), *schema.get("dependentSchemas", {}).values()]
    return [schema, *(found for branch in inner for found in branches(branch, root, conditional=conditional))]


def elements_of(schema: Table) -> list[Any]:
    """What the schema says about elements of a list: `items`, and `prefixItems` likewise."""
    return [*([schema["items"]] if "items" in schema else []), *schema.get("prefixItems", [])]


def insert_defaults(schemas: list[Any], value: Any, root: Any) -> None:
    """Defaults are inserted "also in the branches of `anyOf`, `oneOf` and `allOf` and beside a `$ref`".

    Not those in `prefixItems`, `then`, `else` and `dependentSchemas`: these are there to be found (`has_default`).
    """
    found = [branch for schema in schemas for branch in branches(schema, root)]
    if isinstance(value, dict):
        for name in {name: None for branch in found for name in branch.get("properties", {})}:
            inner = [branch["properties"][name] for branch in found if name in branch.get("properties", {})]
            defaults = [b["default"] for schema in inner for b in branches(schema, root) if "default" in b]
            if name not in value and defaults:
                value[name] = copy.deepcopy(defaults[0])
            if name in value:
                insert_defaults(inner, value[name], root)
    if isinstance(value, list):
        items = [branch["items"] for branch in found if "items" in branch]
        if len(value) > MAX_DEFAULTED_ELEMENTS and any(has_defaults(schema, root) for schema in items):
            raise Refused("validate", "arguments_invalid")  # "into lists of up to 1,000 elements; more are refused"
        for element in value:
            insert_defaults(items, element, root)
    for piece in (piece for schema in schemas for piece in pieces(schema, root)):
        if isinstance(value, dict) and not set(piece.get("required", [])) <= set(value):
            raise Refused("validate", "arguments_invalid")


def has_defaults(schema: Any, root: Any) -> bool:
    """Some default might be inserted into a value of this schema, at any depth."""
    for branch in branches(schema, root):
        inner = branch.get("properties", {}).values()
        if any("default" in found for child in inner for found in branches(child, root)):
            return True
        if any(has_defaults(child, root) for child in (*inner, branch.get("items"))):
            return True
    return False


def schemas_at(schema: Any, place: Place, root: Any, *, conditional: bool = False) -> list[Table]:
    """Everything the schema says, in any branch, about the value at this place."""
    found = branches(schema, root, conditional=conditional)
    for head in place:
        inner = [
            child for b in found for child in (elements_of(b) if head == "[]" else [b.get("properties", {}).get(head)])
        ]
        found = [branch for child in inner for branch in branches(child, root, conditional=conditional)]
    return found


def has_leaf_below(schemas: list[Table], root: Any) -> bool:
    """A leaf of the schema lies below: a member of the object, or of the objects in the list."""
    if any(schema.get("properties") for schema in schemas):
        return True
    elements = [element for schema in schemas for element in elements_of(schema)]
    return any(has_leaf_below(branches(element, root), root) for element in elements)


def has_default(schema: Any, place: Place, root: Any) -> bool:
    """ "The schema has a default that is not empty for it or for an object or list that it is in", in any branch.

    The elements of a leaf that is a list are the leaf's too.
    """
    on_the_way = [place[:length] for length in range(len(place) + 1)]
    around = [schemas_at(schema, here, root, conditional=True) for here in [*on_the_way, (*place, "[]")]]
    return any(not is_empty(found.get("default")) for schemas in around for found in schemas)


def tokens(leaf: str) -> Place:
    """`files[].path` is ("files", "[]", "path")."""
    found = []
    for part in leaf.split("."):
        name = part.rstrip("[]")
        found += [name] + ["[]"] * part[len(name) :].count("[]")
    return tuple(found)


def check_covered(node: Any, here: Place, leaves: list[Place], schema: Any) -> None:
    """Refuse an argument that the annotation does not cover, at any depth.

    "Only a leaf that is annotated as a whole, and has no leaf of the schema below it (a free-form object), may hold an
    object."
    """
    has_children = not here or any(leaf[: len(here)] == here and leaf != here for leaf in leaves)
    if isinstance(node, dict) and has_children:
        for key, child in node.items():
            check_covered(child, (*here, key), leaves, schema)
    elif isinstance(node, list) and has_children:
        for child in node:
            if here not in leaves or isinstance(child, (dict, list)):
                check_covered(child, (*here, "[]"), leaves, schema)
    elif here not in leaves:
        if not (node is None and has_children):
            raise Refused("validate", "argument_unknown")
    elif holds_object(node) and has_leaf_below(schemas_at(schema, here, schema), schema):
        raise Refused("validate", "argument_unknown")


def holds_object(node: Any) -> bool:
    return any(isinstance(item, dict) for item in flatten(node))


# === (2) Resolve ==================================================================================================


def resolve_to_one_form(world: World, tool: Table, arguments: Table) -> list[Resolved]:
    """ "One form": where resolving has changed the arguments, what it made of them is resolved once more.

    It must "be its own canonical form and give the same values for the same roles". Both are returned, because "the
    stray strings of both are compared".
    """
    first = resolve_call(world, tool, arguments)
    if same(first.sent, arguments):
        passes = [first]
    else:
        second = resolve_call(world, tool, first.sent)
        if not same(second.sent, first.sent) or not same_values(first, second):
            raise Refused("resolve", "value_unstable")
        passes = [first, second]
    if not passes[-1].settled:  # "for each of its roles"
        raise Refused("resolve", "value_unstable")
    return passes


def same_values(first: Resolved, second: Resolved) -> bool:
    """The same leaves have in the same roles the same values, of the same kind; how they were reached is not asked."""
    if set(first.by_leaf_and_role) != set(second.by_leaf_and_role):
        return False
    for key, left in first.by_leaf_and_role.items():
        right = second.by_leaf_and_role[key]
        if [value.state for value in left] != [value.state for value in right]:
            return False
        if not same([value.data for value in left], [value.data for value in right]):
            return False
    return True


def resolve_call(world: World, tool: Table, arguments: Table) -> Resolved:
    """Every occurrence of every leaf becomes values, and is sent in the form of its leading role."""
    server, schema = tool["serverName"], tool["definition"].get("inputSchema", {})
    values: list[Value] = []
    by_leaf: dict[str, list[Value]] = {}
    by_leaf_and_role: dict[tuple[str, str], list[Value]] = {}
    path_texts: list[str] = []
    unplaced: list[str] = []
    sent, beside_paths = copy.deepcopy(arguments), copy.deepcopy(arguments)
    other_values: list[Value] = []
    settled = True
    all_leaves = [tokens(leaf) for leaf in tool["args"]]
    for leaf, annotation in tool["args"].items():
        place = tokens(leaf)
        required, defaulted = is_required(schema, place, schema), has_default(schema, place, schema)
        has_children = any(other[: len(place)] == place and other != place for other in all_leaves)
        by_leaf[leaf] = []
        for found, parent, position in occurrences(arguments, place, arguments):
            roles = roles_in_force(modes_of(annotation), parent_as_sent(tool, leaf, parent))
            words = isinstance(annotation, dict) and annotation.get("language") == "argv" and as_line(found)
            for item, at in [(words, ())] if words else positions(found, position):
                if has_children and isinstance(item, dict) and item:
                    continue  # "string or object": the children speak for the object
                here, unread = readable_roles(world, server, roles, item)
                # A name "is compared with the protected paths as a stray string is, as if it began at `setup.home`"
                unplaced += [world.policy["setup"]["home"] + "/" + item for _ in unread if PATH_ROLES & set(unread)][:1]
                check_visible(here, item)
                read = {}
                for role, absent_is_unknown in here.items():
                    counted = role in PARTY_ROLES | PATH_ROLES | URL_ROLES
                    nothing = counted and not isinstance(item, str)  # "an empty list of people, files or pages"
                    unknown = (required and item is not MISSING and not nothing) or absent_is_unknown or defaulted
                    read[role] = read_item(world, server, role, item, unknown, here)
                    if is_named_by_path(role, here, item):
                        read[role] = [Value(role, sent_form(world, server, leading_role(here), item))]
                    if role == "command" and isinstance(annotation, dict) and "language" in annotation:
                        read[role] = [replace(value, language=annotation["language"]) for value in read[role]]
                # "in any mode in force": an empty leaf may be nothing for one of its roles and unknown for another
                by_leaf[leaf] += next(
                    filter(None, (read[leading_role(here)], *(read.values() if is_empty(item) else ()))), []
                )
                of_roles = [Value(role, str(item), "opaque") for role in unread]
                of_roles += [value for role in here if role != "none" for value in read[role]]
                for value in of_roles:
                    by_leaf_and_role.setdefault((leaf, value.role), []).append(value)
                values += of_roles
                if isinstance(item, str) and PATH_ROLES & set(here):
                    path_texts.append(item)
                    put(beside_paths, at, None)
                else:
                    other_values += of_roles
                if not is_empty(item):
                    asked = [role for role in here if not is_named_by_path(role, here, item)]
                    forms = [sent_form(world, server, role, item) for role in (leading_role(here), *asked)]
                    settled = settled and all(same(form, forms[0]) for form in forms)
                    if not words:  # "a list of words is sent as it came"
                        put(sent, at, forms[0])
    commands = [value.data for value in values if value.role == "command" and isinstance(value.data, str)]
    strays = stray_strings(world, every_string(beside_paths) + unplaced, other_values, commands)
    check_counts(world, server, values, strays, path_texts)
    return Resolved(
        server=server,
        tool=tool,
        tool_roles=annotated_roles(tool),
        values=tuple(values),
        by_leaf={leaf: tuple(found) for leaf, found in by_leaf.items()},
        by_leaf_and_role=by_leaf_and_role,
        claims=claims_of(values),
        strays=strays,
        sent=sent,
        settled=settled,
    )


def is_named_by_path(role: str, roles: dict[str, bool], item: Any) -> bool:
    """ "A carried role or a command beside a path role has the path as it is sent for its value." """
    named = role == "command" or role in CARRIED_ROLES
    return named and isinstance(item, str) and not is_empty(item) and bool(PATH_ROLES & set(roles))


def sent_form(world: World, server: str, role: str, node: Any) -> Any:
    """What is sent for an item: each string in its canonical form, unless it has none (blank, unknown or opaque)."""
    if isinstance(node, dict):
        return {key: sent_form(world, server, role, child) for key, child in node.items()}
    if isinstance(node, list):
        return [sent_form(world, server, role, child) for child in node]
    if not isinstance(node, str) or is_empty(node):
        return node
    read = read_item(world, server, role, node, empty_is_unknown=False)
    if any(value.state != "known" for value in read):
        return node
    return ", ".join(value.data for value in read)  # "The canonical list is what is sent."


def put(node: Any, position: Position, value: Any) -> None:
    """Replace what stands at this position."""
    for step in position[:-1]:
        node = node[step]
    node[position[-1]] = value


def check_counts(
    world: World, server: str, values: list[Value], strays: tuple[str, ...], path_texts: list[str]
) -> None:
    """More than 1,000 values or stray strings, too many characters of paths or strays, 16,384 steps: refused."""
    begun = [without_blanks_before(text)[:4096] for text in strays]  # "of the first 4,096 of each"
    characters = sum(len(re.split("[\r\n]", text)[0]) + 16 * text.count("[") for text in begun)
    if sum(map(len, path_texts)) > 262_144 or characters > 65_536:
        raise Refused("resolve", "value_count")
    if len(values) > MAX_VALUES or len(strays) > MAX_STRAYS:
        raise Refused("resolve", "value_count")
    starts = [starting_point(world, server, text) for text in path_texts if not is_empty(text)]
    if sum(walk(nfc(start), [])[1] for start in starts) > MAX_PATH_STEPS:
        raise Refused("resolve", "path_loop")


def claims_of(values: list[Value]) -> tuple[Claim, ...]:
    """One for each value of each resource role; one for each carried role that has a value; else one for the call."""
    claims = [Claim("resource", value.role, (value,)) for value in values if value.role not in CARRIED_ROLES]
    for role in sorted(CARRIED_ROLES):
        together = tuple(value for value in values if value.role == role)
        if together:
            claims.append(Claim("carried", role, together))
    return tuple(claims) or (Claim("call", None, ()),)


def annotated_roles(tool: Table) -> frozenset[str]:
    """Every role of every argument in any mode, `none` apart."""
    found = {role for annotation in tool["args"].values() for role in all_roles(annotation)}
    return frozenset(found - {"none"})


def occurrences(node: Any, place: Place, parent: Any, at: Position = ()) -> list[tuple[Any, Table, Position]]:
    """Each place where the leaf is or is missing, with the object its siblings are in, and where that is."""
    if not place:
        return [(node, parent, at)]
    head, rest = place[0], place[1:]
    if head == "[]":
        if isinstance(node, list) and node:
            found = [occurrences(element, rest, parent, (*at, index)) for index, element in enumerate(node)]
            return [one for several in found for one in several]
        return [(None, {}, at)]  # an empty list on the way: present, and empty
    if not isinstance(node, dict):
        return [(None, {}, at)]
    if head in node:
        return occurrences(node[head], rest, node, (*at, head))
    return [(MISSING, node if not rest else {}, at)]


def flatten(found: Any) -> list[Any]:
    """A list is its elements, whatever its depth; an empty list stays, as an empty thing."""
    return [item for item, _ in positions(found, ())]


def as_line(found: Any) -> str:
    """ "A list is one command: its texts and numbers at any depth, joined by blanks"; nothing for anything else."""

    def words(node: Any) -> list[str]:
        if isinstance(node, dict):
            return [word for each in (*node.keys(), *node.values()) for word in words(each)]
        if isinstance(node, list):
            return [word for each in node for word in words(each)]
        return [] if node is None or isinstance(node, bool) else [str(node)]

    return " ".join(words(found)).strip() if isinstance(found, list) else ""


def positions(found: Any, at: Position) -> list[tuple[Any, Position]]:
    """The elements of a list with their positions in it."""
    if isinstance(found, list) and found:
        return [pair for index, element in enumerate(found) for pair in positions(element, (*at, index))]
    return [(found, at)]


def is_required(schema: Any, place: Place, root: Any) -> bool:
    """Required by the schema, "every object and list on the way to it included"."""
    if not place:
        return True
    head, rest = place[0], place[1:]
    for piece in pieces(schema, root):
        if head == "[]" and any(is_required(element, rest, root) for element in elements_of(piece)):
            return True
        if head in piece.get("required", []) and is_required(piece.get("properties", {}).get(head, {}), rest, root):
            return True
    return False


def roles_in_force(modes: list[Table], parent: Any) -> dict[str, bool]:
    """Role -> whether leaving it out is unknown. Modes without `when` always count; if no `when` holds, all do."""
    conditional = [mode for mode in modes if mode.get("when")]
    holding = [mode for mode in conditional if when_holds(mode["when"], parent)]
    in_force = [mode for mode in modes if not mode.get("when") or mode in holding or not holding]
    roles: dict[str, bool] = {}
    for mode in in_force:
        for role in mode["roles"]:
            roles[role] = roles.get(role, False) or mode.get("absent", "unknown") == "unknown"
    return roles


def parent_as_sent(tool: Table, leaf: str, parent: Any) -> Any:
    """ "What counts is the sibling's value as it is sent": of those that may stand in a `when`, other roles are trimmed."""
    if not isinstance(parent, dict):
        return parent
    sent = dict(parent)
    beside = tokens(leaf)[:-1]
    for other, annotation in tool["args"].items():
        place = tokens(other)
        if place[:-1] == beside and isinstance(parent.get(place[-1]), str):
            role = leading_role(roles_in_force(modes_of(annotation), parent))
            if role not in PATH_ROLES | URL_ROLES | PARTY_ROLES | PLACE_ROLES | CARRIED_ROLES | {"command", "none"}:
                sent[place[-1]] = parent[place[-1]].strip()
    return sent


def when_holds(when: Table, parent: Any) -> bool:
    """`{sibling: value}`, `[values]`, `{"equals": value}` or `{"in": [values]}`; all siblings must hold."""
    for sibling, wanted in when.items():
        if isinstance(wanted, dict):
            accepted = wanted["in"] if "in" in wanted else [wanted["equals"]]
        else:
            accepted = wanted if isinstance(wanted, list) else [wanted]
        if sibling not in parent or not any(same(parent[sibling], value) for value in accepted):
            return False
    return True


def roles_for_item(roles: dict[str, bool], item: Any) -> dict[str, bool]:
    """With both url and path roles, a text is a URL if it starts with `scheme://` and a path otherwise.

    With `fetch-url` and `identifier`, and no role but carried and place ones besides `host`, what can only be a name has
    no url that can be read.
    """
    if isinstance(item, str) and item.strip() and PATH_ROLES & set(roles) and URL_ROLES & set(roles):
        unwanted = PATH_ROLES if SCHEME.match(item) else URL_ROLES
        return {role: absent for role, absent in roles.items() if role not in unwanted}
    if is_name_beside_url(roles, item):
        return {role: absent for role, absent in roles.items() if role != "fetch-url"}
    return roles or {"none": True}


def readable_roles(world: World, server: str, roles: dict[str, bool], item: Any) -> tuple[dict[str, bool], list[str]]:
    """The roles in which an item can be read, and those in which it is opaque, because it may be a name."""
    here = roles_for_item(roles, item)
    if is_name_beside_path(world, server, here, item):
        files = [role for role in here if role in PATH_ROLES]
        return {role: absent for role, absent in here.items() if role not in files}, files
    return here, ["fetch-url"] if is_name_beside_url(roles, item) else []


def is_name_beside_url(roles: Iterable[str], item: Any) -> bool:
    """Whether an argument takes a URL or an id, and this is an id."""
    besides = PATH_ROLES | PARTY_ROLES | {"host", "send-url"}
    return {"fetch-url", "identifier"} <= set(roles) and not besides & set(roles) and is_only_a_name(item)


def is_name_beside_path(world: World, server: str, roles: dict[str, bool], item: Any) -> bool:
    """Whether an argument takes a path or a name, and this is a relative one of a server without a starting point."""
    files = PATH_ROLES & set(roles)
    if not files or "identifier" not in roles or not isinstance(item, str) or is_empty(item):
        return False
    if server in world.policy["setup"].get("pathBase", {}) or nfc(item) != item:
        return False
    if "%" in item or item.lower().startswith("file:"):
        return False
    if any(not part or part[0] in ".~" for part in item.split("/")):
        return False
    try:
        check_path_spelling(item)
    except Refused:
        return False
    if files == {"read-path"}:
        return True
    loaded = any(item.lower().endswith(ending) for ending in LOADED_ENDINGS)
    return not loaded and not any(part.lower() in LOADED_NAMES for part in item.split("/"))


def is_only_a_name(item: Any) -> bool:
    """Letters, digits and some signs in parts with `/` or a blank between; no word of it may be a host or an address."""
    if isinstance(item, bool) or not isinstance(item, str | int | float):
        return False
    parts = [word for part in str(item).split("/") for word in part.split(" ")]
    if not all(part and set(part) <= set(string.ascii_letters + string.digits + "_-,'()&+") for part in parts):
        return False
    for word in "".join(char if char.isalnum() or char in "_-" else " " for char in str(item).lower()).split():
        if set(word) <= set(string.digits):
            if word[0] == "0" or 16_777_216 <= int(word) <= 4_294_967_295:
                return False
        elif word.startswith(("0x", "localhost", "ip6-", "instance-data")) or word == "metadata":
            return False
    return True


def leading_role(roles: dict[str, bool]) -> str:
    """The role whose canonical form is sent and an `arg:` condition sees.

    In this order: path, url, party, command, place, other, carried.
    """
    others = set(roles) - CARRIED_ROLES - {"none"}
    for family in (PATH_ROLES, URL_ROLES, PARTY_ROLES, {"command"}, PLACE_ROLES, others):
        for role in roles:
            if role in family:
                return role
    return next(iter(roles))


def is_empty(item: Any) -> bool:
    """Missing, null, [], {} and blank strings are empty."""
    return item is MISSING or item is None or item in ([], {}) or (isinstance(item, str) and not item.strip())


def read_item(
    world: World, server: str, role: str, item: Any, empty_is_unknown: bool, beside: Iterable[str] = ()
) -> list[Value]:
    """The values of one item in one role."""
    if is_empty(item):
        # "An empty string that is present in a path role is always unknown, and so it is in the other roles".
        always = isinstance(item, str) and bool(PATH_ROLES.intersection((role, *beside)))
        return [Value(role, None, "unknown")] if always or empty_is_unknown else []
    if isinstance(item, dict):
        return read_object(world, server, role, item, empty_is_unknown)
    if role == "none":
        return [Value(role, item)]
    if not isinstance(item, str):
        if role in PATH_ROLES | URL_ROLES:
            raise Refused("resolve", "value_type")
        return [Value(role, item)]
    if role not in CARRIED_ROLES or role == "identifier":
        check_flag(role, item)
    if role in PATH_ROLES:
        path, links = canonical_path(world, server, item)
        return [Value(role, path, links=links)]
    if role in PARTY_ROLES:
        return read_parties(role, item)
    return [Value(role, canonical_text(role, item))]


def canonical_text(role: str, text: str) -> str:
    """The canonical form of a URL, a place, another resource or something carried."""
    if role in CARRIED_ROLES:
        return text
    if role in URL_ROLES:
        return canonical_url(text)
    if "\0" in text:  # "NUL in a resource role is refused"
        raise Refused("resolve", "value_spelling")
    if role == "command":
        return text
    check_visible({role: True}, text)
    stripped = text.strip()
    return canonical_place(stripped) if role in PLACE_ROLES else stripped


def canonical_place(text: str) -> str:
    """ "A `scheme://` makes it a URL, resolved like one"; refused are some beginnings that lead elsewhere.

    "A place that begins with `//`, with `http:` or `https:` but no `//` after it, or with a word and `::` is refused."
    """
    if SCHEME.match(text):
        return canonical_url(text)
    if REFUSED_PLACE.match(text):
        raise Refused("resolve", "value_spelling")
    return text


def check_visible(roles: dict[str, bool], item: Any) -> None:
    """Refuse control and invisible characters "in an argument that has a place or other role (but `command`)".

    "Whatever other roles it has besides."
    """
    with_forms_of_their_own = PATH_ROLES | URL_ROLES | PARTY_ROLES | CARRIED_ROLES | {"command", "none"}
    if set(roles) <= with_forms_of_their_own:
        return
    if any(is_control(char) or is_invisible(char) for text in every_string(item) for char in text):
        raise Refused("resolve", "value_spelling")


def read_object(world: World, server: str, role: str, item: Table, empty_is_unknown: bool) -> list[Value]:
    """In a free-form object "every string and number at any depth is a value, and so is every key"."""
    if role in PATH_ROLES | URL_ROLES:
        raise Refused("resolve", "value_type")
    values = []
    for key, child in item.items():
        read = read_item(world, server, role, key, empty_is_unknown=False)
        sent = ", ".join(str(value.data) for value in read if value.state == "known")
        if role not in CARRIED_ROLES and sent != key and all(value.state == "known" for value in read):
            raise Refused("resolve", "value_spelling")  # a key "must be in canonical form"
        values += read
        for inner in flatten(child):
            values += read_item(world, server, role, inner, empty_is_unknown)
    return values


def check_flag(role: str, text: str) -> None:
    """A dash of any kind at the start is denied, but for a plain negative number outside path and url roles."""
    stripped = text.strip()  # "blanks around it ignored"
    dash = stripped and (unicodedata.category(stripped[0]) == "Pd" or stripped[0] in OTHER_DASHES)
    negative = role not in PATH_ROLES | URL_ROLES and re.fullmatch(r"-[0-9]+(\.[0-9]+)?", stripped)
    if role != "command" and dash and not negative:
        raise Refused("resolve", "value_flag")


def is_control(char: str) -> bool:
    return unicodedata.category(char) == "Cc"


def is_invisible(char: str) -> bool:
    return unicodedata.category(char) == "Cf" or ord(char) in INVISIBLE


# --- Paths --------------------------------------------------------------------------------------------------------


def canonical_path(world: World, server: str, text: str) -> tuple[str, tuple[str, ...]]:
    """Absolute, symlinks followed as far as they exist, NFC; or refused. With the links met on the way."""
    check_path_spelling(text)
    if text.startswith("~") and text != "~" and not text.startswith("~/"):
        raise Refused("resolve", "path_spelling")  # `~other`
    start = starting_point(world, server, text)
    if len(start.encode()) > MAX_PATH_BYTES:
        raise Refused("resolve", "path_spelling")
    links: list[str] = []
    path, _ = walk(nfc(start), links)
    check_path_spelling(path)  # "The same is asked of the canonical form"
    if nfc(path) != path:  # "a link to a name that is not in NFC is refused"
        raise Refused("resolve", "value_unstable")
    return path, tuple(links)


def check_path_spelling(text: str) -> None:
    """What is refused by its spelling alone."""
    if any(is_control(char) or char in BIDI or char in "$`" for char in text):
        raise Refused("resolve", "path_spelling")
    if SCHEME.match(text) or text.startswith("file:") or WINDOWS_PATH.search(text):
        raise Refused("resolve", "path_spelling")
    if WILDCARD.search(text):
        raise Refused("resolve", "path_wildcard")
    parts = [part for part in text.split("/") if part not in ("", ".", "..", "~")]
    if any(WINDOWS_COMPONENT.fullmatch(part) for part in parts):
        raise Refused("resolve", "path_spelling")
    sizes = [len(part.encode(errors="surrogateescape")) for part in parts]
    if len(text.encode(errors="surrogateescape")) > MAX_PATH_BYTES or max(sizes, default=0) > MAX_COMPONENT_BYTES:
        raise Refused("resolve", "path_spelling")


def starting_point(world: World, server: str, text: str) -> str:
    """`~` and `~/` mean `setup.home`; a relative path starts at `setup.pathBase[server]`, and without one is denied."""
    if text.startswith("/"):
        return text
    if text == "~" or text.startswith("~/"):
        return str(world.policy["setup"]["home"] + text[1:])
    if server in world.policy["setup"].get("pathBase", {}):
        return str(world.policy["setup"]["pathBase"][server] + "/" + text)
    raise Refused("resolve", "path_relative")


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def follow(text: str) -> str:
    return nfc(walk(nfc(text), [])[0])


def walk(text: str, links: list[str]) -> tuple[str, int]:
    """Where the path leads, and in how many steps: one component at a time, `..` after the link before it.

    To `links` it adds every link it meets, as "the link's own place with whatever was still to follow behind it".
    """
    todo = text.split("/")[::-1]
    here, count, steps = "/", 0, 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        steps += 1
        if part == "..":
            if os.path.lexists(here) and not os.path.isdir(here):  # "a file where a directory is expected, too"
                raise Refused("resolve", "path_unreadable")
            here = os.path.dirname(here)
            continue
        if len(part.encode(errors="surrogateescape")) > MAX_COMPONENT_BYTES:
            raise Refused("resolve", "path_spelling")
        candidate = os.path.join(here, part)
        if is_magic(candidate):  # "met at any point while following links: deny"
            raise Refused("invariants", "path_magic")
        try:
            mode = os.lstat(candidate).st_mode
        except FileNotFoundError:
            here = candidate
            continue
        except (OSError, ValueError):  # "a component that cannot be examined"
            raise Refused("resolve", "path_unreadable") from None
        if not stat.S_ISLNK(mode):
            here = candidate
            continue
        links.append(os.path.normpath("/".join([candidate, *todo[::-1]])))
        count += 1
        if count > MAX_SYMLINKS:
            raise Refused("resolve", "path_loop")
        target = os.readlink(candidate)
        here = "/" if target.startswith("/") else here
        todo += target.split("/")[::-1]
    return here, steps


def is_inside(path: str, directory: str) -> bool:
    """Inside the directory, or the directory itself; both canonical."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def has_other_names(path: str) -> bool:
    """A regular file with hard links: not inside anything for the purposes of an allow or of containment."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1


# --- URLs and hosts -----------------------------------------------------------------------------------------------


def canonical_url(text: str) -> str:
    """http or https with a canonical host, no dot segments, no default port; or a bare host with or without a port."""
    if any(char.isspace() or is_control(char) or is_invisible(char) or char == "\\" for char in text):
        raise Refused("resolve", "url_spelling")
    bare = re.fullmatch(r"(\[[^\]]*\]|localhost|[^/?#@:\[\]]*\.[^/?#@:\[\]]+)(:[0-9]*)?|[^/?#@:\[\]]+", text)
    full = re.fullmatch(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)(.*)", text)
    if full and full[1].lower() not in ("http", "https"):
        raise Refused("resolve", "url_scheme")
    if not bare and not full:
        raise Refused("resolve", "url_scheme" if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) else "url_spelling")
    scheme = full[1].lower() if full else ""
    authority = full[2] if full else text
    if "@" in authority:
        raise Refused("resolve", "url_userinfo")
    parts = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(:[0-9]*)?", authority)
    if not parts:
        raise Refused("resolve", "url_spelling")
    port = parts[2] or ""
    if port and not (re.fullmatch(r":[0-9]{1,5}", port) and 1 <= int(port[1:]) <= 65535):
        raise Refused("resolve", "url_spelling")
    host = canonical_host(parts[1])
    number = int(port[1:]) if port else None
    if number == {"http": 80, "https": 443}.get(scheme):
        number = None
    shown = (f"[{host}]" if ":" in host else host) + ("" if number is None else f":{number}")
    return f"{scheme}://{shown}{without_dots(full[3])}{full[4]}" if full else shown


def without_dots(path: str) -> str:
    """Dot segments removed, `%2e` read as a dot."""
    kept: list[str] = []
    segments = path.split("/")
    for index, segment in enumerate(segments):
        plain = re.sub(r"(?i)%2e", ".", segment)
        if plain == ".." and len(kept) > 1:
            kept.pop()
        if plain not in (".", ".."):
            kept.append(segment)
        elif index == len(segments) - 1:
            kept.append("")
    return "/".join(kept)


def canonical_host(text: str) -> str:
    """An address in its one spelling, or a name in ASCII lower case."""
    if text.startswith("["):
        return canonical_ipv6(text[1:-1])
    if "%" in text:
        raise Refused("resolve", "host_spelling")
    mapped = unicodedata.normalize("NFKC", re.sub("[\u3002\uff0e\uff61]", ".", text)).lower()
    mapped = "".join(char for char in mapped if unicodedata.category(char) != "Cf")
    labels = mapped.removesuffix(".").split(".")
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):  # "IPv4 in any spelling but four decimal numbers"
        octet = r"(0|[1-9][0-9]{0,2})"
        if not re.fullmatch(rf"{octet}(\.{octet}){{3}}", text) or any(int(label) > 255 for label in labels):
            raise Refused("resolve", "host_spelling")
        return text
    ascii_labels = []
    for label in labels:
        shown = label if label.isascii() else "xn--" + label.encode("punycode").decode()
        if not re.fullmatch(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", shown):
            raise Refused("resolve", "host_spelling")
        unicode_label(shown)
        ascii_labels.append(shown)
    if len(".".join(ascii_labels)) > 253:
        raise Refused("resolve", "host_spelling")
    return ".".join(ascii_labels)


def unicode_label(label: str) -> str:
    """What a person would see."""
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode().decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        raise Refused("resolve", "host_spelling") from None


def canonical_ipv6(text: str) -> str:
    """No zone ids and no transition forms: mapped, compatible, 6to4, NAT64, Teredo, ISATAP."""
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise Refused("resolve", "host_spelling") from None
    nat64 = [ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48")]
    compatible = int(address) >> 32 == 0 and int(address) > 1
    isatap = (int(address) >> 32) & 0xFFFFFFFF in (0x00005EFE, 0x02005EFE)
    transition = address.ipv4_mapped or address.sixtofour or address.teredo or compatible or isatap
    if transition or address.scope_id or any(address in network for network in nat64):
        raise Refused("resolve", "host_spelling")
    return address.compressed


def host_of(value: Value) -> str | None:
    """The host of a URL or of an address, or None."""
    if value.role in URL_ROLES or (value.role in PLACE_ROLES and is_url(value.data)):
        authority = re.split(r"[/?#]", value.data.split("://", 1)[-1])[0]
        return re.sub(r":[0-9]+$", "", authority) if not authority.startswith("[") else authority[1:].split("]")[0]
    if value.role in PARTY_ROLES and isinstance(value.data, str) and re.fullmatch(r"[^@]+@[^@]+", value.data):
        return value.data.split("@")[1]
    return None


def host_of_place(value: Value) -> str | None:
    """The host that a place leads to which is no URL: `git@host:path`, `host/path`, `ann@host`.

    "What stands before its first `:` or `/`, of that what stands after the last `@`; without `:` and `/` it has one
    only if it has an `@`. What is no name or address of a host as in a URL is none."
    """
    if value.role not in PLACE_ROLES or not isinstance(value.data, str) or is_url(value.data):
        return None
    if not re.search("[:/@]", value.data):
        return None
    try:
        return canonical_host(re.split("[:/]", value.data)[0].rpartition("@")[2])
    except Refused:
        return None


def is_url(data: Any) -> bool:
    return isinstance(data, str) and bool(SCHEME.match(data))


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


# --- Parties ------------------------------------------------------------------------------------------------------


def read_parties(role: str, text: str) -> list[Value]:
    """The entries of a list of addresses and names, or one opaque value for what cannot be read as one."""
    if "\0" in text:
        raise Refused("resolve", "value_spelling")
    if len(text) > MAX_PARTIES_CHARACTERS or any(is_control(char) or is_invisible(char) for char in text):
        return [Value(role, text, "opaque")]
    entries = split_parties(text)
    if entries == []:  # "a string of separators only is unknown"
        return [Value(role, None, "unknown")]
    if entries is None or len(entries) > MAX_PARTIES:
        return [Value(role, text, "opaque")]
    parties = [party for party in map(read_party, entries) if party is not None]
    if len(parties) < len(entries):
        return [Value(role, text, "opaque")]
    for party in parties:
        check_flag(role, party)
    return [Value(role, party) for party in parties]


def split_parties(text: str) -> list[str] | None:
    """Split at `,` and `;` outside quotes and angle brackets; None when these do not balance."""
    entries, entry, quoted, angled = [], "", False, False
    for char in text:
        if char == '"':
            quoted = not quoted
        elif char in "<>" and not quoted:
            if angled != (char == ">"):
                return None
            angled = not angled
        if char in ",;" and not quoted and angled:  # "a separator between angle brackets"
            return None
        if char in ",;" and not quoted:
            entries.append(entry)
            entry = ""
        else:
            entry += char
    if quoted or angled:
        return None
    return [entry for entry in [*entries, entry] if entry.strip()]


def read_party(entry: str) -> str | None:
    """An address in canonical form, a name as it stands, or None."""
    # Opaque are "`%`, `!` or `=?` in an entry, an entry that is not in NFKC form or longer than 1,000 characters".
    if re.search(r"%|!|=\?", entry) or unicodedata.normalize("NFKC", entry) != entry:
        return None
    if len(entry) > MAX_PARTY_CHARACTERS:
        return None
    entry = entry.strip()
    unquoted = re.sub(r'"[^"]*"', "", entry)
    if any(unquoted.count(left) != unquoted.count(right) for left, right in ("()", "[]")):
        return None
    if "<" in unquoted and not unquoted.endswith(">"):
        return None
    party = entry[entry.rindex("<") + 1 : -1].strip() if "<" in unquoted else entry
    # "no address there": between the angle brackets
    if not party or unquoted.count("<") > 1 or ("<" in unquoted and "@" not in party[1:]):
        return None
    if "@" not in party[1:]:
        # "A telephone number in international form is its digits": blanks, dots, dashes and slashes in it say nothing.
        return re.sub(r"[ ./-]", "", party) if re.fullmatch(r"\+[0-9][0-9 ./-]{4,}[0-9]", party) else party
    address = re.fullmatch(r"([\w#$&'*+/=?^`{|}~.-]+)@([^@\[\]]+)", party)
    if not address:
        return None
    try:
        return address[1].lower() + "@" + canonical_host(address[2])
    except Refused:
        return None


# --- Stray strings ------------------------------------------------------------------------------------------------


def every_string(node: Any) -> list[str]:
    """Every string in the arguments, object keys included."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, dict):
        return [*node, *(text for child in node.values() for text in every_string(child))]
    if isinstance(node, list):
        return [text for child in node for text in every_string(child)]
    return []


def is_blank(char: str) -> bool:
    """A blank "of any script, control and zero-width characters included"."""
    return char.isspace() or is_control(char) or is_invisible(char) or char in OTHER_BLANKS


def without_blanks_before(text: str) -> str:
    return "".join(itertools.dropwhile(is_blank, text))


def without_blanks_after(text: str) -> str:
    return without_blanks_before(text[::-1])[::-1]


def tildes(world: World) -> tuple[str, str]:
    """`~/`, and `~name/`, "where `name` is the last name of `setup.home`; it means the same as `~/`"."""
    return "~/", "~" + os.path.basename(world.policy["setup"]["home"].rstrip("/")) + "/"


def looks_like_path(world: World, text: str) -> bool:
    """Starts with `/`, `.`, `~/`, `~name/` or `file:`, "blanks before it ignored"."""
    start = without_blanks_before(text)
    return start.startswith(("/", ".", *tildes(world))) or is_file_url(start)


def is_file_url(text: str) -> bool:
    """`file:` "in any case, also behind other schemes: `jar:file:`"; the tabs that do not count do not count here."""
    return bool(FILE_URL.match(text.replace("\t", "")))


def stray_strings(world: World, texts: list[str], values: list[Value], commands: list[str]) -> tuple[str, ...]:
    """Every string that looks like a path and is no value of a path role, "as it was received and as it is sent"."""
    already = set(texts)
    sent = [value.data for value in values if value.state == "known" and isinstance(value.data, str)]
    texts = texts + [text for text in sent if text not in already]
    for command in commands:  # "the words of a command are stray strings"
        texts += [word for word in COMMAND_WORDS.split(command) if word and word != command]
    return tuple(text for text in texts if looks_like_path(world, text))


def forms_of_stray(world: World, server: str, text: str) -> list[str]:
    """The text in all its lengths, each in its forms as a path."""
    found = []
    for spelling in lengths(without_blanks_before(text)):
        plain = plain_file_url(spelling) if is_file_url(spelling) else spelling
        found += [form for piece in lengths(plain) for form in forms_of_path(world, server, piece)]
    return found


def plain_file_url(text: str) -> str:
    """ "Without authority, query, fragment, tabs and percent-encoding and with backslashes as slashes"."""
    text = text.replace("\t", "").replace("\\", "/")
    behind = re.sub("^//[^/?#]*", "", text[FILE_URL.match(text).end() :])  # type: ignore[union-attr]
    return "/" + unquote(re.split(r"[?#]", behind)[0]).replace("\\", "/").lstrip("/")


def lengths(text: str) -> list[str]:
    """Whole, and "only up to its first NUL or line break"; both "with and without" the blanks after it."""
    cut = re.split(r"[\0\n\r]", text)[0]
    return list(dict.fromkeys([text, without_blanks_after(text), cut, without_blanks_after(cut)]))


def forms_of_path(world: World, server: str, text: str) -> list[str]:
    """The lexical form; the resolved one unless the text is too long, has a line break or does not resolve; the links.

    A stray "is never rewritten": what a server would open is this spelling, or its NFC form.
    """
    for tilde in tildes(world):
        if text.startswith(tilde):
            text = world.policy["setup"]["home"] + text[len(tilde) - 1 :]
    if text.startswith("."):
        base = world.policy["setup"].get("pathBase", {}).get(server)
        if base is None:
            return [os.path.normpath(text)]
        text = base + "/" + text
    forms = ["/" + os.path.normpath(text).lstrip("/")]
    if len(text.encode()) > MAX_PATH_BYTES or "\n" in text or "\r" in text:
        return forms
    for spelling in dict.fromkeys([text, nfc(text)]):
        links: list[str] = []
        try:
            forms.append(walk(spelling, links)[0])
        except Refused as refusal:
            if refusal.verdict.code == "path_magic":
                raise
        forms += links
    return forms


# === (3) Invariants ===============================================================================================


def folded(text: str) -> tuple[str, ...]:
    """Components without regard to case, width, accents and invisible characters; one of only these is none."""
    return tuple(fold(part) for part in text.split("/") if fold(part))


@functools.cache
def fold(name: str) -> str:
    for _ in range(2):
        name = unicodedata.normalize("NFKD", name)
        name = "".join(char for char in name if not is_mark(char) and not is_invisible(char))
        name = name.upper().casefold()
    return name


def is_mark(char: str) -> bool:
    return unicodedata.category(char) in ("Mn", "Me")


def compared(path: str) -> tuple[Part, ...]:
    """The components of a path: "a group in brackets is compared as itself and as any one character"."""
    return tuple(
        tuple(tuple(option if option is ANY else fold(option) for option in piece) for piece in choices(part))
        for part in path.split("/")
        if fold(part)
    )


def choices(component: str) -> Part:
    """`a[bc]` is `a`, and then `[bc]`, `b`, `c` (which may fold to more than one character) or any one character."""
    found: list[tuple[str | None, ...]] = []
    end = 0
    for group in BRACKET.finditer(component):
        found += [(component[end : group.start()],), (group[0], *group[0][1:-1], ANY)]
        end = group.end()
    return tuple(piece for piece in [*found, (component[end:],)] if piece != ("",))


def may_spell(part: Part, wanted: str) -> bool:
    """One choice of spellings gives exactly this name."""
    ends = {0}
    for options in part:
        fixed = [option for option in options if option is not ANY]
        after = {end + len(option) for end in ends for option in fixed if wanted.startswith(option, end)}
        ends = after | {end + 1 for end in ends if ANY in options and end < len(wanted)}
    return len(wanted) in ends


def may_start(parts: tuple[Part, ...], names: tuple[str, ...]) -> bool:
    """The path may be this one or something below it."""
    return len(parts) >= len(names) and all(map(may_spell, parts, names))


@functools.cache
def is_magic(path: str) -> bool:
    """engine.md 3.1, everything below included; brackets are compared here too."""
    parts = [choices(part) for part in [part for part in path.split("/") if part][:2]]
    if not path.startswith("/") or len(parts) < 2:
        return False
    if may_spell(parts[0], "proc") and all(any(o is ANY or re.fullmatch("[0-9]+", o) for o in p) for p in parts[1]):
        return True
    return any(may_spell(parts[0], top) and may_spell(parts[1], name) for top in MAGIC for name in MAGIC[top])


def both_forms(path: str) -> list[str]:
    """A protected place as it is written and as it resolves: it is protected whether or not it exists yet."""
    try:
        return [os.path.normpath(path), follow(path)]
    except Refused:
        return [os.path.normpath(path)]


def homes(world: World) -> list[str]:
    return both_forms(world.home) + both_forms(world.policy["setup"]["home"] + "/.ironcurtain")


def protected_files(world: World) -> list[str]:
    under_home = [world.policy["setup"]["home"] + "/" + name for name in PROTECTED_UNDER_HOME]
    return [form for path in (*world.files, *under_home) for form in both_forms(path)]


def is_protected(world: World, path: str) -> bool:
    """Inside a home (without its `sandbox/`), a file in use, a client's configuration, or a project-level one.

    "Where something protected lies inside an exception, the longer name decides": a `sandbox/` excepts from its own
    home only.
    """
    parts = compared(path)
    for home in homes(world):
        if may_start(parts, folded(home)) and not is_inside(path, home + "/sandbox"):
            return True
    if any(may_start(parts, folded(file)) for file in protected_files(world)):
        return True
    return any(has_run(parts, name) for name in PROTECTED_NAMES)


def is_ancestor(world: World, path: str) -> bool:
    """A proper ancestor of something protected that has a place of its own."""
    parts = compared(path)
    places = [folded(place) for place in homes(world) + protected_files(world)]
    return any(len(parts) < len(place) and may_start(parts, place[: len(parts)]) for place in places)


def has_run(parts: tuple[Part, ...], name: str) -> bool:
    """The components of `name` occur one after the other anywhere in the path."""
    return any(may_start(parts[i:], folded(name)) for i in range(len(parts)))


def check_paths(world: World, resolved: Resolved) -> list[Verdict]:
    """engine.md 3.1 to 3.5: raises what is denied, returns what is at most escalate."""
    forms = {form: None for text in resolved.strays for form in forms_of_stray(world, resolved.server, text)}
    for form in forms:
        check_any_path(world, form)
    at_most: list[Verdict] = []
    for value in resolved.values:
        if value.role in PATH_ROLES and value.state == "opaque":
            at_most += check_name(world, "/" + value.data, changes=value.role != "read-path")
        if value.role not in PATH_ROLES or value.state != "known":
            continue
        changes = value.role != "read-path"
        places = [value.data, *value.links]  # "and for every link met on the way (for 1, 2 and 4)"
        for path in places:
            check_any_path(world, path)
        if has_other_names(value.data):  # "A file with other names (hard links): at most escalate."
            at_most.append(Verdict("escalate", "invariants", "path_shared"))
        if is_ancestor(world, value.data):
            if changes:
                raise Refused("invariants", "path_ancestor")
            at_most.append(Verdict("escalate", "invariants", "path_ancestor"))
        if changes and any(steers(path) or is_program(world, path) for path in places):
            raise Refused("invariants", "path_steering")
        if changes and any(steers_perhaps(path) for path in places):
            at_most.append(Verdict("escalate", "invariants", "path_steering"))
    return at_most


def check_name(world: World, name: str, *, changes: bool) -> list[Verdict]:
    """Of a relative name without a starting point, 2 and 4 are asked as if it began at the root."""
    if is_protected(world, name):
        raise Refused("invariants", "path_protected")
    if changes and (steers(name) or is_program(world, name)):
        raise Refused("invariants", "path_steering")
    return [Verdict("escalate", "invariants", "path_steering")] if changes and steers_perhaps(name) else []


def is_program(world: World, path: str) -> bool:
    """ "IronCurtain's own program (its package, and all of the virtual environment it is in)"."""
    return any(may_start(compared(path), tuple(map(fold, own.split("/")[1:]))) for own in world.program)


def steers(path: str) -> bool:
    """engine.md 3.4, deny: what steers agents, or inside a directory named `.git`, `.claude` ..."""
    return any(has_run(compared(path), name) for name in (*STEERING_NAMES, GIT_DIRECTORY))


def steers_perhaps(path: str) -> bool:
    """engine.md 3.4, at most escalate: some files, "and of a directory `.github` or `.vscode` itself"."""
    parts = compared(path)
    if any(has_run(parts, name) for name in GIT_STEERING_NAMES):
        return True
    return any(may_spell(part, fold(name)) for part in parts[-1:] for name in STEERING_PARENTS)


def check_any_path(world: World, path: str) -> None:
    """What is asked of "every path value and stray string", and of the links on the way, alike: 3.1 and 3.2."""
    if is_magic(path):
        raise Refused("invariants", "path_magic")
    if is_protected(world, path):
        raise Refused("invariants", "path_protected")


def check_hosts(world: World, resolved: Resolved) -> list[Verdict]:
    """A metadata service: deny. A private host: deny unless named exactly. A confusable one: at most escalate."""
    at_most = []
    allows = [rule for rule in world.policy["rules"] if rule["then"] == "allow"]
    for value in (value for value in resolved.values if value.state == "known"):
        host, of_place = host_of(value), host_of_place(value)
        if value.role in HOST_ROLES and {host, of_place} & set(METADATA_HOSTS):
            raise Refused("invariants", "host_metadata")
        # Of a place that is no URL: "an address (not a name) that is not public: deny", whatever rules name it.
        if of_place is not None and is_address(of_place) and is_private(of_place):
            raise Refused("invariants", "host_private")
        private = value.role in HOST_ROLES and host is not None and is_private(host)
        if private and not any(names_host(rule, host) for rule in allows):
            raise Refused("invariants", "host_private")
        if any(is_confusable(unicode_label(label)) for label in (host or of_place or "").split(".")):
            at_most.append(Verdict("escalate", "invariants", "host_confusable"))
    return at_most


def is_private(host: str) -> bool:
    """A non-global address, a name without a dot, or one that ends in a private suffix."""
    if not is_address(host):
        return "." not in host or any(host.endswith("." + suffix) or host == suffix for suffix in PRIVATE_SUFFIXES)
    address = ipaddress.ip_address(host)
    return not address.is_global or address.is_multicast or address.is_reserved


def names_host(rule: Table, host: str | None) -> bool:
    """A `domains` condition "names exactly that host (itself, not through a list)", nor by a wildcard."""
    return any(host == canonical_entry(entry) for entry in rule["if"].get("domains", {}).get("allowed", []))


def may_open(rule: Table, claim: Claim) -> bool:
    """ "Only such a rule can then allow the claim": the one that names the private host in its `domains` for the role."""
    for value in claim.values:
        host = host_of(value) if value.role in HOST_ROLES and value.state == "known" else None
        if host is not None and is_private(host):
            roles = rule["if"].get("domains", {}).get("roles", [])
            if claim.role not in roles or not names_host(rule, host):
                return False
    return True


def is_confusable(label: str) -> bool:
    """A label that mixes scripts or imitates ASCII letters."""
    letters = [char for char in label if char.isalpha()]
    if all(char.isascii() for char in letters):
        return False
    scripts = {unicodedata.name(char, "UNKNOWN").split()[0].split("-")[0] for char in letters}
    usual = ({"CJK", "HIRAGANA", "KATAKANA"}, {"CJK", "HANGUL"}, {"CJK", "BOPOMOFO"})
    mixed = len(scripts) > 1 and not any(scripts <= together for together in usual)
    return mixed or all(char.isascii() or char in LOOKALIKES for char in letters)


# === (4) Access ===================================================================================================


def check_access(world: World, resolved: Resolved, principal: Table) -> None:
    """A tool must pass every layer; a subagent passes its parent's layers and its own."""
    for layer in layers(world.config, principal):
        check_layer(world.config, layer, resolved)
    if principal.get("subagent", False):
        check_layer(world.config, {"deny": SUBAGENT_DENIED_NAMES}, resolved)
        if resolved.tool_roles & SUBAGENT_DENIED_ROLES:
            raise Refused("access", "access_denied")


def layers(config: Table, principal: Table) -> list[Table]:
    """Global, provider, agent, group or member, subagents: those that the principal falls under."""
    tools = config.get("tools", {})
    found = [tools]
    provider = normal(principal.get("provider", ""))
    while provider:  # the most specific key that fits
        if entry(tools.get("byProvider", {}), provider) is not None:
            found.append(entry(tools["byProvider"], provider))
            break
        provider = provider.rpartition("/")[0]
    agent = normal(principal.get("agent", ""))
    while agent:  # every agent that it works for, and itself
        found.append((entry(config.get("agents", {}), agent) or {}).get("tools", {}))
        agent = agent.rpartition("/")[0]
    group = entry(config.get("groups", {}), principal.get("group", "")) or {}
    member = entry(group.get("toolsByMember", {}), principal.get("member", ""))
    found.append(group.get("tools", {}) if member is None else member)  # "replaces the group's own entry"
    if principal.get("subagent", False):
        found.append(tools.get("subagents", {}).get("tools", {}))
    return found


def entry(table: Table, name: str) -> Any:
    """The entry of a table whose key is this name, compared trimmed and in lower case."""
    return next((body for key, body in table.items() if normal(key) == normal(name)), None)


def check_layer(config: Table, layer: Table, resolved: Resolved) -> None:
    """Blocks what matches a `deny`; passes if there is no list; otherwise requires a match in each list."""
    if is_listed(config, layer.get("deny", []), resolved, deny=True):
        raise Refused("access", "access_denied")
    extra = is_listed(config, layer.get("alsoAllow", []), resolved)
    if "profile" in layer and not extra and not in_profile(config, layer["profile"], resolved):
        raise Refused("access", "access_not_listed")
    if "allow" in layer and not extra and not is_listed(config, layer["allow"], resolved):
        raise Refused("access", "access_not_listed")


def in_profile(config: Table, profile: str, resolved: Resolved) -> bool:
    """`analysis` also holds "every tool whose only resource role is read-path"."""
    if profile == "analysis" and resolved.tool_roles - CARRIED_ROLES == {"read-path"}:
        return True
    return is_listed(config, PROFILES[profile], resolved)


def is_listed(
    config: Table, patterns: Any, resolved: Resolved, *, deny: bool = False, inside: tuple[str, ...] = ()
) -> bool:
    """Groups expand first: they hold the listed names and every tool with one of the roles."""
    custom = {
        normal(name).removeprefix("group:"): held for name, held in config.get("tools", {}).get("groups", {}).items()
    }
    for pattern in patterns:
        word = normal(pattern)
        if not word.startswith("group:"):
            if pattern_fits(config, word, resolved, deny):
                return True
            continue
        name = word.removeprefix("group:")
        names, roles = BUILT_IN_GROUPS.get(name, ((), set()))
        held = [*names, *custom.get(name, [])]
        if roles & resolved.tool_roles:
            return True
        if name not in inside and is_listed(config, held, resolved, deny=deny, inside=(*inside, name)):
            return True
    return False


def pattern_fits(config: Table, word: str, resolved: Resolved, deny: bool) -> bool:
    """Without a slash compared with the tool's name, with one with `server/tool`; aliases resolved.

    "A deny also catches the name as it stands."
    """
    raw = normal(resolved.tool["toolName"])
    patterns = {dealias(config, word)} | ({word} if deny else set())
    names = {dealias(config, raw)} | ({raw} if deny else set())
    full = {normal(resolved.server) + "/" + name for name in names}
    if deny:  # "a deny without a slash also catches a tool whose name has one"
        names |= {"/".join(name.split("/")[i:]) for name in names for i in range(1, name.count("/") + 1)}
        names |= {dealias(config, name) for name in names}
    for pattern in patterns:
        for candidate in full if "/" in pattern else names:
            if candidate.startswith(pattern[:-1]) if pattern.endswith("*") else candidate == pattern:
                return True
    return False


def normal(name: str) -> str:
    return name.strip().lower()


def dealias(config: Table, name: str) -> str:
    """Aliases resolved, "also behind `server/`, and aliases of aliases"."""
    own = {normal(key): normal(value) for key, value in config.get("tools", {}).get("aliases", {}).items()}
    aliases = {"bash": "bash_execute", **own}
    for _ in aliases:
        server, slash, tool = name.rpartition("/")
        name = aliases[name] if name in aliases else server + slash + aliases.get(tool, tool)
    return name


# === (5) Task =====================================================================================================


def check_task(world: World, task: Table) -> None:
    """A task policy that has expired, or whose `version` or rules do not load, denies."""
    if set(task) != {"version", "task", "expiresAt", "rules"} or not isinstance(task["task"], str):
        raise Refused("task", "task_malformed")
    if not same(task["version"], 1) or not rules_load(task["rules"], world):
        raise Refused("task", "task_malformed")
    try:
        expires = utc(task["expiresAt"])
    except (ValueError, TypeError):
        raise Refused("task", "task_malformed") from None
    if utc(world.now) >= expires:
        raise Refused("task", "task_expired")


def utc(text: str) -> dt.datetime:
    """A UTC time such as `2026-11-15T08:00:00Z`."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", text, re.ASCII):
        raise ValueError(text)
    return dt.datetime.fromisoformat(text)


# === (5) and (6) Rules ============================================================================================


def judge(world: World, resolved: Resolved, rules: list[Table], stage: str) -> Verdict:
    """Each claim goes through the chain on its own; "the most restrictive claim decides the call"."""
    decision, code = strictest([judge_claim(world, resolved, rules, claim) for claim in resolved.claims])
    return Verdict(decision, stage, code)


def judge_claim(world: World, resolved: Resolved, rules: list[Table], claim: Claim) -> Outcome:
    """The first applicable rule whose conditions hold decides the claim.

    It is joined with those before it that were unanswered or `joined`.
    """
    pending: list[Outcome] = []
    for rule in rules:
        if not applies(world, resolved, rule, claim):
            continue
        came = comes_from(world, resolved, rule)
        if came is False:
            continue
        unanswered = "assess" in rule["if"] or ("origin" in rule["if"] and came is None)
        outcome = (rule["then"], "rule_" + rule["then"])
        try:
            holds = conditions_hold(world, resolved, rule, claim)
        except RuleError:
            # "An error in a deny or escalate denies the claim; in an allow the rule does not match."
            if rule["then"] == "allow":
                continue
            return strictest([*pending, ("deny", "rule_error")])
        if not holds or (unanswered and rule["then"] == "allow") or is_excepted(world, resolved, rule, claim):
            continue
        if not unanswered and not rule.get("joined"):
            return strictest([*pending, outcome])
        pending.append(outcome)  # "joined to whatever follows and does not end the scan"
    if is_contained(world, claim):
        return strictest([*pending, ("allow", "contained")])
    return strictest([*pending, ("deny", "no_rule")])


def comes_from(world: World, resolved: Resolved, rule: Table) -> bool | None:
    """Whether whoever calls has seen a result of what `from` names; None where nobody knows, or in an allow."""
    if "origin" not in rule["if"] or rule["then"] == "allow" or resolved.sources is None:
        return None
    said = rule["if"]["origin"]["from"]
    seen = False
    for word in [said] if isinstance(said, str) else said:
        meant = [
            tool for server in world.annotations["servers"].values() for tool in server["tools"] if is_meant(word, tool)
        ]
        if not meant:
            return None
        seen = seen or any(f"{tool['serverName']}/{tool['toolName']}" in resolved.sources for tool in meant)
    return seen


def is_meant(word: str, tool: Table) -> bool:
    """`result`: any tool; `role:R`: one with that role; else a server, or server/tool, in which a star is any text."""
    if word == "result":
        return True
    if ":" in word:
        kind, role = word.split(":", 1)
        return kind == "role" and role in annotated_roles(tool)
    server, slash, name = word.partition("/")
    return is_named(tool["serverName"], [server]) and (not slash or is_named(tool["toolName"], [name]))


def strictest(outcomes: list[Outcome]) -> Outcome:
    """The strictest of some (decision, code) pairs; between equals the earlier one."""
    return max(outcomes, key=lambda outcome: STRICTNESS[outcome[0]])


def is_contained(world: World, claim: Claim) -> bool:
    """A `read-path` or `write-path` value inside the sandbox; never a file that has other names."""
    if claim.role not in ("read-path", "write-path") or claim.values[0].state != "known":
        return False
    path = claim.values[0].data
    return is_inside(path, follow(world.policy["setup"]["sandbox"])) and not has_other_names(path)


def named_roles(rule: Table) -> set[str]:
    """A rule names the roles in its `roles`, `paths`, `domains`, `lists`, `origin` and `role:` keys."""
    conditions = rule["if"]
    named = set(conditions.get("roles", []))
    for key in ("paths", "domains", "origin"):
        named |= set(conditions.get(key, {}).get("roles", []))
    for membership in conditions.get("lists", []):
        named |= set(membership["roles"])
    for subject in conditions.get("values", {}):
        named |= roles_of(subject)
    return named


def roles_of(subject: str) -> set[str]:
    """`role:recipient+attendee` speaks of both roles, `arg:to` of none."""
    kind, _, name = subject.partition(":")
    return set(name.split("+")) if kind == "role" else set()


def applies(world: World, resolved: Resolved, rule: Any, claim: Claim) -> bool:
    """The table "Applicability" and the two exceptions below it."""
    named = named_roles(rule)
    allow = rule["then"] == "allow"
    names_tool = "tool" in rule["if"] or "server" in rule["if"]
    if rule.get("elsewhere") and is_contained(world, claim):
        return False
    sends = any(other.role in SENDING_ROLES for other in resolved.claims)
    if allow and named & READ_ROLES and not names_tool and sends:  # reading is not sending
        return False
    if named and claim.kind == "carried" and rule["then"] == "escalate":
        return claim.role in named or has_value_to_ask_about(world, resolved, rule, named)
    if named:
        return claim.role in named or (allow and claim.kind == "carried")
    if not allow or names_tool:
        return True
    return claim.kind in ("carried", "call")


def has_value_to_ask_about(world: World, resolved: Resolved, rule: Table, named: set[str]) -> bool:
    """The call "has a value of one of these roles; with `elsewhere`, a value that is not contained"."""
    values = [value for value in resolved.values if value.role in named]
    if rule.get("elsewhere"):
        values = [value for value in values if not is_contained(world, Claim("resource", value.role, (value,)))]
    return bool(values)


def conditions_hold(world: World, resolved: Resolved, rule: Table, claim: Claim) -> bool:
    """All must hold. One that fails settles it; otherwise one that cannot be evaluated is an error."""
    if rule["then"] == "allow" and not may_open(rule, claim):
        return False
    error = None
    for key, body in single_conditions(rule["if"]):
        try:
            if not condition_holds(world, resolved, claim, rule["then"] == "allow", key, body):
                return False
        except RuleError as problem:
            error = problem
    if error:
        raise error
    return True


def is_excepted(world: World, resolved: Resolved, rule: Table, claim: Claim) -> bool:
    """One group of `unless` "holds in full; groups are not combined".

    "Polarity is turned round": in a deny or escalate it is read as in an allow, and there an error does not pass; in an
    allow it is read as in a deny, and there an error passes.
    """
    as_in_allow = rule["then"] != "allow"
    for group in rule["if"].get("unless", []):
        results = []
        for key, body in single_conditions(group):
            try:
                results.append(condition_holds(world, resolved, claim, as_in_allow, key, body))
            except RuleError:
                results.append(not as_in_allow)
        if all(results):
            return True
    return False


def single_conditions(conditions: Table) -> list[tuple[str, Any]]:
    """Each entry of `lists` and of `values` is a condition of its own.

    `assess` and `origin` are not answered here, and `unless` holds no conditions of the rule (see `is_excepted`).
    """
    apart = ("lists", "values", "assess", "origin", "unless")
    found = [(key, body) for key, body in conditions.items() if key not in apart]
    found += [("lists", membership) for membership in conditions.get("lists", [])]
    return found + [("values", item) for item in conditions.get("values", {}).items()]


def condition_holds(world: World, resolved: Resolved, claim: Claim, allow: bool, key: str, body: Any) -> bool:
    if key == "server":
        return is_named(resolved.server, body)
    if key == "tool":
        return is_named(resolved.tool["toolName"], body)
    if key == "sideEffects":
        return same(resolved.tool["sideEffects"], body)
    if key == "roles":  # "the tool's annotation has an argument with one of the roles in any mode"
        return bool(resolved.tool_roles & set(body))
    if key == "values":
        return predicate_holds(world, resolved, claim, allow, *body)
    values = values_for(resolved, claim, body["roles"])
    if key == "paths":
        return holds_for(values, lambda value: path_test(world, value, body["within"], allow), allow)
    if key == "domains":
        return holds_for(values, lambda value: domain_test(world, value, body["allowed"], allow), allow)
    return holds_for(values, lambda value: list_test(world, value, body["allowed"], allow), allow)


def is_named(name: str, patterns: Any) -> bool:
    """`*` stands for any run of characters."""
    shapes = [".*".join(re.escape(piece) for piece in pattern.split("*")) for pattern in patterns]
    return any(re.fullmatch(shape, name, re.DOTALL) for shape in shapes)


def values_for(resolved: Resolved, claim: Claim, roles: list[str]) -> Values:
    """The claim's own value if its role is among them, otherwise all values of these roles in the call."""
    if claim.role in roles:
        return claim.values
    return tuple(value for value in resolved.values if value.role in roles)


def holds_for(values: Values, test: Test, allow: bool) -> bool:
    """In an allow there must be at least one and all must pass; in a deny or escalate one is enough."""
    results = [value_passes(value, test, allow) for value in values]
    return bool(results) and all(results) if allow else any(results)


def value_passes(value: Value, test: Test, allow: bool) -> bool:
    if value.state != "known":  # "satisfies no condition on a value in an allow and every one in a deny or escalate"
        return not allow
    if value.role != "command" or not isinstance(value.data, str):
        return test(value)
    if value.language == "sql":  # "conditions look at its whole text and at nothing else"
        return not allow if is_veiled(value.data) else test(value)
    if allow:  # "opaque in an allow"
        return not is_shell(value) and test(value)
    parts = [part for part in SHELL_SEPARATOR.split(value.data) if part.strip()]
    if SHELL_UNREADABLE.search(value.data) or len(parts) > MAX_COMMAND_PARTS:
        return True
    texts = [spelling for text in (value.data, *parts) for spelling in spellings(text)]
    results = [test(replace(value, data=text)) for text in texts]  # all of them, for the errors
    return any(results)


def spellings(text: str) -> list[str]:
    """A part of a command, "also without blanks, `(`, `{` or `!` before it and blanks, `)` or `}` after it".

    "And, after that, without the words before the command itself": one more of them at a time, and each time also
    without what stands between it and the command. All "with runs of blanks as one space" too.
    """
    rest = re.sub(r"^[\s({!]+|[\s)}]+$", "", text)
    found = [text, rest]
    while word := WORD_BEFORE_COMMAND.match(rest):
        behind = rest[word.end() :]
        rest = re.sub(r"^[\s({!]+", "", behind)
        found += [behind, rest]
    return found + [re.sub(r"\s+", " ", spelling) for spelling in found]


def is_shell(value: Value) -> bool:
    """Separators, line breaks, redirections, substitution or a backslash in a command."""
    if value.role != "command" or not isinstance(value.data, str):
        return False
    if value.language == "sql":
        return is_veiled(value.data)
    return bool(SHELL_SEPARATOR.search(value.data) or SHELL_UNREADABLE.search(value.data))


def is_veiled(statement: str) -> bool:
    """A backslash, `|`, `&`, `$` before anything but a digit, a comment, or a `;` with something behind it."""
    characters = {"\\", "|", "&", "#"} & set(statement)
    dollars = any(after[:1] not in set("0123456789") for after in statement.split("$")[1:])
    comments = "--" in statement or "/*" in statement
    _, _, behind = statement.partition(";")
    return bool(characters or dollars or comments or behind.replace(";", " ").strip())


def path_test(world: World, value: Value, within: Any, allow: bool) -> bool:
    """Inside the directory, or one of a list of them; a file with other names is not inside for an allow."""
    if value.role not in PATH_ROLES:
        return False
    home = world.policy["setup"]["home"]
    try:
        places = [follow(home + one[1:] if one.startswith("~") else one) for one in directories_of(within)]
    except Refused:
        raise RuleError(within) from None
    inside = any(is_inside(value.data, directory) for directory in places)
    return inside and not (allow and has_other_names(value.data))


def domain_test(world: World, value: Value, allowed: list[Any], allow: bool) -> bool:
    """`example.com` is that host, `*.example.com` its subdomains at any depth, `@list` the entries of the list.

    Of a place that is no URL: "In a deny or escalate a `domains` condition looks at this host, in an allow it never
    holds."
    """
    host = host_of(value) if allow else host_of(value) or host_of_place(value)
    if host is None:
        return False
    for entry_text in expanded(world, allowed):
        if not isinstance(entry_text, str):
            continue
        if entry_text.startswith("*."):
            if not is_address(host) and host.endswith("." + canonical_entry(entry_text[2:])):
                return True
        elif host == canonical_entry(entry_text):
            return True
    return False


def canonical_entry(text: str) -> str:
    """A host as a rule or list spells it, in canonical form."""
    try:
        return canonical_host(f"[{text}]" if ":" in text else text)
    except Refused:
        return text.lower()


def expanded(world: World, allowed: list[Any]) -> list[Any]:
    """Literal entries, and `@list` replaced by its values."""
    found = []
    for item in allowed:
        if isinstance(item, str) and item.startswith("@"):
            if item[1:] not in world.lists:
                raise RuleError(item)
            found += world.lists[item[1:]]
        else:
            found.append(item)
    return found


def list_test(world: World, value: Value, allowed: list[Any], allow: bool) -> bool:
    return any(is_value(world, value, item, "role:" + value.role, allow) for item in expanded(world, allowed))


def is_value(world: World, value: Value, constant: Any, subject: str, allow: bool) -> bool:
    """Typed equality with the constant "in every form that the values of the role or argument can have".

    "In an allow every text is exact"; in a deny or escalate texts are compared folded.
    """
    forms = forms_of_constant(world, constant, subject)
    if not allow and isinstance(value.data, str):
        return any(folded_text(value.data) == folded_text(form) for form in forms if isinstance(form, str))
    return any(same(value.data, form) for form in forms)


def folded_text(text: str) -> str:
    """In compatibility form (NFKC), without regard to case, without blanks around it and without `#` and `@` before it.

    A text of nothing but `#` and `@` keeps them: "unless that is all there is".
    """
    for _ in range(2):  # what was lower-cased may have a compatibility form of its own
        text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFKC", text).strip()
    bare = re.sub(r"^[#@\s]+", "", text) or text
    # "What may be a telephone number is its digits from the country on": seven or more, with what may stand between.
    number = re.fullmatch(r"((tel|sms|whatsapp):)?[ \t\n\r\f\v]*(\+|00)?[ \t\n\r\f\v]*([1-9].*)", bare, re.DOTALL)
    if number and re.fullmatch("[- \t\n\r\f\v./()\u2010-\u20150-9]*[0-9]", number[4]):
        digits = "".join(char for char in number[4] if char in "0123456789")
        bare = digits if len(digits) >= 7 else bare
    # "Digits are compared without zeros before them."
    return re.sub("^0+(?=[0-9])", "", bare) if re.fullmatch("[0-9]+", bare) else bare


def forms_of_constant(world: World, constant: Any, subject: str) -> list[Any]:
    """As it stands, and in the canonical form of each role of every leaf that has the role, or is the argument."""
    forms = [constant]
    if not isinstance(constant, str) or is_empty(constant):
        return forms
    kind, _, name = subject.partition(":")
    readers = set()
    for server, tool in every_tool(world):
        for leaf, annotation in tool["args"].items():
            roles = all_roles(annotation)
            if roles_of(subject) & roles if kind == "role" else name == leaf:
                readers |= {(server, role) for role in roles}
    for server, role in sorted(readers):
        if role in PATH_ROLES and not constant.startswith(("/", "~")):
            continue  # a rule is not about one server, so that a relative path in it starts nowhere
        try:
            read = read_item(world, server, role, constant, empty_is_unknown=True)
        except Refused:
            continue
        if len(read) == 1 and read[0].state == "known":
            forms.append(read[0].data)
    return forms


def elements_of_list(resolved: Resolved, name: str) -> Values:
    """ "`arg:LIST[]`" has a value for each element of the lists that stand there, those of lists in it one by one."""
    lists = [node for node, _, _ in occurrences(resolved.sent, tokens(name.removesuffix("[]")), resolved.sent)]
    return tuple(Value("none", 0) for each in lists if isinstance(each, list) and each for _ in flatten(each))


def is_list(tool: Table, name: str) -> bool:
    """A list of the schema may stand there: leaves are in its elements, or it is a leaf itself."""
    base = tokens(name.removesuffix("[]"))
    leaves = [tokens(leaf) for leaf in tool["args"]]
    return base in leaves or any(leaf[: len(base) + 1] == (*base, "[]") for leaf in leaves)


def member_values(world: World, resolved: Resolved, name: str) -> Values:
    """What stands under a member of a free-form object, at any depth in it: `data.a` in the objects at `data`."""
    found: list[Value] = []
    for leaf, annotation in resolved.tool["args"].items():
        if not is_member(resolved.tool, leaf, name):
            continue
        for node, parent, _ in occurrences(resolved.sent, tokens(leaf), resolved.sent):
            roles = roles_in_force(modes_of(annotation), parent_as_sent(resolved.tool, leaf, parent))
            for item in (item for each in flatten(node) for item in under(each, name[len(leaf) + 1 :].split("."))):
                here = roles_for_item(roles, item)
                read = {
                    role: read_item(world, resolved.server, role, item, unknown, here) for role, unknown in here.items()
                }
                found += next(filter(None, (read[leading_role(here)], *(read.values() if is_empty(item) else ()))), [])
    return tuple(found)


def under(node: Any, path: list[str]) -> list[Any]:
    """What a path of names leads to; the elements of lists are looked at one by one."""
    if not path:
        return flatten(node)
    inner = [item[path[0]] for item in flatten(node) if isinstance(item, dict) and path[0] in item]
    return [found for each in inner for found in under(each, path[1:])]


def is_member(tool: Table, leaf: str, name: str) -> bool:
    """ "Of an argument that may be an object whose members the schema does not describe, a member is `name.member`"."""
    schema = tool["definition"].get("inputSchema", {})
    below = schemas_at(schema, tokens(leaf), schema)
    names = name[len(leaf) + 1 :].split(".")
    return (
        name.startswith(f"{leaf}.")
        and all(names)
        and may_be_object(below, schema)
        and not has_leaf_below(below, schema)
    )


def may_be_object(schemas: list[Table], root: Any) -> bool:
    """An object may stand there, or in a list that may."""
    for schema in schemas:
        if {"$ref", "enum", "const", "anyOf", "oneOf", "allOf"} & set(schema):
            continue
        kinds = schema.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        elements = elements_of(schema)
        if None in kinds or "object" in kinds or ("array" in kinds and not elements):
            return True
        if any(may_be_object(branches(element, root), root) for element in elements):
            return True
    return False


def same(left: Any, right: Any) -> bool:
    """Equality is typed: `true`, `1` and `"1"` are three values; `1.0` and `1` are the same value."""
    if is_number(left) and is_number(right):
        return bool(left == right)
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict):
        return set(left) == set(right) and all(same(left[key], right[key]) for key in left)
    return bool(left == right)


def predicate_holds(world: World, resolved: Resolved, claim: Claim, allow: bool, subject: str, predicate: Any) -> bool:
    """Predicates on one value are tested like any condition; counts look at all values of the role or argument."""
    kind, _, name = subject.partition(":")
    if kind == "arg" and name.endswith("[]") and name not in resolved.by_leaf:
        own = everything = elements_of_list(resolved, name)
    elif kind == "arg":
        own = everything = resolved.by_leaf[name] if name in resolved.by_leaf else member_values(world, resolved, name)
    else:
        own = values_for(resolved, claim, sorted(roles_of(subject)))
        everything = tuple(value for value in resolved.values if value.role in roles_of(subject))
    on_value = {key: bound for key, bound in predicate.items() if key not in ("minItems", "maxItems")}
    results = []
    if on_value.pop("given", False):  # "an unknown one is none, in an allow and in a deny or escalate"
        sent = tuple(value for value in own if value.state != "unknown")
        results.append(bool(sent) and not (allow and sent != own))  # sent, whatever it says
        own = sent
    if on_value:
        results.append(holds_for(own, lambda value: value_satisfies(world, value, on_value, subject, allow), allow))
    # "In counts both are more than any limit", and counts "need at least one".
    unclear = any(value.state != "known" or (allow and is_shell(value)) for value in everything)
    count = float("inf") if unclear else len(everything)
    if "minItems" in predicate:
        results.append(count >= 1 and count >= predicate["minItems"] and not (allow and unclear))
    if "maxItems" in predicate:
        results.append(count >= 1 and count <= predicate["maxItems"])
    return all(results)


def value_satisfies(world: World, value: Value, predicate: Any, subject: str, allow: bool) -> bool:
    """All keys must hold; a number test on no number, a text test on no text or too long a text is an error."""
    results = []
    for key, bound in predicate.items():
        if key == "equals":
            results.append(is_value(world, value, bound, subject, allow))
        elif key == "in":
            results.append(any(is_value(world, value, item, subject, allow) for item in bound))
        elif key in ("minimum", "maximum"):
            if not is_number(value.data):
                raise RuleError(key)
            results.append(value.data >= bound if key == "minimum" else value.data <= bound)
        elif key == "matches" and type(value.data) is int:  # "A whole number is matched by its digits"
            results += [matches(f"{value.data:d}", pattern, allow) for pattern in one_or_more(bound)]
        elif not isinstance(value.data, str):
            raise RuleError(key)
        elif key == "maxLength":
            results.append(len(value.data) <= bound)
        else:
            results += [matches(value.data, pattern, allow) for pattern in one_or_more(bound)]
    return all(results)


def one_or_more(bound: Any) -> list[Any]:
    """A list, also where one value stands in its place."""
    return bound if isinstance(bound, list) else [bound]


def matches(text: str, pattern: str, allow: bool) -> bool:
    """Of the whole text; in a deny or escalate "also of its compatibility form", "where it is not ASCII".

    "A dot in `matches` spans lines in a deny or escalate, and not in an allow."
    """
    texts = [text] if allow or text.isascii() else [text, unicodedata.normalize("NFKC", text)]
    if any(len(one) > MAX_MATCHED_CHARACTERS for one in texts):
        raise RuleError(pattern)
    return any(re.fullmatch(pattern, one, re.ASCII if allow else re.ASCII | re.DOTALL) for one in texts)
