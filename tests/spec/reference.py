"""decide(world, call): the contract of `docs/engine.md`, clause by clause, in the plainest Python that says it.

The plan, with the sections of that page:

(0) load        rules that do not load, a sandbox that overlaps what is protected: deny
(1) validate    the tool, its schema's defaults, arguments nobody annotated
(2) resolve     every occurrence of every leaf becomes values in canonical form
(3) invariants  paths and hosts that no rule can open
(4) access      five layers of tool lists, each of which must pass the tool
(5) task        the task's rules, and
(6) rules       the policy's rules, by one procedure; the stricter outcome wins

A refusal at any point is an exception that carries its stage and code; everything else returns.
"""

# A clause is one function however many cases it has, and paths are plain text here.
# ruff: noqa: PTH112, PTH115, PTH118, PTH120

import copy
import datetime as dt
import hashlib
import ipaddress
import json
import os
import re
import stat
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

# --- What is protected, by name (engine.md 3.2 and 3.4). ----------------------------------------------------------

PROTECTED_UNDER_HOME = (
    ".claude.json", ".claude/settings.json", ".claude/settings.local.json", ".config/Claude/claude_desktop_config.json",
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
STEERING_NAMES = (
    "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules",
    ".goosehints", ".github/copilot-instructions.md", ".claude", ".cursor", ".codex", ".gemini", ".windsurf",
)  # fmt: skip
GIT_DIRECTORY = ".git"
GIT_STEERING_NAMES = (".gitattributes", ".gitmodules", ".vscode/tasks.json", ".vscode/settings.json")
METADATA_HOSTS = (
    "169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "100.100.100.200", "192.0.0.192",
    "fd00:ec2::254", "fd20:ce::254", "metadata.google.internal",
)  # fmt: skip

# --- The vocabulary of roles (engine.md 2). -----------------------------------------------------------------------

PATH_ROLES = {"read-path", "write-path", "delete-path"}
URL_ROLES = {"fetch-url", "send-url"}
PARTY_ROLES = {"recipient", "attendee"}
PLACE_ROLES = {"channel", "calendar", "repository"}
CARRIED_ROLES = {"outbound-content", "amount", "identifier"}
READ_ROLES = {"read-path", "fetch-url"}
SENDING_ROLES = PARTY_ROLES | PLACE_ROLES | {"send-url"}

# --- Limits and spellings (engine.md 1 and 2). --------------------------------------------------------------------

MAX_PATH_BYTES, MAX_COMPONENT_BYTES, MAX_SYMLINKS = 4096, 255, 40
MAX_PARTIES, MAX_COMMAND_PARTS, MAX_MATCHED_CHARACTERS = 1000, 50, 4096
MAX_SUBSCHEMAS, MAX_SCHEMA_LEVELS = 2000, 32
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
OTHER_DASHES = set("\u02d7\u2043\u207b\u208b\u2212")  # besides the category Pd
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
WILDCARD = re.compile(r"[*?]|\{[^}]*(,|\.\.)[^}]*\}|\[[!^]|\[[^\]]*[^\]]-[^\]]+\]")
WINDOWS_PATH = re.compile(r"\\|^[A-Za-z]:|::")
WINDOWS_COMPONENT = re.compile(
    r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?|.*[^. ][. ]+|[^.~]{1,6}~\d(\.[^.]{1,3})?", re.DOTALL
)
MAGIC = re.compile(r"/proc/(\d+|self|thread-self)(/.*)?|/dev/(fd|stdin|stdout|stderr)(/.*)?", re.ASCII | re.DOTALL)
SHELL_SYNTAX = re.compile(r"[;&|<>`\n\r]|\$\(|\$\{")
SHELL_UNREADABLE = re.compile(r"[<>`]|\$\(|\$\{")
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
]  # fmt: skip
SUBAGENT_DENIED_ROLES = {"command", "delete-path"}

STRICTNESS = {"allow": 0, "escalate": 1, "deny": 2}
MISSING = object()

Table = dict[str, Any]  # a JSON object
Place = tuple[str, ...]  # a leaf in parts: ("files", "[]", "path")
Outcome = tuple[str, str]  # a decision and its code


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


@dataclass(frozen=True)
class Verdict:
    """The decision, the stage that made it and a stable code."""

    decision: str
    stage: str
    code: str


@dataclass(frozen=True)
class Value:
    """One canonical value with one role; `state` is known, unknown or opaque."""

    role: str
    data: Any
    state: str = "known"


