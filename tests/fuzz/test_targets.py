"""Fuzz targets: whatever comes in, there is one meaning or a refusal, and never anything else."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import warnings
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ironcurtain.artifacts.item import parse
from ironcurtain.artifacts.policy import ANNOTATIONS, POLICY, Bundle, build
from ironcurtain.engine.pattern import PatternError, TextTooLong, compile_pattern
from ironcurtain.errors import ArtifactError, Refusal
from ironcurtain.mediation.decide import decide_bytes
from ironcurtain.resolve.hosts import resolve_host
from ironcurtain.resolve.parties import resolve_parties
from ironcurtain.resolve.paths import PathResolver
from ironcurtain.resolve.urls import resolve_url
from ironcurtain.wire import strict_json
from tests.spec import generate
from tests.support import FILE_TOOLS, NOW, Place, annotated

JSON_PIECES = st.sampled_from(
    ["{", "}", "[", "]", ",", ":", '"', "\\", "\\u0041", "\\ud83d", "\\ude00", '"a"', '"A"', "1", "-", "0", ".5", "e9", "NaN", "true",
     "null", " ", "\n", "\ufeff", "\u212a", "\x00", '"name":', '{"a":1}', "Infinity", "1e400", "9" * 20]
)  # fmt: skip


@given(
    st.one_of(st.binary(max_size=200), st.lists(JSON_PIECES, max_size=40).map(lambda parts: "".join(parts).encode()))
)
@example(b'{"a":1,"a":2}')
def test_the_reader_reads_what_the_standard_one_reads_or_refuses(data: bytes) -> None:
    try:
        value = strict_json.loads(data)
    except Refusal as refusal:
        assert refusal.code.startswith("json_")
        return
    assert json.loads(data) == value
    assert strict_json.loads(strict_json.canonical(value)) == value


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="ascii")), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_the_reader_loses_nothing(value: Any) -> None:
    try:
        assert strict_json.loads(json.dumps(value).encode()) == value
    except Refusal as refusal:
        assert refusal.code in ("json_confusable_key", "json_depth", "json_surrogate")


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place.at(tmp_path_factory.mktemp("world"))
    generate.furnish(place)
    return place


PATH_PIECES = st.sampled_from(
    ["/", "//", ".", "..", "~", "a", "box", "out", "out-link", "in-link", "up", "loop", "dangling", "twin", "Projects", "link-to-box", "s", "x",
     "\u00e9", "e\u0301", " ", "-", "\\", "*", "$", "\u202e", "\x00", "home", "owner", ".ironcurtain", "new", "sub", "deep"]
)  # fmt: skip


@given(st.lists(PATH_PIECES, max_size=14), st.booleans())
def test_a_resolved_path_is_where_the_system_would_go(furnished: Place, pieces: list[str], rooted: bool) -> None:
    text = (f"{furnished.root}/" if rooted else "") + "/".join(pieces)
    resolver = PathResolver(str(furnished.home))
    try:
        path = resolver.resolve(text, str(furnished.sandbox))
    except Refusal:
        return
    again = resolver.resolve(path.text, None)
    assert again.text == path.text, "a canonical path is its own canonical form"
    assert again.trail == (), "and no link is left in it"
    assert (again.crossings, again.shared) == (path.crossings, path.shared)
    asked = text.replace("e\u0301", "\u00e9")
    asked = str(furnished.home) + asked[1:] if asked == "~" or asked.startswith("~/") else asked
    assert os.path.realpath(os.path.join(furnished.sandbox, asked)).lstrip("/") == path.text.lstrip("/")  # noqa: PTH118


@given(st.text(max_size=60))
def test_any_text_is_a_path_or_refused(furnished: Place, text: str) -> None:
    try:
        path = PathResolver(str(furnished.home)).resolve(text, str(furnished.sandbox))
    except Refusal as refusal:
        assert refusal.code.startswith("path_")
        return
    assert path.text.startswith("/")
    assert path.text == "/" or not path.text.endswith("/")
    assert not {".", ".."} & set(path.text.split("/"))


URL_PIECES = st.sampled_from(
    ["http", "https", "ftp", ":", "//", "/", "@", "\\", "%", "%2e", "%2F", "#", "?", "[", "]", "::1", "127.0.0.1", "0x7f", "1", "example", ".com", ".", "a", "b",
     "EXAMPLE", ":80", ":443", ":0", " ", "\t", "\u00e9", "\u3002", "\uff0e", "xn--", "evil.example", "..", "~", "&", "=", "\u00ad", "localhost"]
)  # fmt: skip


@given(st.lists(URL_PIECES, max_size=14).map("".join))
@example("https://good.example\\@evil.example")
def test_a_url_names_the_host_that_others_hear(text: str) -> None:
    try:
        url = resolve_url(text)
    except Refusal as refusal:
        assert refusal.code.startswith(("url_", "host_"))
        return
    assert resolve_url(url.text).text == url.text
    assert url.text.isascii()
    full = url.text if "://" in url.text else f"https://{url.text}"
    heard = urlsplit(full)
    assert heard.hostname == url.address.host.strip("[]")
    assert heard.username is None


@given(st.text(max_size=40))
def test_any_text_is_a_host_or_refused(text: str) -> None:
    try:
        address = resolve_host(text)
    except Refusal:
        return
    assert address.host.isascii()
    assert resolve_host(address.host).host == address.host
    try:
        literal = ipaddress.ip_address(address.host.strip("[]"))
    except ValueError:
        return
    assert literal.is_global or address.private


@given(
    st.lists(
        st.sampled_from(
            ["a", "b@x.example", ",", ";", '"', "<", ">", "@", " ", "\n", "Ann", "(", "\\", "\u00e9", "B@X.example"]
        ),
        max_size=12,
    ).map("".join)
)
def test_parties_sent_are_the_parties_read(text: str) -> None:
    found = resolve_parties(text)
    if isinstance(found, tuple):
        assert resolve_parties(", ".join(party.text for party in found)) == found


@given(st.text(alphabet="ab()[]{}*+?|.\\^$-0123,:i", max_size=16), st.text(alphabet="ab-\n", max_size=10))
def test_a_pattern_means_what_it_means_elsewhere(pattern: str, text: str) -> None:
    try:
        ours = compile_pattern(pattern, dot_spans_lines=False).fullmatch(text)
    except (PatternError, TextTooLong):
        return
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        theirs = re.compile(pattern, re.ASCII)
    assert ours == (theirs.fullmatch(text) is not None)


@given(st.data())
def test_a_broken_policy_is_refused_and_never_half_loaded(furnished: Place, data: st.DataObject) -> None:
    policy = furnished.policy(
        [{"name": "a", "if": {"paths": {"roles": ["read-path"], "within": "{root}/out"}}, "then": "allow"}]
    )
    text = bytearray(json.dumps([policy, annotated(FILE_TOOLS)]).encode())
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from([b"", b'"', b"}", b"x", b"1", b"null", b"\xff", b"A"])
        )
    try:
        both = strict_json.loads(bytes(text))
        first, second = both if isinstance(both, list) and len(both) == 2 else (both, both)
        items = {
            POLICY: parse(json.dumps(first).encode(), POLICY),
            ANNOTATIONS: parse(json.dumps(second).encode(), ANNOTATIONS),
        }
        loaded = build(Bundle(furnished.root / "policy", items), furnished.surroundings())
    except (ArtifactError, Refusal) as error:
        assert "\n" not in str(error)
        return
    assert (
        decide_bytes(
            b'{"serverName":"fs","toolName":"delete","arguments":{"path":"/etc/x"}}', loaded, NOW
        ).decision.outcome.word
        == "deny"
    )


@given(JSON_VALUES)
def test_any_json_is_decided(furnished: Place, value: Any) -> None:
    loaded = furnished.load([], FILE_TOOLS)
    request = {"serverName": "fs", "toolName": "write", "arguments": {"path": "x", "content": value}}
    decision = decide_bytes(json.dumps(request).encode(), loaded, NOW).decision
    assert decision.code in ("contained", "path_protected", "path_magic") or decision.stage.value == "validate"
