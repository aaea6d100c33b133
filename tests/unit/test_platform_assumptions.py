"""Facts of the platform that the design rests on. If an upgrade changes one, we want to know."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def test_the_standard_json_reader_keeps_the_last_of_two_keys() -> None:
    assert json.loads('{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_the_standard_json_reader_accepts_what_is_no_number(text: str) -> None:
    assert isinstance(json.loads(text), float)


def test_the_standard_json_reader_guesses_encodings() -> None:
    assert json.loads('{"a": 1}'.encode("utf-16")) == {"a": 1}
    assert json.loads(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_the_standard_json_reader_accepts_half_a_surrogate_pair() -> None:
    with pytest.raises(UnicodeEncodeError):
        json.loads('"\\ud800"').encode()


def test_the_standard_json_reader_recurses() -> None:
    with pytest.raises(RecursionError):
        json.loads("[" * 200_000)


def test_names_that_begin_alike_are_not_inside() -> None:
    assert "/sbx_evil".startswith("/sbx")


def test_joining_an_absolute_path_drops_the_root() -> None:
    assert os.path.join("/w", "/etc/passwd") == "/etc/passwd"  # noqa: PTH118 - the fact itself


def test_lexical_and_real_paths_disagree_after_a_link(tmp_path: Path) -> None:
    box = tmp_path / "sbx"
    box.mkdir()
    (box / "up").symlink_to("..")
    assert os.path.normpath(f"{box}/up/../x") == f"{box}/x"
    assert os.path.realpath(f"{box}/up/../x") == f"{tmp_path.parent.resolve()}/x"


def test_realpath_returns_a_looping_path(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert os.path.realpath(tmp_path / "loop").endswith("loop")


def test_urlsplit_hears_another_host_than_people_do() -> None:
    assert urlsplit("http://good.com\\@evil.com/").hostname == "evil.com"
    assert urlsplit("http://a\tb.com/").hostname == "ab.com"


@pytest.mark.parametrize("text", ["127.1", "2130706433", "0177.0.0.1", "0x7f.1"])
def test_the_resolver_accepts_odd_spellings_of_addresses(text: str) -> None:
    assert socket.inet_aton(text) == socket.inet_aton("127.0.0.1")


@pytest.mark.parametrize("text", ["::127.0.0.1", "64:ff9b::7f00:1"])  # and 2002:7f00:1::, before 3.13
def test_ipaddress_calls_hidden_loopback_addresses_global(text: str) -> None:
    assert ipaddress.ip_address(text).is_global


def test_ipaddress_calls_a_metadata_service_global() -> None:
    assert ipaddress.ip_address("168.63.129.16").is_global


def test_a_dollar_matches_before_a_line_break() -> None:
    assert re.match(r"^[a-z]+$", "abc\n")


def test_digits_are_not_ascii_only() -> None:
    assert re.match(r"\d", "\u0661")
    assert int("\u0661") == 1
    assert int("1_000") == 1000