@dataclass(frozen=True)
class Claim:
    """What must be permitted; `kind` is resource, carried or call (which has no role and no values)."""

    kind: str
    role: str | None
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Resolved:
    """A call after step 2: its values by role, its values by leaf, and its claims."""

    server: str
    tool: Table
    tool_roles: frozenset[str]
    values: tuple[Value, ...]
    by_leaf: dict[str, tuple[Value, ...]]
    claims: tuple[Claim, ...]
    strays: tuple[str, ...]


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
    insert_defaults(schema, arguments, schema)
    check_covered(arguments, (), [tokens(leaf) for leaf in tool["args"]])
    resolved = resolve_call(world, call["serverName"], tool, schema, arguments)  # (2)
    verdicts = check_paths(world, resolved) + check_hosts(world, resolved)  # (3)
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
    if not rules_load(world.policy["rules"], world.lists):
        raise Refused("load", "artifact_malformed")
    # The sandbox may not contain or lie inside anything protected; its own place under the home is not.
    sandbox = follow(world.policy["setup"]["sandbox"])
    if is_protected(world, sandbox) or is_ancestor(world, sandbox):
        raise Refused("load", "sandbox_overlap")


def rules_load(rules: Any, lists: dict[str, list[Any]]) -> bool:
    """formats.md, "A rule" and "Conditions": an unknown key, a wrong type or a missing list does not load."""
    if not isinstance(rules, list) or not all(rule_loads(rule, lists) for rule in rules):
        return False
    return len({rule["name"] for rule in rules}) == len(rules)


def rule_loads(rule: Any, lists: dict[str, list[Any]]) -> bool:
    known = {"name", "description", "principle", "reason", "if", "then", "elsewhere"}
    if not isinstance(rule, dict) or not {"name", "if", "then"} <= set(rule) <= known:
        return False
    if not all(isinstance(rule[key], str) for key in rule if key not in ("if", "elsewhere")):
        return False
    if not rule["name"] or rule["then"] not in STRICTNESS or not isinstance(rule["if"], dict):
        return False
    if "elsewhere" in rule and (rule["elsewhere"] is not True or rule["then"] != "escalate"):
        return False
    # "An allow without any condition is refused on load"; `assess` is "not in an allow".
    if rule["then"] == "allow" and (not rule["if"] or "assess" in rule["if"]):
        return False
    return all(condition_loads(key, body, lists) for key, body in rule["if"].items())


def condition_loads(key: str, body: Any, lists: dict[str, list[Any]]) -> bool:
    if key in ("server", "tool", "roles"):
        return words(body)
    if key == "sideEffects":
        return isinstance(body, bool)
    if key == "lists":
        return isinstance(body, list) and bool(body) and all(membership_loads(item, lists) for item in body)
    if key == "domains":
        return membership_loads(body, lists) and words(body["allowed"])
    if key == "values":
        return isinstance(body, dict) and bool(body) and all(predicate_loads(*item) for item in body.items())
    if key == "paths":
        fine = has_keys(body, "roles", "within") and words(body["roles"]) and isinstance(body["within"], str)
        return fine and (body["within"] == "~" or body["within"].startswith(("/", "~/")))
    if key == "origin":
        fine = has_keys(body, "roles", "from") and words(body["roles"])
        return fine and (isinstance(body["from"], str) or words(body["from"]))
    return key == "assess" and has_keys(body, "question") and isinstance(body["question"], str)


def has_keys(body: Any, *keys: str) -> bool:
    return isinstance(body, dict) and set(body) == set(keys)


def words(body: Any) -> bool:
    return isinstance(body, list) and bool(body) and all(isinstance(word, str) and word for word in body)


def membership_loads(body: Any, lists: dict[str, list[Any]]) -> bool:
    if not has_keys(body, "roles", "allowed") or not words(body["roles"]) or not isinstance(body["allowed"], list):
        return False
    return all(entry[1:] in lists for entry in body["allowed"] if isinstance(entry, str) and entry.startswith("@"))


def predicate_loads(subject: str, predicate: Any) -> bool:
    fits = {
        "equals": lambda _: True,
        "in": lambda bound: isinstance(bound, list),
        "matches": is_pattern,
        "minimum": is_number,
        "maximum": is_number,
        "maxLength": is_count,
        "minItems": is_count,
        "maxItems": is_count,
    }
    if not re.fullmatch(r"(role|arg):.+", subject) or not isinstance(predicate, dict) or not predicate:
        return False
    return all(key in fits and fits[key](bound) for key, bound in predicate.items())


