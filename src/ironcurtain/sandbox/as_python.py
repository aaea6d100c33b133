"""A TypeScript program as Python's syntax tree, so that one analysis reads both languages.

Nothing of the tree is ever run: only which names are called, with what and how often has to come out the same. What has
no counterpart becomes something whose value is not known and that may happen any number of times; a kind of syntax that
we have not thought of makes the program unreadable. What comes out is for people to read: the engine has a reader of
its own, which takes some texts for others than we do, so nothing is impossible because it is not in here.
"""

from __future__ import annotations

import ast
import itertools
import re
from typing import TYPE_CHECKING, Final

import tree_sitter_typescript
from tree_sitter import Language, Parser

from ironcurtain.sandbox.names import PUT
from ironcurtain.sandbox.nodes import (
    IMPORT,
    UnreadableError,
    imports,
    is_optional,
    names_in,
    owners_in,
    parts_of,
    text_of,
    unescaped,
    unwrapped,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_FUNCTIONS: Final = frozenset(
    {"arrow_function", "function_expression", "function_declaration", "generator_function", "method_definition",
     "generator_function_declaration"}
)  # fmt: skip
_CLASSES: Final = frozenset({"class", "class_declaration", "abstract_class_declaration"})
_WRAPPERS: Final = frozenset(
    {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression", "await_expression"}
)
_TYPES: Final = frozenset(
    {"interface_declaration", "type_alias_declaration", "empty_statement", "comment", "type_annotation",
     "type_arguments", "type_parameters", "predefined_type", "debugger_statement", "function_signature",
     "method_signature", "abstract_method_signature", "index_signature", "implements_clause", "accessibility_modifier",
     "override_modifier"}
)  # fmt: skip
_PARTED: Final = frozenset(
    {"sequence_expression", "regex", "regex_pattern", "regex_flags", "undefined", "computed_property_name",
     "property_identifier", "private_property_identifier", "template_substitution", "type_assertion",
     "instantiation_expression", "decorator", "class_heritage", "extends_clause",
     "public_field_definition", "class_static_block", "internal_module", "ambient_declaration"}
)  # fmt: skip
"""What happens in these is what happens in their parts."""
_CHANGES: Final = frozenset({"assignment_expression", "augmented_assignment_expression", "update_expression"})
_CALLS: Final = frozenset({"call_expression", "new_expression"})
_SINGLE: Final = frozenset(
    {"expression_statement", "return_statement", "throw_statement", "template_substitution", "spread_element",
     "type_assertion"}
)  # fmt: skip
_LOAD: Final = ast.Load()
_ODD: Final = re.compile(r"<!--|-->|[\r\u2028\u2029]")
"""Comments as in HTML, and ends of lines that not everybody takes for one."""
_FRACTION: Final = re.compile(r"[0-9]{1,15}\.[0-9]{1,15}")
_WHOLE: Final = re.compile(r"0|[1-9][0-9]{0,14}")


def syntax_of(program: str, modules: Iterable[str]) -> ast.Module:
    """The tree of a program that finds these modules. Raises `UnreadableError` where anything may be meant."""
    names = frozenset(modules)
    root = _parsed(program)
    reading = _Reading(names)
    body = reading.block(parts_of(root))
    first: list[ast.stmt] = [ast.Import([ast.alias(name) for name in sorted(names)])] if names else []
    if reading.unsteady:
        first.append(ast.Global(sorted(reading.unsteady)))
    return ast.fix_missing_locations(ast.Module([*first, *body], []))


def may_load(program: str) -> bool:
    """Whether a program may load another text, of which nobody has seen what it does."""
    if not IMPORT.search(program):
        return False
    try:
        return imports(_parsed(program))
    except UnreadableError:
        return True


def _parsed(program: str) -> Node:
    if _ODD.search(program):
        raise UnreadableError("it is read in more than one way")
    root = Parser(Language(tree_sitter_typescript.language_typescript())).parse(program.encode()).root_node
    if root.has_error:
        raise UnreadableError("it is not understood")
    return root


class _Reading:
    """One program."""

    def __init__(self, modules: frozenset[str]) -> None:
        self._modules = modules
        self._declared: set[str] = set()
        self.unsteady: set[str] = set()
        """Variables that are not what they seem to be: there are several of that name, or a function changes them."""
        self._functions: list[ast.stmt] = []
        """Those that stand within the statement that is read; they are put before it."""
        self._inside = 0
        self._made = 0

    # --- Statements. ---

    def block(self, nodes: Iterable[Node]) -> list[ast.stmt]:
        """Some statements."""
        return [made for node in nodes for made in self._statement(node)]

    def _statement(self, node: Node) -> list[ast.stmt]:
        outer, self._functions = self._functions, []
        made = self._plain(node)
        found, self._functions = [*self._functions, *made], outer
        return found

    def _plain(self, node: Node) -> list[ast.stmt]:  # noqa: C901, PLR0911, PLR0912 - a case for each kind
        match node.type:
            case kind if kind in _TYPES:
                return []
            case "statement_block" | "else_clause" | "finally_clause":
                return self.block(parts_of(node))
            case "labeled_statement":  # it may be left in the middle
                return [ast.If(_unknown(), self._body(node, "body"), [])]
            case "expression_statement":
                return [self._expressed(node)]
            case "lexical_declaration" | "variable_declaration":
                return [made for each in parts_of(node) for made in self._declarator(each)]
            case "function_declaration" | "generator_function_declaration":
                return [self._function(node, *self._declare(text_of(node.child_by_field_name("name"))))]
            case "class_declaration" | "abstract_class_declaration":
                return [self._class(node)]
            case "if_statement":
                test = self._field(node, "condition")
                return [ast.If(test, self._body(node, "consequence"), self._body(node, "alternative", empty=True))]
            case "for_in_statement":
                return [self._each(node)]
            case "for_statement":
                test = self._statement_value(node.child_by_field_name("condition"))
                initial = node.child_by_field_name("initializer")
                first = self._statement(initial) if initial is not None else []
                again = ast.Expr(self._field(node, "increment"))
                return [*first, ast.While(test, [*self._body(node, "body"), again], [])]
            case "while_statement" | "do_statement":
                return [ast.While(self._field(node, "condition"), self._body(node, "body"), [])]
            case "switch_statement":
                return self._switch(node)
            case "try_statement":
                return [self._try(node)]
            case "return_statement":
                return [ast.Return(self._all(node))]
            case "throw_statement":
                return [ast.Raise(self._all(node))]
            case "break_statement" | "continue_statement" if parts_of(node):  # several loops at once
                return [ast.Return(None)]
            case "break_statement":
                return [ast.Break()]
            case "continue_statement":
                return [ast.Continue()]
            case kind if kind in _PARTED:
                return [ast.While(_unknown(), [ast.Expr(self._all(node))], [])]
            case kind if kind.endswith(("_statement", "_declaration")):
                raise UnreadableError(f"{kind} is not understood")
            case _:
                return [ast.Expr(self._value(node))]

    def _expressed(self, node: Node) -> ast.stmt:
        inner = parts_of(node)[0] if len(parts_of(node)) == 1 else None
        left = inner.child_by_field_name("left") if inner is not None else None
        if inner is None or left is None or (inner.type, left.type) != ("assignment_expression", "identifier"):
            return ast.Expr(self._all(node))
        names = self._change(names_in(left))
        return ast.Assign([_target(names, single=True)], self._field(inner, "right"))

    def _body(self, node: Node, field: str, *, empty: bool = False) -> list[ast.stmt]:
        inner = node.child_by_field_name(field)
        made = self._statement(inner) if inner is not None else []
        return made if made or empty else [ast.Pass()]

    def _statement_value(self, node: Node | None) -> ast.expr:
        return self._all(node) if node is not None and node.type == "expression_statement" else self._value(node)

    def _declarator(self, node: Node) -> list[ast.stmt]:
        if node.type != "variable_declarator":
            raise UnreadableError("a declaration that we do not know")
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        names = self._declare(*names_in(name))
        single = name is not None and name.type == "identifier"
        if value is not None and value.type in _FUNCTIONS and single:
            return [self._function(value, names[0])]
        assigned = ast.Assign([_target(names, single=single)], self._value(value))
        return [assigned, *self._computed(name, names)]

    def _each(self, node: Node) -> ast.stmt:
        left, over = node.child_by_field_name("left"), self._field(node, "right")
        if text_of(node.child_by_field_name("operator")) != "of":
            over = _unknown(over)
        names = names_in(left)
        if node.child_by_field_name("kind") is not None:
            self._declare(*names)
        else:
            self._change(names)
        if left is not None and left.type == "identifier":
            return ast.For(_target(names, single=True), over, self._body(node, "body"), [])
        value, computed = self._fresh(), self._fresh()
        within_it = ast.Assign([_target([computed], single=True)], _unknown(*self._within(left)))
        first = [within_it, *map(ast.Expr, self._put(left, value, computed)), *self._computed(left, names)]
        return ast.For(_target([*names, value], single=False), over, [*first, *self._body(node, "body")], [])

    def _switch(self, node: Node) -> list[ast.stmt]:
        body = node.child_by_field_name("body")
        made: list[ast.stmt] = [ast.Expr(self._field(node, "value"))]
        for case in parts_of(body) if body is not None else ():
            test = self._field(case, "value")
            inner = [each for each in parts_of(case) if each != case.child_by_field_name("value")]
            made.append(ast.If(test, self.block(inner) or [ast.Pass()], []))
        return made

    def _try(self, node: Node) -> ast.stmt:
        handler = node.child_by_field_name("handler")
        handlers = []
        if handler is not None:
            parameter = handler.child_by_field_name("parameter")
            names, caught = self._declare(*names_in(parameter)), self._fresh()
            into = [ast.Assign([_target(names, single=False)], _name(caught)), *self._computed(parameter, names)]
            handlers = [ast.ExceptHandler(None, caught, [*into, *self._body(handler, "body")])]
        return ast.Try(self._body(node, "body"), handlers, [], self._body(node, "finalizer", empty=True))

    # --- Functions and classes. ---

    def _function(self, node: Node, name: str) -> ast.stmt:
        self._inside += 1
        given = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
        names = self._declare(*names_in(given))
        first = self._computed(given, names)
        inner = node.child_by_field_name("body")
        if inner is not None and inner.type != "statement_block":
            outer, self._functions = self._functions, []
            result = ast.Return(self._value(inner))
            body, self._functions = [*self._functions, result], outer
        else:
            body = self.block(parts_of(inner)) if inner is not None else []
        self._inside -= 1
        arguments = ast.arguments([], [ast.arg(each) for each in names], None, [], [], None, [])
        own = node.child_by_field_name("name") if node.type in ("function_expression", "generator_function") else None
        if own is not None:  # it can call itself: who knows how often, and with what
            self._functions.append(ast.Assign([_target(self._declare(text_of(own)), single=True)], _name(name)))
        made_of: list[ast.expr] = [_unknown()] if own is not None else []
        return ast.FunctionDef(name, arguments, [*first, *body] or [ast.Pass()], made_of)

    def _class(self, node: Node) -> ast.stmt:
        name = node.child_by_field_name("name")
        body: list[ast.stmt] = []
        for part in parts_of(node):
            if part.type not in ("class_body", "type_identifier", *_TYPES):  # what it extends, what decorates it
                body.append(ast.Expr(self._all(part)))
            for member in parts_of(part) if part.type == "class_body" else ():
                if member.type == "method_definition":
                    body += [ast.Expr(self._name_of(member)), self._function(member, self._fresh())]
                else:
                    body += self._statement(member)
        called = self._declare(text_of(name))[0] if name is not None else self._fresh()
        return ast.ClassDef(called, [], [], body or [ast.Pass()], [])

    def _name_of(self, node: Node) -> ast.expr:
        """What is computed for the name of a method."""
        name = node.child_by_field_name("name")
        return self._all(name) if name is not None and name.type == "computed_property_name" else _unknown()

    def _hoisted(self, node: Node) -> ast.expr:
        name = self._fresh()
        made = self._class(node) if node.type in _CLASSES else self._function(node, name)
        self._functions.append(made)
        return _name(made.name if isinstance(made, ast.ClassDef) else name)

    # --- Expressions. ---

    def _value(self, node: Node | None) -> ast.expr:
        if node is None:
            return _unknown()
        return _at(node, self._expression(node))

    def _expression(self, node: Node) -> ast.expr:  # noqa: C901, PLR0911, PLR0912 - a case for each kind
        match node.type:
            case "identifier" | "shorthand_property_identifier" | "super" | "this":
                return _name(text_of(node))
            case "string" | "template_string":
                return self._text(node)
            case "number":
                return _number(text_of(node))
            case "true" | "false" | "null":
                return ast.Constant({"true": True, "false": False}.get(node.type))
            case "array":
                return self._array(node)
            case "object":
                return self._object(node)
            case kind if kind in _CALLS:
                return self._call(node)
            case "member_expression":
                return ast.Attribute(self._field(node, "object"), text_of(node.child_by_field_name("property")), _LOAD)
            case "subscript_expression":
                return ast.Subscript(self._field(node, "object"), self._field(node, "index"), _LOAD)
            case "binary_expression":
                return self._binary(node)
            case "unary_expression":
                minus = text_of(node.child_by_field_name("operator")) == "-"
                return ast.UnaryOp(ast.USub() if minus else ast.Not(), self._field(node, "argument"))
            case "ternary_expression":
                return ast.IfExp(*(self._field(node, each) for each in ("condition", "consequence", "alternative")))
            case kind if kind in _CHANGES:
                return self._assignment(node)
            case "yield_expression":  # what it gives is whatever somebody says next
                return ast.Yield(self._all(node))
            case "spread_element":
                return ast.Starred(self._all(node), _LOAD)
            case kind if kind in _WRAPPERS and parts_of(node):
                return self._value(parts_of(node)[0])
            case kind if kind in _FUNCTIONS or kind in _CLASSES:
                return self._hoisted(node)
            case kind if kind in _PARTED:
                return self._all(node)
            case kind if kind.endswith(("_statement", "_declaration", "_block")):  # within one of those
                self._functions += self._statement(node)
                return _unknown()
            case kind:
                raise UnreadableError(f"{kind} is not understood")

    def _all(self, node: Node) -> ast.expr:
        """Everything in it; the one thing itself, if it is only one."""
        parts = [self._value(each) for each in parts_of(node) if each.type not in _TYPES]
        return parts[0] if len(parts) == 1 and node.type in _SINGLE else _unknown(*parts)

    def _field(self, node: Node, name: str) -> ast.expr:
        return self._value(node.child_by_field_name(name))

    def _array(self, node: Node) -> ast.expr:
        kinds = [each.type for each in node.children if each.type != "comment"]
        parts = [self._value(each) for each in parts_of(node) if each.type != "comment"]
        holes = any(one in "[," and two == "," for one, two in itertools.pairwise(kinds))
        return _unknown(*parts) if holes else ast.List(parts, _LOAD)

    def _object(self, node: Node) -> ast.Dict:
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for part in parts_of(node):
            match part.type:
                case "pair":
                    keys.append(self._key(part.child_by_field_name("key")))
                    values.append(self._field(part, "value"))
                case "shorthand_property_identifier":
                    keys.append(ast.Constant(text_of(part)))
                    values.append(self._value(part))
                case "comment":
                    pass
                case _:
                    keys.append(None)
                    values.append(_unknown(self._name_of(part), self._value(part)))
        return ast.Dict(keys, values)

    def _key(self, node: Node | None) -> ast.expr | None:
        made: ast.expr | None = None
        if node is not None and node.type == "property_identifier":
            made = ast.Constant(text_of(node))
        elif node is not None and node.type == "string":
            made = self._text(node)
        elif node is not None:
            return self._value(node)
        return None if isinstance(made, ast.Constant) and made.value == "__proto__" else made

    def _text(self, node: Node) -> ast.expr:
        parts: list[ast.expr] = []
        for part in parts_of(node):
            if part.type == "template_substitution":
                parts.append(ast.FormattedValue(self._all(part), -1))
            else:
                plain = text_of(part) if part.type == "string_fragment" else unescaped(text_of(part))
                parts.append(_unknown() if plain is None else ast.Constant(plain))
        return parts[0] if len(parts) == 1 and isinstance(parts[0], ast.Constant) else ast.JoinedStr(parts)

    def _binary(self, node: Node) -> ast.expr:
        left, right = self._field(node, "left"), self._field(node, "right")
        match text_of(node.child_by_field_name("operator")):
            case "&&" | "||" | "??":
                return ast.BoolOp(ast.And(), [left, right])
            case "+":
                return ast.BinOp(left, ast.Add(), right)
            case _:
                return _unknown(left, right)

    def _assignment(self, node: Node) -> ast.expr:
        left = node.child_by_field_name("left") or node.child_by_field_name("argument")
        names, value = self._change(names_in(left)), self._fresh()
        given = self._field(node, "right")
        if node.type != "assignment_expression":
            given = _unknown(given, *map(_name, names))
        computed = self._fresh()
        first = [_stored(value, given), _stored(computed, _unknown(*self._within(left)))]
        stored = [_stored(name, _unknown(_name(value), _name(computed))) for name in names]
        return _unknown(*first, *stored, *self._put(left, value, computed))

    def _put(self, left: Node | None, *values: str) -> list[ast.expr]:
        """What is put into something is in it."""
        return [
            ast.Call(ast.Attribute(self._value(owner), PUT, _LOAD), [*map(_name, values)], [])
            for owner in owners_in(left)
        ]

    def _computed(self, pattern: Node | None, names: list[str]) -> list[ast.stmt]:
        """What is computed within a pattern may be in any of its variables."""
        return [ast.Assign([_target(names, single=False)], value) for value in self._within(pattern)]

    def _within(self, pattern: Node | None) -> list[ast.expr]:
        """What is computed within a pattern: what is taken where nothing is given, and what a key is."""
        pattern = unwrapped(pattern)
        if pattern is None or pattern.type in (*_TYPES, "member_expression", "subscript_expression"):
            return []
        if pattern.type == "computed_property_name":
            return [self._all(pattern)]
        field = {"required_parameter": "value", "optional_parameter": "value"}.get(pattern.type, "right")
        value = pattern.child_by_field_name(field)
        inner = [part for each in parts_of(pattern) if each != value for part in self._within(each)]
        return [*inner, self._value(value)] if value is not None else inner

    def _call(self, node: Node) -> ast.expr:
        callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        function = self._value(callee)
        given = node.child_by_field_name("arguments")
        listed = [each for each in parts_of(given) if each.type != "comment"] if given is not None else []
        if given is not None and given.type == "template_string":
            listed = [given]
        args = [self._value(each) for each in listed]
        made = ast.Call(function, args, [])
        if len(args) == 1 and isinstance(args[0], ast.Dict):
            made = ast.Call(function, [], _keywords(args[0]))
        elif self._is_tool(function):
            made = ast.Call(function, [], [ast.keyword(None, each) for each in args])
        if node.type == "new_expression" and isinstance(function, ast.Name):  # what it makes leads back to it
            return _unknown(_at(node, made), _name(function.id))
        return ast.BoolOp(ast.Or(), [_at(node, made), _unknown()]) if is_optional(node) else made

    def _is_tool(self, function: ast.expr) -> bool:
        owner = function.value if isinstance(function, ast.Attribute) else None
        return isinstance(owner, ast.Name) and owner.id in self._modules and owner.id != "tools"

    # --- Names. ---

    def _declare(self, *names: str) -> list[str]:
        self.unsteady |= self._declared.intersection(names)
        self._declared.update(names)
        return [*names]

    def _change(self, names: list[str]) -> list[str]:
        if self._inside:
            self.unsteady.update(names)
        return names

    def _fresh(self) -> str:
        self._made += 1
        return f"function {self._made}"  # no name of a program


def _at(node: Node, made: ast.expr) -> ast.expr:
    made.lineno, made.col_offset = node.start_point.row + 1, 0
    return made


def _name(name: str) -> ast.expr:
    return ast.Name(name, _LOAD)


def _stored(name: str, value: ast.expr) -> ast.expr:
    return ast.NamedExpr(ast.Name(name, ast.Store()), value)


def _target(names: list[str], *, single: bool) -> ast.expr:
    stored: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    return stored[0] if single and len(stored) == 1 else ast.Tuple(stored, ast.Store())


def _unknown(*parts: ast.expr) -> ast.expr:
    """Something that has these parts, and whose value is not known."""
    return ast.Set([*parts])


def _keywords(given: ast.Dict) -> list[ast.keyword]:
    """Named arguments; what has no name that is known counts as any."""
    names = [key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None for key in given.keys]
    computed = [ast.keyword(None, key) for key in given.keys if key is not None and not isinstance(key, ast.Constant)]
    return [*computed, *(ast.keyword(name, value) for name, value in zip(names, given.values, strict=True))]


def _number(text: str) -> ast.expr:
    if _WHOLE.fullmatch(text):
        return ast.Constant(int(text))
    if _FRACTION.fullmatch(text):
        value = float(text)
        return ast.Constant(int(value) if value.is_integer() else value)
    return _unknown()
