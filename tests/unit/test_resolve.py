"""Step 2: one canonical form for paths, hosts, URLs, parties and commands, or a refusal."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.errors import Refusal
from ironcurtain.model.resolved import Command, Opaque
from ironcurtain.resolve.commands import resolve_command
from ironcurtain.resolve.hosts import resolve_host
from ironcurtain.resolve.parties import resolve_parties
from ironcurtain.resolve.paths import PathResolver, system_mounts
from ironcurtain.resolve.text import fold, looks_like_flag
from ironcurtain.resolve.urls import looks_like_name, looks_like_url, resolve_url
from tests.support import FILE_TOOLS, Place, call, decide, judge, tool

if TYPE_CHECKING:
    from pathlib import Path


def refusal(work: Any, *arguments: Any, **more: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        work(*arguments, **more)
    return caught.value


# --- paths --------------------------------------------------------------------------------------------------------


@dataclass
class FakeLooks:
    """A file system in a dictionary, for what is hard to have for real: mounts, permissions, strange names."""

    entries: dict[str, Any]
    asked: list[str] = field(default_factory=list)

    def lstat(self, path: str) -> os.stat_result:
        self.asked.append(path)
        entry = self.entries.get(path)
        if isinstance(entry, Exception):
            raise entry
        if entry is None:
            raise FileNotFoundError(path)
        kind, device, links = entry if isinstance(entry, tuple) else (entry, 1, 1)
        mode = {"dir": stat.S_IFDIR, "file": stat.S_IFREG}.get(kind, stat.S_IFLNK)
        return os.stat_result((mode | 0o700, 1, device, links, 0, 0, 0, 0, 0, 0))

    def readlink(self, path: str) -> str:
        self.asked.append(path)
        entry = self.entries[path]
        target = entry[0] if isinstance(entry, tuple) else entry
        if isinstance(target, Exception):
            raise target
        return str(target)


def walk(text: str, base: str | None = None, /, **entries: Any) -> Any:
    looks = FakeLooks({"/" + key.replace("__", "/"): value for key, value in entries.items()})
    return PathResolver("/home/o", looks=looks).resolve(text, base)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("/", "/"), ("//", "/"), ("/..", "/"), ("/../../x", "/x"), ("/a/./b//c/", "/a/b/c"), ("/a/../b", "/b"),
        ("~", "/home/o"), ("~/", "/home/o"), ("~/x", "/home/o/x"), ("~/../p", "/home/p"), ("rel", "/base/rel"),
        ("../x", "/x"), (".", "/base"), ("/a/...", "/a/..."), ("/e\u0301", "/\u00e9"), ("/a b", "/a b"), ("/[id]/x", "/[id]/x"),
        ("/a:b", "/a:b"), ("/-x", "/-x"), ("/.hidden", "/.hidden"), ("/x~1y", "/x~1y"), ("/{x}", "/{x}"), ("/console", "/console"),
    ],
)  # fmt: skip
def test_a_path_has_one_form(text: str, canonical: str) -> None:
    assert walk(text, "/base", base="dir", a="dir").text == canonical


@pytest.mark.parametrize(
    "text",
    [
        "~root", "~root/x", "$HOME/x", "/a/${x}", "/a`id`", "/a\0b", "/a\nb", "/a\tb", "/a\x1b[0m", "/a\u202eb", "/a\u2028b",
        "C:\\x", "C:x", "c:/x", "\\\\server\\share", "/a\\b", "/x::$DATA", "/CON", "/nul/x", "/com1", "/LPT9", "/a.", "/a /b", "/a..",
        "/PROGRA~1", "/progra~1.txt", "file:///etc/passwd", "file:x", "https://example.com/", "/" + "a" * 4_096,
        "/" + "a" * 256, "/" + "\u00e9" * 128,
    ],
)  # fmt: skip
def test_a_path_with_a_second_meaning_is_refused(text: str) -> None:
    assert refusal(walk, text, "/base").code == "path_spelling"


@pytest.mark.parametrize("text", ["/a/*", "/a?", "/**/x", "/{a,b}", "/{1..9}", "/[!x]", "/[^x]", "/[a-z]"])
def test_a_pattern_is_no_path(text: str) -> None:
    assert refusal(walk, text).code == "path_wildcard"


def test_names_and_paths_of_just_the_permitted_length_are_fine() -> None:
    assert walk("/" + "a" * 255).text == "/" + "a" * 255
    long = "/" + "/".join(["b" * 254] * 16)
    assert len(long) == 4080
    assert walk(long).text == long
    assert refusal(walk, "/l/" + "c" * 100, None, l="/" + "/".join(["b" * 250] * 16)).code == "path_spelling"


def test_a_relative_path_needs_a_starting_point() -> None:
    assert refusal(walk, "x", None).code == "path_relative"


@pytest.mark.parametrize(
    ("text", "entries", "canonical"),
    [
        ("/l", {"l": "/t"}, "/t"),
        ("/l/x", {"l": "/t", "t": "dir"}, "/t/x"),
        ("/d/l/x", {"d": "dir", "d__l": "m", "d__m": "../n"}, "/n/x"),
        ("/d/l/../x", {"d": "dir", "d__l": "/q/r", "q": "dir", "q__r": "dir"}, "/q/x"),
        ("/d/l", {"d": "dir", "d__l": "nowhere"}, "/d/nowhere"),
        ("/d/l", {"d": "dir", "d__l": "../../.."}, "/"),
        ("/none/../l", {"l": "/t"}, "/t"),
        ("/none/deep/../../l", {"l": "/t"}, "/t"),
        ("/none/l", {"none": None}, "/none/l"),
        ("/l//./x", {"l": "t/", "t": "dir"}, "/t/x"),
        ("~", {"home": "dir", "home__o": "/users/o"}, "/users/o"),
    ],
)
def test_links_are_followed_as_far_as_they_exist(text: str, entries: dict[str, Any], canonical: str) -> None:
    assert walk(text, **entries).text == canonical


def test_a_link_after_something_missing_is_followed_again() -> None:
    """Going back up from what does not exist must not switch the checks off."""
    assert walk("/none/../d/l", d="dir", d__l="/secret").text == "/secret"
    assert walk("/d/none/../l", d="dir", d__l="/secret").text == "/secret"


def test_forty_links_are_followed_and_the_next_is_refused() -> None:
    chain: dict[str, Any] = {f"l{i}": f"/l{i + 1}" for i in range(1, 40)}
    assert walk("/l1", **chain, l40="/end").text == "/end"
    assert refusal(walk, "/l0", None, l0="/l1", **chain, l40="/end").code == "path_loop"
    assert refusal(walk, "/loop", None, loop="loop").code == "path_loop"
    assert refusal(walk, "/a", None, a="/b", b="/a").code == "path_loop"


@pytest.mark.parametrize(
    "error", [PermissionError(errno.EACCES, "Permission denied"), OSError(errno.EIO, "I/O"), ValueError("x")]
)
def test_what_cannot_be_examined_is_refused(error: Exception) -> None:
    assert refusal(walk, "/d/x", None, d=error).code == "path_unreadable"


@pytest.mark.parametrize("target", ["", "a\udcff"])
def test_a_link_to_no_name_is_refused(target: str) -> None:
    assert refusal(walk, "/l", None, l=target or ("", 1, 1)).code == "path_unreadable"


def test_a_link_that_vanishes_is_refused() -> None:
    assert refusal(walk, "/l", None, l=(OSError(errno.ENOENT, "gone"), 1, 1)).code == "path_unreadable"


def test_nothing_is_above_a_file() -> None:
    assert refusal(walk, "/f/../x", None, f="file").code == "path_unreadable"
    assert walk("/f", f="file").text == "/f"
    assert refusal(walk, "/f/x", None, f="file", f__x=NotADirectoryError(errno.ENOTDIR, "no")).code == "path_unreadable"


def test_another_mount_below_a_directory_is_not_inside_it() -> None:
    path = walk("/w/m/x", w="dir", w__m=("dir", 2, 1), w__m__x=("file", 2, 1))
    assert path.crossings == (4,)
    assert path.named_within("/w")
    assert not path.within("/w")
    assert path.within("/w/m")
    assert not path.within("/")
    assert walk("/w/x", w=("dir", 2, 1), w__x=("file", 3, 1)).within("/w"), "only directories tell of mounts"


def test_a_mount_on_the_same_device_is_known_from_the_table() -> None:
    looks = FakeLooks({"/w": "dir", "/w/m": "dir"})
    resolver = PathResolver("/", looks=looks, mounts=frozenset({"/w/m"}))
    assert not resolver.resolve("/w/m/x", None).within("/w")
    assert resolver.resolve("/w/m/x", None).within("/w/m")
    assert resolver.resolve("/w/n/x", None).within("/w")


def test_a_file_with_other_names_is_inside_nothing() -> None:
    twin = walk("/w/f", w="dir", w__f=("file", 1, 2))
    assert twin.shared
    assert twin.named_within("/w")
    assert not twin.within("/w")
    assert walk("/w/d", w="dir", w__d=("dir", 1, 5)).within("/w"), "directories have other names by nature"
    assert walk("/w/f", w="dir", w__f=("file", 1, 1)).within("/w")


def test_a_name_is_inside_by_components() -> None:
    path = walk("/w/project2/x")
    assert not path.named_within("/w/project")
    assert path.named_within("/w/project2")
    assert path.named_within("/w/project2/x")
    assert path.named_within("/")
    assert not path.named_within("/w/project2/x/y")


def test_one_look_a_component_and_two_a_link() -> None:
    looks = FakeLooks({"/a": "dir", "/a/b": "dir", "/a/b/l": "/a/c", "/a/c": "dir", "/a/c/f": "file"})
    PathResolver("/", looks=looks).resolve("/a/b/l/f", None)
    assert looks.asked == ["/a", "/a/b", "/a/b/l", "/a/b/l", "/a", "/a/c", "/a/c/f"]
    looks.asked.clear()
    PathResolver("/", looks=looks).resolve("/a/none/deep/er", None)
    assert looks.asked == ["/a", "/a/none"], "nothing is asked below what does not exist"


def test_the_mount_table_is_read_with_its_escapes(tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_text("1 0 8:1 / / rw - ext4 x rw\n2 1 8:1 /a /mnt/my\\040disk rw - ext4 x rw\n")
    assert system_mounts(str(table)) == {"/", "/mnt/my disk"}
    assert system_mounts(str(tmp_path / "none")) == frozenset()


def test_the_trail_tells_which_links_were_passed() -> None:
    assert walk("/l/x", l="/m", m="/t", t="dir").trail == ("/l/x", "/m/x")


def test_a_string_that_is_no_path_is_read_by_its_letters() -> None:
    resolver = PathResolver("/home/o", looks=FakeLooks({}))
    assert resolver.lexical("~/a/../b", None) == "/home/o/b"
    assert resolver.lexical("//x//y/.", None) == "/x/y"
    assert resolver.lexical("./x", "/base") == "/base/x"
    assert resolver.lexical("./x", None) == "./x"
    assert resolver.lexical("~other/x", None) == "~other/x"


# --- text ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        ".IronCurtain",
        ".\u0130roncurta\u0131n".replace("\u0131", "i"),
        ".iron\u200bcurtain",
        ".\uff49roncurtain",
        ".ironcurta\u00efn",
    ],
)
def test_look_alike_names_fold_together(name: str) -> None:
    assert fold(name) == ".ironcurtain"


def test_other_names_do_not() -> None:
    assert fold("stra\u00dfe") == fold("STRASSE")
    assert fold("\u212aelvin") == "kelvin"
    assert fold("ironcurtain") != fold("ironcurtains")


@pytest.mark.parametrize(
    "text", ["-", "--x", "\u2010x", "\u2013x", "\u2014", "\u2212x", "\uff0dx", "\ufe63x", "\u00adx"]
)
def test_dashes_of_any_kind_look_like_flags(text: str) -> None:
    assert looks_like_flag(text)
    assert not looks_like_flag("x" + text)
    assert not looks_like_flag("")


# --- hosts and URLs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.COM", "example.com"), ("example.com.", "example.com"), ("a_b.example", "a_b.example"), ("8.8.8.8", "8.8.8.8"),
        ("[2606:4700::1111]", "[2606:4700::1111]"), ("[2606:4700:0:0::1111]", "[2606:4700::1111]"), ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("\uff45xample.com", "example.com"), ("example\u3002com", "example.com"), ("exam\u00adple.com", "example.com"), ("intranet", "intranet"),
        ("x" * 63 + ".example", "x" * 63 + ".example"),
    ],
)  # fmt: skip
def test_a_host_has_one_form(text: str, host: str) -> None:
    assert resolve_host(text).host == host


@pytest.mark.parametrize(
    "text",
    [
        "", ".", "a..b", "-a.example", "a-.example", "x" * 64 + ".example", "a." * 130 + "b", "a b", "a%41.example", "a/b", "a:b",
        "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "0", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.04", "1.2.3.0x4", "example.0",
        "[::1", "[]", "[1.2.3.4]", "[::1%eth0]", "[::ffff:8.8.8.8]", "[::8.8.8.8]", "[64:ff9b::808:808]", "[64:ff9b:1::1]", "[2002:808:808::1]",
        "[2001:0:1::1]", "[::ffff:0:808:808]", "[2606:4700::5efe:808:808]", "[2606:4700::200:5efe:808:808]", "\u2100.example", "xn--\u00e9",
    ],
)  # fmt: skip
def test_a_host_in_another_spelling_is_refused(text: str) -> None:
    assert refusal(resolve_host, text).code == "host_spelling"


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.1.1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "240.0.0.1",
        "198.18.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "192.0.0.1", "[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[ff02::1]",
        "[fec0::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]", "[5f00::1]", "localhost", "a.localhost", "LOCALHOST.",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_known_as_private(text: str) -> None:
    assert resolve_host(text).private


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "1.1.1.1", "[2606:4700::1111]", "example.com", "localhost.example", "172.32.0.1", "100.128.0.1"]
)
def test_a_public_one_is_not(text: str) -> None:
    assert not resolve_host(text).private
    assert not resolve_host(text).metadata


@pytest.mark.parametrize(
    "text",
    ["169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "100.100.100.200", "192.0.0.192", "[fd00:ec2::254]", "[fd20:ce::254]", "metadata.google.internal", "METADATA.google.internal."],
)  # fmt: skip
def test_a_metadata_service_is_known_by_any_name(text: str) -> None:
    assert resolve_host(text).metadata


def test_every_answer_of_a_lookup_counts() -> None:
    answers = {
        "good.example": ["8.8.8.8"],
        "mixed.example": ["8.8.8.8", "10.0.0.1"],
        "meta.example": ["169.254.169.254"],
        "hidden.example": ["::ffff:127.0.0.1"],
        "odd.example": ["127.1"],
    }

    def lookup(name: str) -> list[str]:
        if name == "gone.example":
            raise OSError(name)
        return answers.get(name, [])

    assert not resolve_host("good.example", lookup).private
    assert resolve_host("mixed.example", lookup).private
    assert resolve_host("meta.example", lookup).metadata
    assert resolve_host("hidden.example", lookup).private
    assert resolve_host("odd.example", lookup).private
    assert refusal(resolve_host, "gone.example", lookup).code == "host_lookup"
    assert refusal(resolve_host, "nothing.example", lookup).code == "host_lookup"
    assert not resolve_host("8.8.8.8", lookup).private, "an address is not looked up"


@pytest.mark.parametrize(
    ("text", "confusable"),
    [("\u0430pple.com", True), ("\u0430\u0440\u0440\u04cf\u0435.com", True), ("b\u00fccher.example", False), ("\u0434\u043e\u043c.example", False), ("\u65e5\u672c.example", False), ("apple.com", False), ("go\u03bfgle.com", True)],
)  # fmt: skip
def test_names_that_imitate_are_noticed(text: str, confusable: bool) -> None:
    shown = resolve_host(text).confusable
    assert (shown is not None) is confusable
    if confusable:
        assert shown == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("HTTPS://Example.COM", "https://example.com/"), ("http://example.com:80/a", "http://example.com/a"), ("https://example.com:443", "https://example.com/"),
        ("https://example.com:8443/a?b#c", "https://example.com:8443/a?b#c"), ("https://e.example/a/../b/./c", "https://e.example/b/c"), ("https://e.example/a/%2e%2E/b", "https://e.example/b"),
        ("https://e.example/%7euser/%2f", "https://e.example/~user/%2F"), ("https://e.example/\u00e9 ".strip(), "https://e.example/%C3%A9"), ("https://e.example/..", "https://e.example/"),
        ("https://e.example/a/..", "https://e.example/"), ("https://e.example/a/.", "https://e.example/a/"), ("https://e.example//a", "https://e.example//a"), ("https://e.example?q=../x", "https://e.example/?q=../x"),
        ("http://good.example#@evil.example", "http://good.example/#@evil.example"), ("example.com", "example.com"), ("example.com:8080", "example.com:8080"), ("localhost:3000", "localhost:3000"),
        ("https://[2606:4700::1111]:8080/", "https://[2606:4700::1111]:8080/"), ("8.8.8.8:53", "8.8.8.8:53"), ("https://e.example/a%252e", "https://e.example/a%252e"), ("https://e.example/a%3Fb", "https://e.example/a%3Fb"),
    ],
)  # fmt: skip
def test_a_url_has_one_form(text: str, canonical: str) -> None:
    url = resolve_url(text)
    assert url.text == canonical
    assert resolve_url(canonical).text == canonical


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ftp://example.com/", "url_scheme"), ("javascript:alert(1)", "url_scheme"), ("javascript:1", "url_scheme"), ("data:text/html,x", "url_scheme"), ("file:///etc/passwd", "url_scheme"), ("ext::sh -c x".replace(" ", ""), "url_scheme"),
        ("https://a@example.com/", "url_userinfo"), ("https://a:b@example.com/", "url_userinfo"), ("https://good.com@evil.com", "url_userinfo"), ("git@host:path", "url_spelling"),
        ("http://good.com\\@evil.com/", "url_spelling"), ("https://e.example/a b", "url_spelling"), ("https://e.example/\x00", "url_spelling"), ("https://e.example/\n", "url_spelling"), ("https://e.example:/", "url_spelling"),
        ("https://e.example:0/", "url_spelling"), ("https://e.example:65536/", "url_spelling"), ("https://e.example:080/", "url_spelling"), ("https://", "url_spelling"), ("https:///x", "url_spelling"), ("https:/e.example", "url_spelling"), ("//e.example/", "url_spelling"),
        ("e.example/path", "url_spelling"), ("https://e%41.example/", "url_spelling"), ("https://e.example/%", "url_spelling"), ("https://e.example/%zz", "url_spelling"), ("https://[::1]x/", "url_spelling"), ("x" * 8_193, "url_spelling"), ("https://127.1/", "host_spelling"), ("https://[::1%25eth0]/", "url_spelling"),
    ],
)  # fmt: skip
def test_a_url_that_two_programs_read_differently_is_refused(text: str, code: str) -> None:
    assert refusal(resolve_url, text).code == code


def test_the_longest_url_is_read() -> None:
    text = "https://e.example/" + "a" * (8_192 - 18)
    assert resolve_url(text).text == text


def test_urls_are_told_from_paths_by_their_scheme() -> None:
    assert looks_like_url("https://x")
    assert looks_like_url("s3+x://y")
    assert not looks_like_url("/a://b")
    assert not looks_like_url("git@host:path")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4ea3d5fb60714c92", True), ("52772", True), ("team/project", True), ("a_b-c", True), ("16777215", True),
        ("4294967296", True), ("1180000000000000013", True), ("7/x", True), ("a-localhost", True), ("localhostess", False), ("0a", True),
        ("16777216", False), ("9" * 5_000, True), ("42949672950", True), ("167772160000", True), ("4294967295", False), ("2130706433", False), ("2130706433/x", False), ("0", False),
        ("017", False), ("0x7f000001", False), ("0X1", False), ("localhost", False), ("LocalHost/x", False),
        ("a.b", False), ("a:b", False), ("a//b", False), ("/a", False), ("a/", False), ("", False), ("a b", True),
        ("Rigg, Hilda", True), ("My team/Q&A (old)", True), ("a  b", False), (" a", False), ("a ", False), ("a/ b", False),
        ("localhost a", False), ("a localhost", False), ("a,localhost", False), ("'localhost'", False), ("metadata", False), ("metadata2", True), ("ip6-loopback/x", False), ("2130706433 x", False), ("Room 012", False), ("x/127 1", True), ("0x1 a", False), ("a\tb", False), ("a\u00a0b", False),
        ("a%2fb", False), ("a@b", False), ("a?b", False), ("a#b", False), ("a\\b", False), ("\uff11", False), ("é", False),
        ("a\n", False), ("7.5", False), ("[1]", False),
    ],
)  # fmt: skip
def test_what_can_only_be_a_name_is_no_url(text: str, *, expected: bool) -> None:
    assert looks_like_name(text) is expected


@pytest.mark.parametrize(
    ("roles", "value", "found"),
    [
        (["fetch-url", "identifier"], "4ea3d5fb", ["fetch-url", "identifier"]),
        (["fetch-url", "identifier"], 52772, ["fetch-url", "identifier"]),
        (["fetch-url", "identifier", "place"], "team/project", ["fetch-url", "place", "identifier"]),
        (["fetch-url", "identifier"], "https://x.example/4ea3", ["fetch-url", "identifier"]),
        (["fetch-url"], "4ea3d5fb", "host_private"),
        (["identifier", "send-url"], "4ea3d5fb", "host_private"),
        (["fetch-url", "identifier", "send-url"], "4ea3d5fb", "host_private"),
        (["fetch-url", "host", "identifier"], "4ea3d5fb", "host_private"),
        (["fetch-url", "place"], "4ea3d5fb", "host_private"),
        (["fetch-url", "identifier"], "localhost", "host_private"),
        (["fetch-url", "identifier"], 2130706433, "value_type"),
        (["fetch-url", "identifier"], 7.5, "value_type"),
        (["fetch-url", "identifier"], True, "value_type"),
        (["fetch-url", "identifier", "read-path"], "/x/4ea3d5fb", ["read-path", "identifier"]),
    ],
)
def test_an_id_where_an_id_or_a_url_is_taken_is_no_url(place: Place, roles: Any, value: Any, found: Any) -> None:
    judged = judge(place.load(ANYTHING, [tool("t", {"x": roles})]), call("t", {"x": value}))
    if isinstance(found, str):
        assert judged.decision.code == found
    else:
        assert judged.call is not None
        assert [item.role for item in judged.call.values] == found
        readable = [not isinstance(item.value, Opaque) for item in judged.call.values if item.role == "fetch-url"]
        assert all(readable) == str(value).startswith(("https:", "/"))


# --- names in a store: `net` has no known starting point ---

ELSEWHERE = [{"name": "all", "if": {"server": ["net"]}, "then": "allow"}]


@pytest.mark.parametrize(
    ("roles", "value", "found"),
    [
        (["identifier", "read-path"], "methods/quadrats", ["read-path", "identifier"]),
        (["identifier", "read-path"], "a/b.py", ["read-path", "identifier"]),
        (["identifier", "read-path", "write-path"], "methods/a", ["read-path", "write-path", "identifier"]),
        (["identifier", "outbound-content", "read-path"], "a", ["read-path", "identifier", "outbound-content"]),
        (["read-path"], "methods/quadrats", "path_relative"),
        (["place", "read-path"], "methods/quadrats", "path_relative"),
        (["identifier", "write-path"], "a/b.py", "path_relative"),
        (["delete-path", "identifier"], "A/B.SH", "path_relative"),
        (["identifier", "write-path"], "node_modules/a", "path_relative"),
        (["identifier", "write-path"], "a/Makefile", "path_relative"),
        (["identifier", "write-path"], "a.pyx", ["write-path", "identifier"]),
        (["identifier", "read-path"], "a/../b", "path_relative"),
        (["identifier", "read-path"], "./a", "path_relative"),
        (["identifier", "read-path"], "a/.b", "path_relative"),
        (["identifier", "read-path"], "a/~b", "path_relative"),
        (["identifier", "read-path"], "a//b", "path_relative"),
        (["identifier", "read-path"], "a/", "path_relative"),
        (["identifier", "read-path"], "a%2fb", "path_relative"),
        (["identifier", "read-path"], "FILE:a", "path_relative"),
        (["identifier", "read-path"], "a" * 256, "path_relative"),
        (["identifier", "read-path"], "e\u0301", "path_relative"),
        (["identifier", "read-path"], "a*", "path_wildcard"),
        (["identifier", "read-path"], "-a", "value_flag"),
        (["identifier", "read-path"], 7, "value_type"),
        (["fetch-url", "identifier", "read-path"], "a/b", ["read-path", "identifier"]),
    ],
)
def test_a_relative_path_that_may_be_a_name_is_one(place: Place, roles: Any, value: Any, found: Any) -> None:
    judged = judge(place.load(ELSEWHERE, [tool("t", {"x": roles}, server="net")]), call("t", {"x": value}, "net"))
    if isinstance(found, str):
        assert judged.decision.code == found
        return
    assert judged.call is not None
    assert [item.role for item in judged.call.values] == found
    opaque = {item.role for item in judged.call.values if isinstance(item.value, Opaque)}
    assert opaque == {role for role in found if role.endswith("-path")}
    assert judged.call.leaves["x"][-1] == value
    assert judged.call.arguments == {"x": value}


def test_a_server_that_starts_among_files_of_the_owner_takes_no_names(place: Place) -> None:
    loaded = place.load(ELSEWHERE, [tool("t", {"x": ["identifier", "read-path"]}, server="net")])
    assert judge(loaded, call("t", {"x": "a/b"}, "net")).decision.outcome.word == "allow"
    started = replace(loaded, resolver=replace(loaded.resolver, started=frozenset({"net"})))
    assert judge(started, call("t", {"x": "a/b"}, "net")).decision.code == "path_relative"


def test_a_name_is_compared_with_what_is_protected_in_the_home(place: Place) -> None:
    loaded = place.load(ELSEWHERE, [tool("t", {"x": ["identifier", "read-path"]}, server="net")])
    place.link("home/owner/door", f"{place.ironcurtain}")
    assert judge(loaded, call("t", {"x": "door/state.db"}, "net")).decision.code == "path_protected"
    assert judge(loaded, call("t", {"x": "floor/state.db"}, "net")).decision.outcome.word == "allow"


def test_a_name_is_one_where_what_it_is_relative_to_is_left_out(place: Place) -> None:
    files = {"roles": ["identifier", "read-path"], "relativeTo": "root"}
    root = {"roles": ["read-path"], "absent": "nothing"}
    loaded = place.load(ELSEWHERE, [tool("t", {"x": files, "root": root}, server="net")])
    assert judge(loaded, call("t", {"x": "a/b"}, "net")).decision.outcome.word == "allow"
    judged = judge(loaded, call("t", {"x": "a/b", "root": str(place.sandbox)}, "net"))
    assert judged.call is not None
    assert next(str(item.value) for item in judged.call.values if item.role == "read-path") == f"{place.sandbox}/a/b"


@pytest.mark.parametrize(("value", "expected"), [("~/recipes/a.yml", "allow"), ("~/recipes/a;b.yml", "deny")])
def test_a_command_beside_a_path_is_the_path_as_it_is_sent(place: Place, value: str, expected: str) -> None:
    judged = judge(place.load(ANYTHING, [tool("t", {"x": ["command", "read-path"]})]), call("t", {"x": value}))
    assert judged.call is not None
    assert judged.call.arguments == {"x": f"{place.home}{value[1:]}"}
    assert {str(item.value) for item in judged.call.values} == {f"{place.home}{value[1:]}"}
    plain = [item.value.plain for item in judged.call.values if isinstance(item.value, Command)]
    assert plain == [expected == "allow"]


# --- parties and commands -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parties"),
    [
        ("bob", ["bob"]), ("Bob@Example.COM", ["bob@example.com"]), ("Ann Lee <Ann@x.example>", ["ann@x.example"]), ('"Lee, Ann" <ann@x.example>', ["ann@x.example"]),
        ("a, b;c ,, d", ["a", "b", "c", "d"]), ("<ann@x.example>", ["ann@x.example"]), ("@alice", ["@alice"]), ("U123", ["U123"]), ("ann@b\u00fccher.example", ["ann@xn--bcher-kva.example"]), ("#general", ["#general"]),
    ],
)  # fmt: skip
def test_a_string_of_parties_is_split(text: str, parties: list[str]) -> None:
    found = resolve_parties(text)
    assert not isinstance(found, Opaque)
    assert [party.text for party in found] == parties
    again = resolve_parties(", ".join(parties))
    assert not isinstance(again, Opaque)
    assert [party.text for party in again] == parties


@pytest.mark.parametrize(
    "text",
    ['"x', "a@b@c.example", "ann@", "<bob>", "a <b", "a> b", "bob\n", "ann@127.1", "eve@evil.example <bob@x.example>", "a\\b", "\u00e9@x.example", '"a"@x.example', ",".join(["a"] * 1_001), "Bob <>"],
)  # fmt: skip
def test_what_cannot_be_read_as_parties_is_opaque(text: str) -> None:
    assert isinstance(resolve_parties(text), Opaque)


def test_a_thousand_parties_can_be_read() -> None:
    found = resolve_parties(",".join(["a"] * 1_000))
    assert not isinstance(found, Opaque)
    assert len(found) == 1_000


def test_an_address_knows_its_domain() -> None:
    found = resolve_parties("ann@X.example, bob")
    assert not isinstance(found, Opaque)
    assert [party.domain for party in found] == ["x.example", None]


@pytest.mark.parametrize(
    "text", ["git status", "ls -la", "SELECT SUM(a) FROM b WHERE c = 'd'", "echo 5$", "awk {print}"]
)
def test_a_plain_command_is_plain(text: str) -> None:
    command = resolve_command(text)
    assert command.plain
    assert text in command.parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ls; rm x", ("ls", "rm x")),
        ("a&&b||c", ("a", "b", "c")),
        ("a | b", ("a", "b")),
        ("a\nb", ("a", "b")),
        ("a;", ("a",)),
        (";a", ("a",)),
        ("a\u2028b", ("a", "b")),
    ],
)
def test_a_chain_of_commands_is_taken_apart(text: str, parts: tuple[str, ...]) -> None:
    command = resolve_command(text)
    assert command.parts == parts
    assert not command.plain
    assert not command.unreadable


@pytest.mark.parametrize(
    "text", ["a > b", "a < b", "a `b`", "a $(b)", "a ${b}", "rm$IFS-rf", "\\\\rm x", "echo $_", ";".join(["x"] * 51)]
)
def test_a_command_that_says_nothing_for_sure_is_unreadable(text: str) -> None:
    assert resolve_command(text).unreadable
    assert not resolve_command(text).plain


def test_fifty_parts_are_readable() -> None:
    assert not resolve_command(";".join(["x"] * 50)).unreadable


# --- the whole call -----------------------------------------------------------------------------------------------

ANYTHING = [{"name": "all", "if": {"server": ["fs"]}, "then": "allow"}]


def test_the_canonical_form_is_what_is_forwarded(place: Place) -> None:
    place.file("out/real.txt")
    place.link("box/link", "{root}/out/real.txt")
    loaded = place.load(
        ANYTHING,
        [
            tool(
                "t",
                {
                    "path": ["read-path"],
                    "url": ["fetch-url"],
                    "to": ["recipient"],
                    "where": ["channel"],
                    "note": ["none"],
                },
            )
        ],
    )
    judged = judge(
        loaded,
        call(
            "t",
            {
                "path": "link",
                "url": "HTTPS://Example.com:443/a/../b",
                "to": "Bob <BOB@x.example>, ann",
                "where": " C1 ",
                "note": " as is ",
            },
        ),
    )
    assert judged.call is not None
    assert judged.call.arguments == {
        "path": f"{place.root}/out/real.txt",
        "url": "https://example.com/b",
        "to": "bob@x.example, ann",
        "where": "C1",
        "note": " as is ",
    }


def test_a_list_keeps_its_shape(place: Place) -> None:
    loaded = place.load(
        ANYTHING,
        [
            tool(
                "t",
                {"files[].path": ["read-path"], "files[].note": ["none"], "more": ["write-path"], "o.p": ["read-path"]},
            )
        ],
    )
    arguments = {"files": [{"path": "a", "note": "x"}, {"path": "b"}], "more": [["c"], "d"], "o": {"p": "e"}}
    judged = judge(loaded, call("t", arguments))
    assert judged.call is not None
    box = place.sandbox
    assert judged.call.arguments == {
        "files": [{"path": f"{box}/a", "note": "x"}, {"path": f"{box}/b"}],
        "more": [[f"{box}/c"], f"{box}/d"],
        "o": {"p": f"{box}/e"},
    }
    assert [(item.role, item.leaf) for item in judged.call.values] == [("read-path", "files[].path")] * 2 + [
        ("write-path", "more")
    ] * 2 + [("read-path", "o.p")]


@pytest.mark.parametrize(
    ("args", "arguments", "code"),
    [
        ({"p": ["read-path"]}, {"p": 5}, "value_type"), ({"p": ["read-path"]}, {"p": True}, "value_type"), ({"p": ["read-path"]}, {"p": {"x": "y"}}, "value_type"), ({"u": ["fetch-url"]}, {"u": 5}, "value_type"),
        ({"p": ["read-path"]}, {"p": "-rf"}, "value_flag"), ({"p": ["read-path"]}, {"p": "-5"}, "value_flag"), ({"c": ["channel"]}, {"c": "--all"}, "value_flag"), ({"i": ["identifier"]}, {"i": "--output=x"}, "value_flag"), ({"t": ["recipient"]}, {"t": "bob, --all"}, "value_flag"), ({"c": ["channel"]}, {"c": " -x"}, "value_flag"),
        ({"c": ["channel"]}, {"c": "a\nb"}, "value_spelling"), ({"a": ["account"]}, {"a": "a\u202eb"}, "value_spelling"), ({"t": ["recipient"]}, {"t": "a\0b"}, "value_spelling"), ({"c": ["command"]}, {"c": "a\0b"}, "value_spelling"),
        ({"a": ["none"]}, {"b": 1}, "argument_unknown"), ({"o.p": ["none"]}, {"o": {"q": 1}}, "argument_unknown"), ({"l[].p": ["none"]}, {"l": [{"q": 1}]}, "argument_unknown"), ({"l[].p": ["none"]}, {"l": ["x"]}, "argument_unknown"), ({"o.p": ["none"]}, {"o": "x"}, "argument_unknown"),
    ],
)  # fmt: skip
def test_an_argument_without_one_meaning_is_refused(place: Place, args: Any, arguments: Any, code: str) -> None:
    made = tool("t", args, definition={"name": "t", "inputSchema": _loose(args)})
    decision = decide(place.load(ANYTHING, [made]), call("t", arguments))
    assert (decision.outcome.word, decision.code) == ("deny", code)


def _loose(args: dict[str, Any]) -> dict[str, Any]:
    """A schema with the right leaves that accepts anything."""
    root: dict[str, Any] = {"properties": {}}
    for leaf in args:
        name, _, member = leaf.partition(".")
        node: dict[str, Any] = {"properties": {member: {}}} if member else {}
        root["properties"][name.removesuffix("[]")] = {"items": node} if name.endswith("[]") else node
    return root


@pytest.mark.parametrize(
    ("args", "arguments"),
    [
        ({"c": ["channel"]}, {"c": "-100"}), ({"t": ["recipient"]}, {"t": "-5"}), ({"i": ["identifier"]}, {"i": "-3"}), ({"b": ["outbound-content"]}, {"b": "- item"}), ({"n": ["none"]}, {"n": "--x"}), ({"c": ["command"]}, {"c": "-la"}), ({"i": ["identifier"]}, {"i": "a\nb"}), ({"c": ["channel"]}, {"c": 5}),
    ],
)  # fmt: skip
def test_near_misses_pass(place: Place, args: Any, arguments: Any) -> None:
    assert decide(place.load(ANYTHING, [tool("t", args)]), call("t", arguments)).outcome.word == "allow"


@pytest.mark.parametrize(
    ("entry", "required", "arguments", "claims"),
    [
        ({"roles": ["channel"], "absent": "nothing"}, (), {}, []),
        ({"roles": ["channel"]}, (), {}, ["(left out)"]),
        ({"roles": ["channel"], "absent": "nothing"}, (), {"x": ""}, []),
        ({"roles": ["channel"], "absent": "nothing"}, (), {"x": "  "}, []),
        ({"roles": ["channel"], "absent": "nothing"}, (), {"x": None}, []),
        ({"roles": ["channel"], "absent": "nothing"}, (), {"x": []}, []),
        ({"roles": ["channel"], "absent": "nothing"}, ("x",), {"x": ""}, ["(left out)"]),
        ({"roles": ["channel"], "absent": "nothing"}, ("x",), {"x": []}, ["(left out)"]),
        ({"roles": ["channel"]}, (), {"x": []}, ["(left out)"]),
        ({"roles": ["read-path"], "absent": "nothing"}, (), {"x": ""}, ["(left out)"]),
        ({"roles": ["fetch-url"], "absent": "nothing"}, (), {"x": " "}, []),
        ({"roles": ["fetch-url"]}, (), {"x": " "}, ["(left out)"]),
        ({"roles": ["fetch-url"], "absent": "nothing"}, ("x",), {"x": ""}, ["(left out)"]),
        ({"roles": ["fetch-url", "read-path"], "absent": "nothing"}, (), {"x": ""}, ["(left out)", "(left out)"]),
        ({"roles": ["read-path"], "absent": "nothing"}, ("x",), {"x": []}, []),
        ({"roles": ["read-path"]}, ("x",), {"x": []}, ["(left out)"]),
        ({"roles": ["send-url"], "absent": "nothing"}, ("x",), {"x": None}, []),
        ({"roles": ["read-path"], "absent": "nothing"}, (), {"x": []}, []),
        ({"roles": ["channel"], "absent": "nothing"}, (), {"x": ["C1", ""]}, ["C1"]),
        ({"roles": ["channel"]}, (), {"x": ["C1", ""]}, ["C1", "(left out)"]),
        ({"roles": ["channel"]}, (), {"x": {"k": "v"}}, ["k", "v"]),
    ],
)
def test_emptiness(place: Place, entry: Any, required: Any, arguments: Any, claims: list[str]) -> None:
    judged = judge(place.load(ANYTHING, [tool("t", {"x": entry}, required=required)]), call("t", arguments))
    assert judged.call is not None
    assert [str(item.value) for item in judged.call.values] == claims


@pytest.mark.parametrize("deep", [False, True])
def test_an_empty_list_of_people_is_nobody_and_a_blank_string_may_be_anybody(place: Place, *, deep: bool) -> None:
    person = {"type": "object", "properties": {"to": {}}, "required": ["to"]}
    items = {"items": person} if deep else person
    schema = {"type": "object", "properties": {"l": {"items": items}}, "required": ["l"]}
    leaf = "l[][].to" if deep else "l[].to"
    made = tool(
        "t", {leaf: {"roles": ["recipient"], "absent": "nothing"}}, definition={"name": "t", "inputSchema": schema}
    )
    for nothing, claims in (([], []), (None, []), ("", ["(left out)"])):
        given: Any = [nothing] if deep else nothing
        judged = judge(place.load(ANYTHING, [made]), call("t", {"l": given}))
        assert judged.call is not None
        assert [str(item.value) for item in judged.call.values] == claims


def test_an_element_that_lacks_the_leaf_counts(place: Place) -> None:
    loaded = place.load(ANYTHING, [tool("t", {"l[].c": ["channel"], "l[].n": ["none"]})])
    for arguments, claims in (
        ({"l": [{"c": "C1"}, {"n": 1}]}, ["C1", "(left out)"]),
        ({"l": []}, ["(left out)"]),
        ({}, ["(left out)"]),
    ):
        judged = judge(loaded, call("t", arguments))
        assert judged.call is not None
        assert [str(item.value) for item in judged.call.values] == claims


MODES = {
    "p": [
        {"roles": ["read-path"], "when": {"op": "list"}},
        {"roles": ["delete-path"], "when": {"op": ["delete", "purge"]}},
        {"roles": ["write-path"], "when": {"op": {"equals": 1}, "force": {"in": [True]}}},
    ],
    "op": ["none"],
    "force": ["none"],
}


@pytest.mark.parametrize(
    ("arguments", "roles"),
    [
        ({"op": "list"}, {"read-path"}), ({"op": "delete"}, {"delete-path"}), ({"op": "purge"}, {"delete-path"}), ({"op": 1, "force": True}, {"write-path"}),
        ({"op": 1}, {"read-path", "delete-path", "write-path"}), ({"op": 1, "force": 1}, {"read-path", "delete-path", "write-path"}), ({"op": "LIST"}, {"read-path", "delete-path", "write-path"}), ({"op": "other"}, {"read-path", "delete-path", "write-path"}), ({}, {"read-path", "delete-path", "write-path"}), ({"op": ["list"]}, {"read-path", "delete-path", "write-path"}),
    ],
)  # fmt: skip
def test_a_sibling_selects_the_mode_and_an_unknown_one_selects_all(
    place: Place, arguments: Any, roles: set[str]
) -> None:
    judged = judge(place.load(ANYTHING, [tool("t", MODES)]), call("t", {"p": "x", **arguments}))
    assert judged.call is not None
    assert {item.role for item in judged.call.values} == roles


@pytest.mark.parametrize(
    ("value", "role", "canonical"),
    [
        ("https://example.com/a", "fetch-url", "https://example.com/a"),
        ("notes.txt", "read-path", "{box}/notes.txt"),
        ("/x/y", "read-path", "/x/y"),
    ],
)
def test_a_url_or_path_is_what_it_looks_like(place: Place, value: str, role: str, canonical: str) -> None:
    judged = judge(place.load(ANYTHING, [tool("t", {"w": ["fetch-url", "read-path"]})]), call("t", {"w": value}))
    assert judged.call is not None
    assert [(item.role, str(item.value)) for item in judged.call.values] == [(role, place.fill(canonical))]


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("~/.ironcurtain/state.db", True), ("{home}/.ironcurtain/x", True), ("{home}/.IRONCURTAIN/x", True), ("file://{home}/.ironcurtain/x", True), ("file://localhost{home}/.ironcurtain/x", True), ("file:{home}/%2eironcurtain/x", True),
        ("../home/owner/.ironcurtain/x", True), ("{home}/.ironcurtain/x\nand more", True), ("{home}/./x/../.ironcurtain/y", True), ("{box}/to-home/.ironcurtain/z", True), ("./.mcp.json", True), ("/proc/self/environ", True), ("~/.ironcurtain/" + "y" * 5_000, True),
        ("/* a comment */", False), ("/etc/hosts", False), ("~/notes", False), ("...", False), ("~/.ironcurtain/sandbox/x", False), ("see {home}/.ironcurtain/x", False), ("~", False), ("/", False), ("~other/x", False),
    ],
)  # fmt: skip
def test_stray_strings_are_compared_with_what_is_protected_and_never_rewritten(
    place: Place, text: str, denied: bool
) -> None:
    place.link("box/to-home", "{home}")
    text = place.fill(text)
    loaded = place.load(ANYTHING, [tool("t", {"note": ["none"], "free": ["none"]})])
    for arguments in ({"note": text}, {"free": {"k": [text]}}, {"free": {text: 1}}):
        judged = judge(loaded, call("t", arguments))
        assert (judged.decision.outcome.word == "deny") is denied, (text, judged.decision)
        if judged.call is not None:
            assert judged.call.arguments == arguments


def test_a_stray_without_a_base_starts_at_the_owners_home(place: Place) -> None:
    loaded = place.load(
        [{"name": "all", "if": {"server": ["net"]}, "then": "allow"}], [tool("t", {"note": ["none"]}, server="net")]
    )
    assert decide(loaded, call("t", {"note": "./.ironcurtain/x"}, "net")).outcome.word == "deny"


def test_reading_each_file_tool_goes_through_resolution(place: Place) -> None:
    loaded = place.load([], FILE_TOOLS)
    assert decide(loaded, call("read", {"path": "a"})).code == "contained"
    assert decide(loaded, call("info", {})).code == "no_rule"


# --- Paths that are relative to another argument of the call. ---

COMMIT = tool(
    "commit",
    {
        "repo": ["read-path"],
        "files": {"roles": ["read-path"], "relativeTo": "repo"},
        "note": {"roles": ["read-path"], "absent": "nothing"},
    },
)
ANYWHERE = [{"name": "all", "description": "x", "principle": "x", "if": {"roles": ["read-path"]}, "then": "allow"}]


def committed(place: Place, files: Any, repo: Any = "{home}/code") -> Any:
    place.file("home/owner/code/src/a.py")
    arguments = {"files": files, **({"repo": place.fill(repo)} if isinstance(repo, str) else {})}
    return judge(place.load(ANYWHERE, [COMMIT]), call("commit", arguments))


@pytest.mark.parametrize(
    ("sent", "forwarded"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/../src/a.py", "src/a.py"),
        (".", "."),
        ("src/..", "."),
        (["src/a.py"], ["src/a.py"]),
    ],
)
def test_a_path_is_read_from_the_directory_that_another_argument_names(place: Place, sent: Any, forwarded: Any) -> None:
    judged = committed(place, sent)
    assert judged.decision.outcome.word == "allow"
    assert judged.call is not None
    assert judged.call.arguments["files"] == forwarded


@pytest.mark.parametrize("sent", ["../secret", "src/../../secret", "out", "a/../../../../etc/passwd"])
def test_a_path_that_leads_out_of_that_directory_is_refused(place: Place, sent: str) -> None:
    place.file("home/owner/secret")
    place.link("home/owner/code/out", "{home}/secret")
    decision = committed(place, sent).decision
    assert (decision.outcome.word, decision.code) == ("deny", "path_escape")


def test_rules_see_the_file_in_that_directory_and_not_in_the_servers_own(place: Place) -> None:
    here = [
        {
            "name": "code",
            "description": "x",
            "principle": "x",
            "if": {"paths": {"roles": ["read-path"], "within": "{home}/code"}},
            "then": "allow",
        }
    ]
    loaded = place.load(here, [COMMIT])
    arguments = {"repo": place.fill("{home}/code"), "files": "src/a.py"}
    assert decide(loaded, call("commit", arguments)).outcome.word == "allow"
    beside = {**arguments, "note": "src/a.py"}  # not relative to it: in the sandbox, which no rule here is needed for
    assert judge(loaded, call("commit", beside)).call.arguments["note"] == place.fill("{sandbox}/src/a.py")  # type: ignore[union-attr]
    elsewhere = {"repo": place.fill("{home}/other"), "files": "src/a.py"}
    assert decide(loaded, call("commit", elsewhere)).outcome.word == "deny"


@pytest.mark.parametrize("repo", [None, ""])
def test_without_that_directory_a_path_is_the_servers_own(place: Place, repo: str | None) -> None:
    judged = committed(place, "src/a.py", repo)
    assert judged.call is not None
    assert judged.call.arguments["files"] == place.fill("{sandbox}/src/a.py")


def test_an_absolute_path_and_one_at_home_are_what_they_say(place: Place) -> None:
    assert committed(place, place.fill("{home}/x")).call.arguments["files"] == place.fill("{home}/x")
    assert committed(place, "~/x").call.arguments["files"] == place.fill("{home}/x")


# --- Commands given in words, and members of objects without a schema. ---


@pytest.mark.parametrize(
    ("sent", "allowed"),
    [
        (["ls", "-l"], True),
        (["ls", ["-l"]], True),
        (["ls", "-l", None, True], True),
        (["ls", {"-l": None}], True),
        (["ls", "-l", 7], False),
        (["ls", {"-l": "x"}], False),
        (["rm", "-l"], False),
    ],
)
def test_a_command_in_words_is_one_line_with_every_text_and_number_in_it(
    place: Place, sent: Any, allowed: bool
) -> None:
    run = tool("run", {"argv": {"roles": ["command"], "language": "argv"}})
    rule = {
        "name": "ls",
        "description": "x",
        "principle": "x",
        "if": {"lists": [{"roles": ["command"], "allowed": ["ls -l"]}]},
        "then": "allow",
    }
    judged = judge(place.load([rule], [run]), call("run", {"argv": sent}))
    assert (judged.decision.outcome.word == "allow") == allowed
    if allowed:
        assert judged.call is not None
        assert judged.call.arguments["argv"] == sent


LIGHT = tool(
    "turn",
    {"data": ["identifier"]},
    definition={"name": "turn", "inputSchema": {"type": "object", "properties": {"data": {"type": "object"}}}},
)


def hall(then: str = "allow", leaf: str = "data.entity") -> dict[str, Any]:
    return {
        "name": f"{then}-{leaf}",
        "description": "x",
        "principle": "x",
        "if": {"values": {f"arg:{leaf}": {"in": ["hall"]}}},
        "then": then,
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"entity": "hall"}, "allow"),
        ({"entity": "cellar"}, "deny"),
        ({"other": {"entity": "hall"}}, "deny"),
        ({"entity": "hall", "other": {"entity": "cellar"}}, "allow"),
        ({}, "deny"),
    ],
)
def test_a_member_that_a_rule_names_is_looked_at_by_itself(place: Place, data: dict[str, Any], expected: str) -> None:
    assert decide(place.load([hall()], [LIGHT]), call("turn", {"data": data})).outcome.word == expected


def test_a_member_of_a_member_is_no_member_of_the_object(place: Place) -> None:
    rules = [
        hall("deny"),
        {"name": "all", "description": "x", "principle": "x", "if": {"server": ["fs"]}, "then": "allow"},
    ]
    loaded = place.load(rules, [LIGHT])
    assert decide(loaded, call("turn", {"data": {"entity": "hall"}})).outcome.word == "deny"
    assert decide(loaded, call("turn", {"data": {"other": {"entity": "hall"}}})).outcome.word == "allow"


MAIL_TO = tool(
    "mail",
    {"to": {"roles": ["recipient"], "absent": "nothing"}, "to.email": {"roles": ["recipient"], "absent": "unknown"}},
    definition={"name": "mail", "inputSchema": {"type": "object", "properties": {"to": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"email": {"type": "string"}}}]}}}},
)  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"to": "ann@a.example"}, "allow"),
        ({"to": {"email": "ann@a.example"}}, "allow"),
        ({"to": {"email": "eve@a.example"}}, "deny"),
        ({}, "deny"),
    ],
)
def test_a_text_or_an_object_is_looked_at_in_both_forms(place: Place, arguments: dict[str, Any], expected: str) -> None:
    rule = {
        "name": "ann",
        "description": "x",
        "principle": "x",
        "if": {"lists": [{"roles": ["recipient"], "allowed": ["ann@a.example"]}]},
        "then": "allow",
    }
    assert decide(place.load([rule], [MAIL_TO]), call("mail", arguments)).outcome.word == expected


def test_a_member_that_the_server_would_pick_is_unknown_where_its_object_is_left_out(place: Place) -> None:
    def rule(then: str, condition: dict[str, Any]) -> dict[str, Any]:
        return {"name": then, "description": "x", "principle": "x", "if": condition, "then": then}

    eve = rule("deny", {"lists": [{"roles": ["recipient"], "allowed": ["eve@a.example"]}]})
    loaded = place.load([eve, rule("allow", {"server": ["fs"]})], [MAIL_TO])
    assert decide(loaded, call("mail", {"to": {"email": "ann@a.example"}})).outcome.word == "allow"
    assert decide(loaded, call("mail", {})).outcome.word == "deny"