def is_pattern(bound: Any) -> bool:
    try:
        re.compile(bound, re.ASCII)
    except (re.error, TypeError):
        return False
    return True


def is_count(bound: Any) -> bool:
    return isinstance(bound, int) and not isinstance(bound, bool) and bound >= 0


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# === (1) Validate =================================================================================================


def check_call_shape(call: Table) -> None:
    """`serverName`, `toolName`, `arguments`, and optionally `principal` and `task`; unknown members are refused."""
    needed = {"serverName": str, "toolName": str, "arguments": dict}
    optional = {"principal": dict, "task": dict}
    fine = set(needed) <= set(call) <= set(needed) | set(optional)
    fine = fine and all(isinstance(call[key], kind) for key, kind in {**needed, **optional}.items() if key in call)
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
            if not is_usable(tool["definition"].get("inputSchema", {})):
                raise Refused("invariants", "tool_unusable")
            if tool.get("pin") != pin(tool["definition"]):
                raise Refused("invariants", "tool_drift")
            return dict(tool)
    raise Refused("invariants", "tool_unknown")


def pin(definition: Table) -> str:
    """formats.md: `sha256:` and the digest of the definition in canonical JSON (sorted keys, no spaces, UTF-8)."""
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def is_usable(schema: Any) -> bool:
    """No reference outside itself, no recursive one, at most 2,000 subschemas and 32 levels."""
    seen = 0

    def walk(node: Any, level: int, references: frozenset[str]) -> bool:
        nonlocal seen
        if not isinstance(node, dict):
            return True
        seen += 1
        if seen > MAX_SUBSCHEMAS or level > MAX_SCHEMA_LEVELS:
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
        structured = [branch for branch in branches if any("properties" in p or "items" in p for p in branch)]
        if len(structured) == 1:
            found += structured[0]
    return found


def insert_defaults(schema: Any, value: Any, root: Any) -> None:
    """Defaults are inserted where the schema has one, at any depth that is present."""
    for piece in pieces(schema, root):
        if isinstance(value, dict):
            for name, inner in piece.get("properties", {}).items():
                defaults = [p["default"] for p in pieces(inner, root) if "default" in p]
                if name not in value and defaults:
                    value[name] = copy.deepcopy(defaults[0])
                if name in value:
                    insert_defaults(inner, value[name], root)
        if isinstance(value, list):
            for element in value:
                insert_defaults(piece.get("items"), element, root)
    for piece in pieces(schema, root):
        if isinstance(value, dict) and not set(piece.get("required", [])) <= set(value):
            raise Refused("validate", "arguments_invalid")


def tokens(leaf: str) -> Place:
    """`files[].path` is ("files", "[]", "path")."""
    found = []
    for part in leaf.split("."):
        name = part.rstrip("[]")
        found += [name] + ["[]"] * part[len(name) :].count("[]")
    return tuple(found)


def check_covered(node: Any, here: Place, leaves: list[Place]) -> None:
    """Refuse an argument that the annotation does not cover, at any depth; a leaf as a whole may hold anything."""
    has_children = not here or any(leaf[: len(here)] == here and leaf != here for leaf in leaves)
    if isinstance(node, dict) and has_children:
        for key, child in node.items():
            check_covered(child, (*here, key), leaves)
    elif isinstance(node, list) and has_children:
        for child in node:
            if here not in leaves or isinstance(child, (dict, list)):
                check_covered(child, (*here, "[]"), leaves)
    elif here not in leaves and not (node is None and has_children):
        raise Refused("validate", "argument_unknown")


# === (2) Resolve ==================================================================================================


def resolve_call(world: World, server: str, tool: Table, schema: Any, arguments: Table) -> Resolved:
    values: list[Value] = []
    by_leaf: dict[str, list[Value]] = {}
    path_texts = set()
    all_leaves = [tokens(leaf) for leaf in tool["args"]]
    for leaf, annotation in tool["args"].items():
        modes = annotation if isinstance(annotation, list) else [annotation]
        place = tokens(leaf)
        required = is_required(schema, place, schema)
        has_children = any(other[: len(place)] == place and other != place for other in all_leaves)
        by_leaf[leaf] = []
        for found, parent in occurrences(arguments, place, arguments):
            roles = roles_in_force(modes, parent)
            for item in flatten(found):
                if has_children and isinstance(item, dict) and item:
                    continue  # "string or object": the children speak for the object
                here = roles_for_item(roles, item)
                if isinstance(item, str) and PATH_ROLES & set(here):
                    path_texts.add(item)
                read = {role: read_item(world, server, role, item, required, here[role]) for role in here}
                by_leaf[leaf] += read[leading_role(here)]
                values += [value for role in here if role != "none" for value in read[role]]
    strays = tuple(text for text in every_string(arguments) if looks_like_path(text) and text not in path_texts)
    return Resolved(
        server=server,
        tool=tool,
        tool_roles=annotated_roles(tool),
        values=tuple(values),
        by_leaf={leaf: tuple(found) for leaf, found in by_leaf.items()},
        claims=claims_of(values),
        strays=strays,
    )


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
    found = set()
    for annotation in tool["args"].values():
        for mode in annotation if isinstance(annotation, list) else [annotation]:
            found |= set(mode["roles"])
    return frozenset(found - {"none"})


def occurrences(node: Any, place: Place, parent: Any) -> list[tuple[Any, Table]]:
    """Each place where the leaf is or is missing, with the object its siblings are in."""
    if not place:
        return [(node, parent)]
    head, rest = place[0], place[1:]
    if head == "[]":
        if isinstance(node, list) and node:
            return [pair for element in node for pair in occurrences(element, rest, parent)]
        return [(None, {})]  # an empty list on the way: present, and empty
    if not isinstance(node, dict):
        return [(None, {})]
    if head in node:
        return occurrences(node[head], rest, node)
    return [(MISSING, node if not rest else {})]


def flatten(found: Any) -> list[Any]:
    """A list is its elements, whatever its depth; an empty list stays, as an empty thing."""
    if isinstance(found, list) and found:
        return [item for element in found for item in flatten(element)]
    return [found]


def is_required(schema: Any, place: Place, root: Any) -> bool:
    """Required by the schema, "every object and list on the way to it included"."""
    if not place:
        return True
    head, rest = place[0], place[1:]
    for piece in pieces(schema, root):
        if head == "[]" and "items" in piece and is_required(piece["items"], rest, root):
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
    """With both url and path roles, a text is a URL if it starts with `scheme://` and a path otherwise."""
    if isinstance(item, str) and item.strip() and PATH_ROLES & set(roles) and URL_ROLES & set(roles):
        unwanted = PATH_ROLES if SCHEME.match(item) else URL_ROLES
        return {role: absent for role, absent in roles.items() if role not in unwanted}
    return roles or {"none": True}


def leading_role(roles: dict[str, bool]) -> str:
    """The role whose canonical form an `arg:` condition sees."""
    for family in (PATH_ROLES, URL_ROLES, PARTY_ROLES, PLACE_ROLES, {"command"}):
        for role in roles:
            if role in family:
                return role
    return next(iter(roles))


def is_empty(item: Any) -> bool:
    """Missing, null, [], {} and blank strings are empty."""
    return item is MISSING or item is None or item in ([], {}) or (isinstance(item, str) and not item.strip())


def read_item(world: World, server: str, role: str, item: Any, required: bool, absent_is_unknown: bool) -> list[Value]:
    """The values of one item in one role."""
    if is_empty(item):
        # "required ... and present, or if its absent is unknown"; an empty text in a path or url role always.
        always = isinstance(item, str) and role in PATH_ROLES | URL_ROLES
        unknown = always or (required and item is not MISSING) or absent_is_unknown
        return [Value(role, None, "unknown")] if unknown else []
    if role == "none" or (role in CARRIED_ROLES and role != "identifier"):
        return [Value(role, item)]
    if isinstance(item, str):
        check_flag(role, item)
    if role == "identifier":
        return [Value(role, item)]
    if role in PATH_ROLES | URL_ROLES and not isinstance(item, str):
        raise Refused("resolve", "value_type")
    if role in PARTY_ROLES and isinstance(item, dict):
        raise Refused("resolve", "value_type")
    if not isinstance(item, str):
        return [Value(role, item)]
    if role in PATH_ROLES:
        return [Value(role, canonical_path(world, server, item))]
    if role in URL_ROLES:
        return [Value(role, canonical_url(item))]
    if role in PARTY_ROLES:
        return read_parties(role, item)
    tolerated = "\t\n\r" if role == "command" else ""
    if any(is_control(char) and char not in tolerated for char in item):
        raise Refused("resolve", "value_spelling")
    return [Value(role, item.strip() if role in PLACE_ROLES else item)]


def check_flag(role: str, text: str) -> None:
    """A dash of any kind at the start is denied, but for a plain negative number outside path and url roles."""
    dash = unicodedata.category(text[0]) == "Pd" or text[0] in OTHER_DASHES
    negative = role not in PATH_ROLES | URL_ROLES and re.fullmatch(r"-[0-9]+(\.[0-9]+)?", text)
    stripped = text.strip()
    if role in PLACE_ROLES | PARTY_ROLES and stripped != text:
        check_flag(role, stripped)
    if role != "command" and dash and not negative:
        raise Refused("resolve", "value_flag")


def is_control(char: str) -> bool:
    return unicodedata.category(char) == "Cc"


# --- Paths --------------------------------------------------------------------------------------------------------


def canonical_path(world: World, server: str, text: str) -> str:
    """Absolute, symlinks followed as far as they exist, NFC; or refused."""
    if any(is_control(char) or char in BIDI or char in "$`" for char in text):
        raise Refused("resolve", "path_spelling")
    if SCHEME.match(text) or WINDOWS_PATH.search(text):
        raise Refused("resolve", "path_spelling")
    if text.startswith("~") and text != "~" and not text.startswith("~/"):
        raise Refused("resolve", "path_spelling")  # `~other`
    if WILDCARD.search(text):
        raise Refused("resolve", "path_wildcard")
    parts = [part for part in text.split("/") if part not in ("", ".", "..", "~")]
    if any(WINDOWS_COMPONENT.fullmatch(part) for part in parts):
        raise Refused("resolve", "path_spelling")
    if text.startswith("/"):
        start = text
    elif text == "~" or text.startswith("~/"):
        start = world.policy["setup"]["home"] + text[1:]
    elif server in world.policy["setup"].get("pathBase", {}):
        start = world.policy["setup"]["pathBase"][server] + "/" + text
    else:
        raise Refused("resolve", "path_relative")
    for form in (text, start):
        if len(form.encode()) > MAX_PATH_BYTES:
            raise Refused("resolve", "path_spelling")
    return follow(start)


def follow(text: str) -> str:
    """Walk one component at a time; `..` is applied after the link before it has been followed."""
    todo = unicodedata.normalize("NFC", text).split("/")[::-1]
    here, links = "/", 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if os.path.lexists(here) and not os.path.isdir(here):  # "a file where a directory is expected, too"
                raise Refused("resolve", "path_unreadable")
            here = os.path.dirname(here)
            continue
        if len(part.encode(errors="surrogateescape")) > MAX_COMPONENT_BYTES:
            raise Refused("resolve", "path_spelling")
        candidate = os.path.join(here, part)
        if MAGIC.fullmatch(candidate):  # "met at any point while following links: deny"
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
        links += 1
        if links > MAX_SYMLINKS:
            raise Refused("resolve", "path_loop")
        target = os.readlink(candidate)
        here = "/" if target.startswith("/") else here
        todo += target.split("/")[::-1]
    return unicodedata.normalize("NFC", here)


def is_inside(path: str, directory: str) -> bool:
    """Inside the directory, or the directory itself; both canonical."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def has_other_names(path: str) -> bool:
    """A regular file with hard links: not inside anything for the purposes of an allow or of containment."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1


# --- URLs and hosts -----------------------------------------------------------------------------------------------


def canonical_url(text: str) -> str:
    """http or https with a canonical host, no dot segments, no default port; or a bare host with or without a port."""
    if any(char.isspace() or is_control(char) or char == "\\" for char in text):
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
    if value.role in URL_ROLES:
        authority = re.split(r"[/?#]", value.data.split("://", 1)[-1])[0]
        return re.sub(r":[0-9]+$", "", authority) if not authority.startswith("[") else authority[1:].split("]")[0]
    if value.role in PARTY_ROLES and isinstance(value.data, str) and re.fullmatch(r"[^@]+@[^@]+", value.data):
        return value.data.split("@")[1]
    return None


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
    entries = None if any(is_control(char) for char in text) else split_parties(text)
    if not entries or len(entries) > MAX_PARTIES:
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
        if char in ",;" and not quoted and not angled:
            entries.append(entry.strip())
            entry = ""
        else:
            entry += char
    if quoted or angled:
        return None
    return [entry for entry in [*entries, entry.strip()] if entry]


def read_party(entry: str) -> str | None:
    """An address in canonical form, a name as it stands, or None."""
    unquoted = re.sub(r'"[^"]*"', "", entry)
    if any(unquoted.count(left) != unquoted.count(right) for left, right in ("()", "[]")):
        return None
    if "<" in unquoted and not unquoted.endswith(">"):
        return None
    party = entry[entry.rindex("<") + 1 : -1].strip() if "<" in unquoted else entry
    if not party or unquoted.count("<") > 1:
        return None
    if "@" not in party[1:]:
        return party
    address = re.fullmatch(r"([\w!#$%&'*+/=?^`{|}~.-]+)@([^@\[\]]+)", party)
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


def looks_like_path(text: str) -> bool:
    return text.startswith(("/", ".", "~/", "file:"))


def forms_of_stray(world: World, server: str, text: str) -> list[str]:
    """The lexical form, and the resolved one unless the text is too long, has a line break or does not resolve."""
    if text.startswith("file:"):
        text = "/" + unquote(re.sub(r"^file:(//[^/]*)?", "", text)).lstrip("/")
    elif text.startswith("~/"):
        text = world.policy["setup"]["home"] + text[1:]
    elif text.startswith("."):
        base = world.policy["setup"].get("pathBase", {}).get(server)
        if base is None:
            return [os.path.normpath(text)]
        text = base + "/" + text
    forms = ["/" + os.path.normpath(text).lstrip("/")]
    if len(text.encode()) <= MAX_PATH_BYTES and "\n" not in text and "\r" not in text:
        try:
            forms.append(follow(text))
        except Refused as refusal:
            if refusal.verdict.code == "path_magic":
                raise
    return forms


# === (3) Invariants ===============================================================================================


def folded(text: str) -> tuple[str, ...]:
    """Components without regard to case, width, accents and invisible characters."""
    return tuple(fold(part) for part in text.split("/") if part)


def fold(name: str) -> str:
    for _ in range(2):
        name = unicodedata.normalize("NFKD", name)
        name = "".join(char for char in name if unicodedata.category(char) not in ("Mn", "Me", "Cf"))
        name = name.upper().casefold()
    return name


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
    """Inside a home (without its `sandbox/`), a file in use, a client's configuration, or a project-level one."""
    parts = folded(path)
    for home in homes(world):
        if parts[: len(folded(home))] == folded(home) and not is_inside(path, home + "/sandbox"):
            return True
    if any(parts[: len(folded(file))] == folded(file) for file in protected_files(world)):
        return True
    return any(has_run(parts, name) for name in PROTECTED_NAMES)


def is_ancestor(world: World, path: str) -> bool:
    """A proper ancestor of something protected that has a place of its own."""
    parts = folded(path)
    places = [folded(place) for place in homes(world) + protected_files(world)]
    return any(len(parts) < len(place) and place[: len(parts)] == parts for place in places)


def has_run(parts: tuple[str, ...], name: str) -> bool:
    """The components of `name` occur one after the other anywhere in the path."""
    wanted = folded(name)
    return any(parts[i : i + len(wanted)] == wanted for i in range(len(parts)))


def check_paths(world: World, resolved: Resolved) -> list[Verdict]:
    """engine.md 3.1 to 3.4: raises what is denied, returns what is at most escalate."""
    at_most = []
    for text in resolved.strays:
        for form in forms_of_stray(world, resolved.server, text):
            if MAGIC.fullmatch(form):
                raise Refused("invariants", "path_magic")
            if is_protected(world, form):
                raise Refused("invariants", "path_protected")
    for value in resolved.values:
        if value.role not in PATH_ROLES or value.state != "known":
            continue
        changes = value.role != "read-path"
        if is_protected(world, value.data):
            raise Refused("invariants", "path_protected")
        if is_ancestor(world, value.data):
            if changes:
                raise Refused("invariants", "path_ancestor")
            at_most.append(Verdict("escalate", "invariants", "path_ancestor"))
        parts = folded(value.data)
        if changes and any(has_run(parts, name) for name in (*STEERING_NAMES, GIT_DIRECTORY)):
            raise Refused("invariants", "path_steering")
        if changes and any(has_run(parts, name) for name in GIT_STEERING_NAMES):
            at_most.append(Verdict("escalate", "invariants", "path_steering"))
    return at_most


def check_hosts(world: World, resolved: Resolved) -> list[Verdict]:
    """A metadata service: deny. A private host: deny unless named exactly. A confusable one: at most escalate."""
    at_most = []
    for value in resolved.values:
        host = host_of(value) if value.state == "known" else None
        if host is None:
            continue
        if value.role in URL_ROLES and host in METADATA_HOSTS:
            raise Refused("invariants", "host_metadata")
        if value.role in URL_ROLES and is_private(host) and not is_named_by_an_allow(world, host):
            raise Refused("invariants", "host_private")
        if any(is_confusable(unicode_label(label)) for label in host.split(".")):
            at_most.append(Verdict("escalate", "invariants", "host_confusable"))
    return at_most


def is_private(host: str) -> bool:
    if not is_address(host):
        return host == "localhost" or host.endswith(".localhost")
    address = ipaddress.ip_address(host)
    return not address.is_global or address.is_multicast or address.is_reserved


def is_named_by_an_allow(world: World, host: str) -> bool:
    """A `domains` condition of an allow rule "names exactly that host": not by a wildcard, not through a list."""
    allows = [rule["if"] for rule in world.policy["rules"] if rule["then"] == "allow" and "domains" in rule["if"]]
    return any(host == canonical_entry(entry) for conditions in allows for entry in conditions["domains"]["allowed"])


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
    agent = entry(config.get("agents", {}), principal.get("agent", "")) or {}
    found.append(agent.get("tools", {}))
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
    """Without a slash compared with the tool's name, with one with `server/tool`."""
    name = dealias(config, normal(resolved.tool["toolName"]))
    if "/" in word:
        server, _, rest = word.partition("/")
        word = server + "/" + dealias(config, rest)
        candidates = [normal(resolved.server) + "/" + name]
    else:
        word = dealias(config, word)
        candidates = [name]
        if deny:  # "a deny without a slash also catches a tool whose name has one"
            candidates += ["/".join(name.split("/")[i:]) for i in range(1, name.count("/") + 1)]
    if word.endswith("*"):
        return any(candidate.startswith(word[:-1]) for candidate in candidates)
    return word in candidates


def normal(name: str) -> str:
    return name.strip().lower()


def dealias(config: Table, name: str) -> str:
    own = {normal(key): normal(value) for key, value in config.get("tools", {}).get("aliases", {}).items()}
    aliases = {"bash": "bash_execute", **own}
    for _ in aliases:
        name = aliases.get(name, name)
    return name


# === (5) Task =====================================================================================================


def check_task(world: World, task: Table) -> None:
    """A task policy that has expired, or whose `version` or rules do not load, denies."""
    if set(task) != {"version", "task", "expiresAt", "rules"} or not isinstance(task["task"], str):
        raise Refused("task", "task_malformed")
    if not same(task["version"], 1) or not rules_load(task["rules"], world.lists):
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
    """The first applicable rule whose conditions hold decides the claim, joined with the unanswered ones before it."""
    pending: list[Outcome] = []
    for rule in rules:
        if not applies(world, resolved, rule, claim):
            continue
        unanswered = "assess" in rule["if"] or "origin" in rule["if"]
        outcome = (rule["then"], "rule_" + rule["then"])
        try:
            holds = conditions_hold(world, resolved, rule, claim)
        except RuleError:
            # "An error in a deny or escalate denies the claim; in an allow the rule does not match."
            if rule["then"] == "allow":
                continue
            return strictest([*pending, ("deny", "rule_error")])
        if not holds or (unanswered and rule["then"] == "allow"):
            continue
        if not unanswered:
            return strictest([*pending, outcome])
        pending.append(outcome)  # "joined to whatever follows and does not end the scan"
    if is_contained(world, claim):
        return strictest([*pending, ("allow", "contained")])
    return strictest([*pending, ("deny", "no_rule")])


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
    return named | {key.removeprefix("role:") for key in conditions.get("values", {}) if key.startswith("role:")}


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
    if named:
        return claim.role in named or (allow and claim.kind == "carried")
    if not allow or names_tool:
        return True
    return claim.kind in ("carried", "call")


def conditions_hold(world: World, resolved: Resolved, rule: Table, claim: Claim) -> bool:
    """All must hold. One that fails settles it; otherwise one that cannot be evaluated is an error."""
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


def single_conditions(conditions: Table) -> list[tuple[str, Any]]:
    """Each entry of `lists` and of `values` is a condition of its own; `assess` and `origin` are not answered here."""
    found = [(key, body) for key, body in conditions.items() if key not in ("lists", "values", "assess", "origin")]
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
        return holds_for(values, lambda value: domain_test(world, value, body["allowed"]), allow)
    return holds_for(values, lambda value: list_test(world, value, body["allowed"]), allow)


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
    if value.state == "unknown":  # "satisfies no condition"
        return False
    if value.state == "opaque":  # "no condition in an allow and every condition on a value in a deny or escalate"
        return not allow
    if not is_shell(value):
        return test(value)
    if allow:  # "opaque in an allow"
        return False
    parts = [part.strip() for part in re.split(r"[;&|\n\r]", value.data) if part.strip()]
    if SHELL_UNREADABLE.search(value.data) or len(parts) > MAX_COMMAND_PARTS:
        return True
    results = [test(replace(value, data=text)) for text in (value.data, *parts)]  # all of them, for the errors
    return any(results)


def is_shell(value: Value) -> bool:
    return value.role == "command" and isinstance(value.data, str) and bool(SHELL_SYNTAX.search(value.data))


def path_test(world: World, value: Value, within: str, allow: bool) -> bool:
    """Inside the directory; a file with other names is not inside for an allow."""
    if value.role not in PATH_ROLES:
        return False
    home = world.policy["setup"]["home"]
    try:
        directory = follow(home + within[1:] if within.startswith("~") else within)
    except Refused:
        raise RuleError(within) from None
    return is_inside(value.data, directory) and not (allow and has_other_names(value.data))


def domain_test(world: World, value: Value, allowed: list[Any]) -> bool:
    """`example.com` is that host, `*.example.com` its subdomains at any depth, `@list` the entries of the list."""
    host = host_of(value)
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


def list_test(world: World, value: Value, allowed: list[Any]) -> bool:
    return any(is_value(world, value, item) for item in expanded(world, allowed))


def is_value(world: World, value: Value, constant: Any) -> bool:
    """Typed equality, with the constant as it stands or in the canonical form of the value's role."""
    if same(value.data, constant):
        return True
    if not isinstance(constant, str) or is_empty(constant):
        return False
    try:
        forms = read_item(world, "", value.role, constant, True, True)
    except Refused:
        return False
    return len(forms) == 1 and forms[0].state == "known" and same(value.data, forms[0].data)


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
    if kind == "arg":
        own = everything = resolved.by_leaf.get(name, ())
    else:
        own = values_for(resolved, claim, [name])
        everything = tuple(value for value in resolved.values if value.role == name)
    on_value = {key: bound for key, bound in predicate.items() if key not in ("minItems", "maxItems")}
    results = []
    if on_value:
        results.append(holds_for(own, lambda value: value_satisfies(world, value, on_value, allow), allow))
    # "In counts both are more than any limit", and counts "need at least one".
    unclear = any(value.state != "known" or (allow and is_shell(value)) for value in everything)
    count = float("inf") if unclear else len(everything)
    if "minItems" in predicate:
        results.append(count >= 1 and count >= predicate["minItems"] and not (allow and unclear))
    if "maxItems" in predicate:
        results.append(count >= 1 and count <= predicate["maxItems"])
    return all(results)


def value_satisfies(world: World, value: Value, predicate: Any, allow: bool) -> bool:
    """All keys must hold; a number test on no number, a text test on no text or too long a text is an error."""
    results = []
    for key, bound in predicate.items():
        if key == "equals":
            results.append(is_value(world, value, bound))
        elif key == "in":
            results.append(any(is_value(world, value, item) for item in bound))
        elif key in ("minimum", "maximum"):
            if not is_number(value.data):
                raise RuleError(key)
            results.append(value.data >= bound if key == "minimum" else value.data <= bound)
        elif not isinstance(value.data, str):
            raise RuleError(key)
        elif key == "maxLength":
            results.append(len(value.data) <= bound)
        else:
            if len(value.data) > MAX_MATCHED_CHARACTERS:
                raise RuleError(key)
            # A dot spans lines in a deny or escalate, and not in an allow.
            results.append(re.fullmatch(bound, value.data, re.ASCII if allow else re.ASCII | re.DOTALL) is not None)
    return all(results)
