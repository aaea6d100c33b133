"""The chain: durable, unbroken, and free of secrets."""

from __future__ import annotations

import asyncio
import base64
import errno
import json
import os
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ironcurtain.adoption.secrets import concealer, is_secret
from ironcurtain.audit.chain import BadRecordError, Head, seal, unseal
from ironcurtain.audit.checkpoint import Signer, append_checkpoint, read_checkpoints
from ironcurtain.audit.disk import Disk
from ironcurtain.audit.record import request_fields
from ironcurtain.audit.redact import LONGEST, MOST, MOST_TAKEN, Redactor
from ironcurtain.audit.store import (
    AuditHaltedError,
    AuditStore,
    Clock,
    UnrecordableError,
    day_files,
    found_end,
    set_aside,
)
from ironcurtain.audit.verify import verify
from ironcurtain.daemon.unfinished import unfinished
from ironcurtain.errors import Refusal
from ironcurtain.testing.faults import FaultyDisk
from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

DAY = 86_400.0


@dataclass
class Times:
    wall: float = 1_800_000_000.0
    machine: float = 100.0

    def clock(self) -> Clock:
        return Clock(lambda: self.wall, lambda: self.machine)


@asynccontextmanager
async def opened(directory: Path, times: Times | None = None, disk: Disk | None = None) -> AsyncIterator[AuditStore]:
    taken = found_end(directory)
    set_aside(taken)
    store = AuditStore(directory, taken, (times or Times()).clock(), disk)
    try:
        yield store
    finally:
        store.close()


async def fill(directory: Path, count: int, times: Times | None = None) -> None:
    async with opened(directory, times) as store:
        for number in range(count):
            await store.append("event", {"n": number})


def lines(directory: Path) -> list[bytes]:
    return [line for file in day_files(directory) for line in file.read_bytes().splitlines()]


# --- Durable. ---


def test_what_was_awaited_is_on_the_disk_and_chained(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path, 3))
    asyncio.run(fill(tmp_path, 2))
    report = verify(tmp_path)
    assert (report.records, report.problem) == (5, None)
    first = json.loads(lines(tmp_path)[0])
    assert (first["seq"], first["kind"], first["at"][-1]) == (1, "event", "Z")


def test_many_at_once_share_a_sync(tmp_path: Path) -> None:
    class Counting(Disk):
        syncs = 0

        def sync(self, descriptor: int) -> None:
            self.syncs += 1
            super().sync(descriptor)

    async def work() -> int:
        disk = Counting()
        async with opened(tmp_path, disk=disk) as store:
            await asyncio.gather(*(store.append("event", {"n": n}) for n in range(200)))
        return disk.syncs

    assert asyncio.run(work()) < 50
    assert verify(tmp_path).records == 200


def test_each_day_has_its_file_and_a_clock_that_goes_back_changes_nothing(tmp_path: Path) -> None:
    times = Times()
    asyncio.run(fill(tmp_path, 1, times))
    times.wall += DAY
    asyncio.run(fill(tmp_path, 1, times))
    times.wall -= 3 * DAY
    asyncio.run(fill(tmp_path, 1, times))
    assert [len(file.read_bytes().splitlines()) for file in day_files(tmp_path)] == [1, 2]
    assert verify(tmp_path).problem is None


@pytest.mark.parametrize("text", ['"}\n{"decision":"allow"', "a\nb", "\x1b[2J", "\0", "\u2028", "\U0001f600"])
def test_no_content_makes_a_second_record(tmp_path: Path, text: str) -> None:
    async def work() -> None:
        async with opened(tmp_path) as store:
            await store.append("event", {"text": text})

    asyncio.run(work())
    assert verify(tmp_path).records == 1
    assert json.loads(lines(tmp_path)[0])["text"] == text


NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text("abc.0eE-", max_size=6)


@given(st.recursive(st.none() | st.booleans() | NUMBERS | NAMES, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)))  # fmt: skip
def test_whatever_is_sealed_can_be_read_back(value: Any) -> None:
    assume(_is_readable(value))
    line, head = seal({"value": value}, Head())
    record, again = unseal(line)
    assert again == head
    assert record["value"] == value


def _is_readable(value: Any) -> bool:
    try:
        strict_json.loads(strict_json.canonical({"value": value}))
    except Refusal:
        return False
    return True


def test_what_cannot_be_recorded_is_refused_and_leaves_a_trace(tmp_path: Path) -> None:
    bad: list[dict[str, Any]] = [
        {"call": "c1", "text": "\ud800"},
        {"call": "c2", "number": float("nan")},
        {"call": "c3", "digest": "of something else"},
        {"call": "c4", "number": 1.0, "keys": {"A": 1, "a": 2}},
    ]

    async def work() -> None:
        async with opened(tmp_path) as store:
            for fields in bad:
                with pytest.raises(UnrecordableError):
                    await store.append("outcome", fields)
            await store.append("outcome", {"call": "c5"})

    asyncio.run(work())
    assert verify(tmp_path).records == 5, "and nothing is halted"
    assert [json.loads(line)["call"] for line in lines(tmp_path)] == ["c1", "c2", "c3", "c4", "c5"]
    assert ["unrecordable" in json.loads(line) for line in lines(tmp_path)] == [True] * 4 + [False]


def test_names_that_are_cut_stay_apart() -> None:
    cleaned, _ = Redactor(b"k").clean({"A" * LONGEST + "x": 1, "a" * LONGEST + "y": 2})
    line, _ = seal({"arguments": cleaned, "float": 1.0}, Head())
    assert unseal(line)


def test_many_small_secrets_do_not_make_a_large_record() -> None:
    fields: Any = request_fields("s", "t", {"password": ["abcdef"] * 90_000, "path": "/a"}, Redactor(b"k"))
    assert fields["arguments"]["path"] == "/a"
    assert len(fields["arguments"]["password"]) < MOST / 10
    assert fields["taken"][-1] == {"at": "arguments.password[500]", "kind": "withheld", "number": 1}
    assert len(fields["taken"]) == MOST_TAKEN + 1
    assert len(json.dumps(fields)) < 2 * MOST


BULK: dict[str, Any] = {
    "secrets in one text": {"content": 'pass="abc"' * 3_000},
    "secrets in many": {"content": ["sk-" + "a" * 20] * 4_000},
    "long names around": json.loads('{"' + '":{"'.join(f"{n}{'k' * 9_000}" for n in range(25)) + '": []' + "}" * 25),
    "many texts": {"content": ["x" * 16_000] * 200},
    "many small": {"content": [[str(n)] for n in range(50_000)]},
    "many names": {"content": {f"a {n}": n for n in range(50_000)}},
    "a long text": {"content": "x" * 3_000_000},
    "many that are nothing": {"content": [""] * 9_000},
    "a long name": {"k" * 40_000: 1, "l" * 40_000: 1, "m" * 40_000: 1, "n" * 40_000: 1},
    "our own word": {"[withheld]": "mine", "content": ["x"] * 90_000},
}


@pytest.mark.parametrize("name", BULK)
def test_no_bulk_keeps_another_argument_out_of_the_record_or_makes_it_large(name: str) -> None:
    fields: Any = request_fields(
        "s", "t", {**BULK[name], "path": "/tmp/x", "to": ["bob"]}, Redactor(b"k", ["a-secret-1"])
    )
    assert (fields["arguments"]["path"], fields["arguments"]["to"]) == ("/tmp/x", ["bob"])
    assert len(json.dumps(fields)) < 6 * MOST
    if name == "our own word":
        assert "mine" in str(fields)
    if name != "long names around":
        assert fields["taken"]


# --- Faults. ---


async def append_until_halted(directory: Path, disk: Disk, count: int = 6) -> tuple[int, list[str]]:
    good, causes = 0, []
    async with opened(directory, disk=disk) as store:
        for number in range(count):
            try:
                await store.append("event", {"n": number})
                good += 1
            except AuditHaltedError as error:
                causes.append(str(error))
    return good, causes


@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
@pytest.mark.parametrize("torn", [False, True])
def test_a_disk_that_fails_at_the_nth_operation_halts_for_good(
    tmp_path: Path, number: int, for_ever: bool, torn: bool
) -> None:
    probe = FaultyDisk(10_000)
    (tmp_path / "probe").mkdir()
    asyncio.run(append_until_halted(tmp_path / "probe", probe))
    for at in range(1, probe.count + 1):
        directory = tmp_path / str(at)
        directory.mkdir()
        good, causes = asyncio.run(append_until_halted(directory, FaultyDisk(at, number, for_ever=for_ever, torn=torn)))
        assert good + len(causes) == 6
        assert causes, "it failed at some point"
        assert len(set(causes)) == 1, "the first cause, each time"
        assert os.strerror(number) in causes[0]
        before = good
        asyncio.run(fill(directory, 1))  # a new start takes the chain up
        report = verify(directory)
        assert report.problem is None
        assert report.records >= before + 1, "nothing that was acknowledged is lost"


def test_a_torn_end_is_set_aside(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path, 3))
    file = day_files(tmp_path)[0]
    whole = file.read_bytes()
    for cut in range(1, len(whole.splitlines()[2]) + 1):
        file.write_bytes(whole[:-cut])
        taken = found_end(tmp_path)
        assert taken.head.seq == 2
        assert file.read_bytes() == whole[:-cut], "nothing is changed by looking"
        report = verify(tmp_path)
        assert (report.problem, report.records, report.torn) == (None, 2, len(whole.splitlines()[2]) + 1 - cut)
        set_aside(taken)
        assert verify(tmp_path).torn == 0
        if taken.torn:
            (aside,) = tmp_path.glob("*.torn-2")
            assert aside.read_bytes() == whole.splitlines(keepends=True)[2][:-cut]
            aside.unlink()


@pytest.mark.parametrize("how", ["deleted", "replaced", "link"])
def test_a_file_taken_away_while_it_is_written_halts(tmp_path: Path, how: str) -> None:
    directory = tmp_path / "audit"
    directory.mkdir()

    async def work() -> None:
        async with opened(directory) as store:
            await store.append("event", {})
            file = day_files(directory)[0]
            content = file.read_bytes()
            file.unlink()
            if how == "replaced":
                file.write_bytes(content)
            elif how == "link":
                (tmp_path / "elsewhere").write_bytes(content)
                file.symlink_to(tmp_path / "elsewhere")
            with pytest.raises(AuditHaltedError):
                await store.append("event", {})

    asyncio.run(work())


# --- Tampering. ---


def edited(line: bytes) -> bytes:
    return line.replace(b'"n":1', b'"n":7')


TAMPERINGS = {
    "edited": lambda ls: [ls[0], edited(ls[1]), *ls[2:]],
    "removed": lambda ls: [ls[0], *ls[2:]],
    "reordered": lambda ls: [ls[0], ls[2], ls[1], *ls[3:]],
    "repeated": lambda ls: [ls[0], ls[1], ls[1], *ls[2:]],
    "forged": lambda ls: [ls[0], seal({"n": 1}, Head(1))[0], *ls[2:]],
    "spaced": lambda ls: [ls[0], ls[1].replace(b'":', b'": ', 1), *ls[2:]],
}


@pytest.mark.parametrize("how", sorted(TAMPERINGS))
def test_the_first_bad_record_is_named(tmp_path: Path, how: str) -> None:
    asyncio.run(fill(tmp_path, 5))
    file = day_files(tmp_path)[0]
    file.write_bytes(b"\n".join(TAMPERINGS[how](lines(tmp_path))) + b"\n")
    report = verify(tmp_path)
    assert report.problem is not None
    assert report.problem.startswith("record 2 " if how != "repeated" else "record 3 ")


def test_two_checkpoints_that_contradict_each_other_are_a_break(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path, 5))
    head = unseal(lines(tmp_path)[3])[1]
    forged = Head(head.seq, "sha256:" + "1" * 64)
    assert verify(tmp_path, [head, head]).problem is None
    for checkpoints in ([head, forged], [forged, head]):
        assert "not the one that was signed" in str(verify(tmp_path, checkpoints).problem)


def test_an_end_that_is_missing_is_seen_by_the_checkpoints(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path, 5))
    file = day_files(tmp_path)[0]
    all_lines = lines(tmp_path)
    head = unseal(all_lines[3])[1]
    file.write_bytes(b"\n".join(all_lines[:3]) + b"\n")
    assert verify(tmp_path).problem is None
    assert "its end is missing" in str(verify(tmp_path, [head]).problem)


def test_a_chain_exchanged_for_another_is_seen_by_the_checkpoints(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        asyncio.run(fill(tmp_path / name, 3, Times(wall=1_800_000_000.0 + len(name) + ord(name[0]))))
    head = unseal(lines(tmp_path / "one")[1])[1]
    assert verify(tmp_path / "one", [head]).problem is None
    assert "not the one that was signed" in str(verify(tmp_path / "two", [head]).problem)


def test_checkpoints_are_signed(tmp_path: Path) -> None:
    signer, other = Signer.of(tmp_path / "key"), Signer.of(tmp_path / "other")
    assert Signer.of(tmp_path / "key").secret == signer.secret
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    file = tmp_path / "checkpoints.jsonl"
    append_checkpoint(file, signer.sign(Head(5, "sha256:x"), "t"), Disk())
    assert read_checkpoints(file, signer.public) == ([Head(5, "sha256:x")], [])
    append_checkpoint(file, other.sign(Head(9, "sha256:y"), "t"), Disk())
    append_checkpoint(file, signer.sign(Head(6, "sha256:z"), "t").replace(b'"seq":6', b'"seq":7'), Disk())
    append_checkpoint(file, b"{}", Disk())
    heads, complaints = read_checkpoints(file, signer.public)
    assert heads == [Head(5, "sha256:x")]
    assert len(complaints) == 3
    file.write_bytes(file.read_bytes() + b'{"seq":')  # torn
    assert len(read_checkpoints(file, signer.public)[1]) == 3


@pytest.mark.parametrize("line", [b"", b"{}", b"x" * 200, b'{"a":1,"digest":"sha256:' + b"0" * 64 + b'"}'])
def test_what_is_no_record_is_none(line: bytes) -> None:
    with pytest.raises(BadRecordError):
        unseal(line)


# --- Secrets. ---

SECRET = "s3cr3t-Value/1234567"
REDACTOR = Redactor(b"key", [SECRET, "tiny"])


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"Bearer x {SECRET} y",
        quote_plus(SECRET),
        *(base64.b64encode(("x" * shift + SECRET + "tail").encode()).decode() for shift in range(3)),
        base64.urlsafe_b64encode(f"id:{SECRET}".encode()).decode(),
        f"https://h.example/?k={quote_plus(SECRET)}",
    ],
)
def test_a_known_secret_is_found_in_any_dress(text: str) -> None:
    cleaned, taken = REDACTOR.clean({"a": [text]})
    shown = json.dumps(cleaned)
    assert SECRET not in shown
    assert SECRET[3:-3] not in shown
    assert base64.b64encode(SECRET.encode()).decode()[4:-4] not in shown
    assert taken


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ghp_" + "a" * 36, "github"), ("AKIA" + "A" * 16, "aws"), ("sk-ant-" + "x" * 40, "anthropic-or-openai"), ("xoxb-1234567890-abc", "slack"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "private-key"), ("-----BEGIN PRIVATE KEY-----\nabc", "private-key"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "jwt"), ("https://ann:hunter2@h.example/", "password-in-url"), ("Authorization: Bearer abcdefghijklmnop", "bearer"),
    ],
)  # fmt: skip
def test_a_secret_is_known_by_its_shape(text: str, kind: str) -> None:
    cleaned, taken = REDACTOR.clean(f"before {text} after")
    assert isinstance(cleaned, str)
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after") or kind == "private-key"
    assert [entry["kind"] for entry in taken if isinstance(entry, dict)] == [kind]


@pytest.mark.parametrize(
    "name", ["password", "apiKey", "api_key", "access-token", "clientSecret", "Authorization", "db.password"]
)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    cleaned, _ = REDACTOR.clean({name: "hunter2"})
    assert "hunter2" not in json.dumps(cleaned)


def test_ordinary_values_stay(tmp_path: Path) -> None:
    value: Any = {
        "path": str(tmp_path),
        "tokens": 5,
        "text": "the token of my esteem",
        "passport": "x",
        "n": [1, None, True],
    }
    assert REDACTOR.clean(value) == (value, [])


def test_equal_secrets_have_equal_marks_and_other_keys_other_ones() -> None:
    one = REDACTOR.clean(SECRET)[0]
    assert one == REDACTOR.clean(SECRET)[0]
    assert one != Redactor(b"other", [SECRET]).clean(SECRET)[0]


def test_bulk_is_cut_and_remembered() -> None:
    cleaned, taken = REDACTOR.clean({"content": "x" * (LONGEST + 1)})
    assert cleaned == {"content": "x" * LONGEST}
    assert isinstance(taken[0], dict)
    assert (taken[0]["kind"], taken[0]["length"]) == ("long", LONGEST + 1)
    assert REDACTOR.clean("x" * LONGEST)[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY-----" * 40_000,
        "-" * 500_000,
        "eyJ" * 100_000,
        "Bearer " * 50_000,
        "://" + "a:" * 100_000,
    ],
)
def test_looking_for_secrets_takes_no_longer_than_reading(text: str) -> None:
    began = time.process_time()
    REDACTOR.clean(text)
    assert time.process_time() - began < 3


def test_a_key_with_headers_is_taken_out_whole() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,AB\n\nMIIabc\n-----END RSA PRIVATE KEY-----"
    cleaned, (taken,) = REDACTOR.clean(f"a {key} b")
    assert "MIIabc" not in str(cleaned)
    assert isinstance(taken, dict)
    assert taken["length"] == len(key)


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("AWS_SECRET_ACCESS_KEY", "x", True), ("PGPASSWORD", "x", True), ("MYSQL_PWD", "x", True),
        ("OPENAI_KEY", "k-12345678", True), ("GITHUB_PAT", "p-12345678", True), ("SIGNING_KEY", "k-12345678", True),
        ("SENTRY_DSN", "https://k:p@h.example/1", True), ("MAX_TOKENS", "100000", False), ("AUTH_TYPE", "password", False),
        ("SORT_KEY", "created", False), ("COMMIT", "0123456789abcdef0123456789abcdef01234567", False),
        ("API_KEY", "", False), ("AUTHOR", "Ann", False), ("NODE_ENV", "production", False), ("LOG_LEVEL", "debug", False),
        ("ROOT", "/Users/ann/Projects/2024Reports2/x9y", False), ("PROJECT", "acme-production-analytics-2024", False),
        ("WORKSPACE", "550e8400-e29b-41d4-a716-446655440000", False), ("X", "9f8A7b6c5D4e3f2a1b0c9d8e", True),
        ("X", "https://ann:hunter22@db.example/x", True),
    ],
)  # fmt: skip
def test_what_is_taken_for_a_secret_of_a_server(name: str, value: str, secret: bool) -> None:
    assert is_secret(name, value) is secret


@pytest.mark.parametrize("text", ["x__ghp_" + "a1B2" * 6, "my_sk-" + "a1B2" * 6, "key=AKIA" + "ABCD1234" * 2])
def test_a_secret_is_known_whatever_stands_before_it(text: str) -> None:
    assert Redactor(b"k").text(text) != text


@pytest.mark.parametrize("form", [bytes.hex, lambda raw: raw.hex().upper(), quote, base64.b64encode])
def test_a_credential_is_known_in_the_usual_encodings(form: Any) -> None:
    written = form(b"p/ss wort-17")
    text = written.decode() if isinstance(written, bytes) else written
    assert text not in Redactor(b"k", ["p/ss wort-17"]).text(f"x {text} y")


def test_what_could_not_be_recorded_was_refused_and_is_not_waited_for() -> None:
    kept = {"unrecordable": "ValueError"}
    run = [
        {"kind": "asked", "call": "1", **kept},
        {"kind": "intent", "call": "2", **kept},
        {"kind": "intent", "call": "3"},
    ]
    assert unfinished(run) == (["3"], [])


def test_no_secret_comes_in_by_what_was_replaced_before_it() -> None:
    secret = "hXkQbTzR7mLwPdVnYcGs4jFa"
    key = "-----BEGIN PRIVATE KEY-----" + "A" * 7_900 + "-----END PRIVATE KEY-----"
    for after in (secret, "AIza" + "b" * 35, 'password="correct-horse-9"'):
        text = (key * 4 + "x" * LONGEST)[: 2 * LONGEST - 12] + after
        cleaned = str(Redactor(b"k", [secret]).clean({"text": text})[0])
        assert after[:12] not in cleaned
        assert "correct-horse" not in cleaned
    many: Any = request_fields("s", "t", {"text": "pass='x'" * 501, "path": "EVIL " * 900}, Redactor(b"k"))
    assert many["arguments"]["path"] == "EVIL " * 900


def test_only_what_nobody_could_guess_is_taken_out_of_what_servers_say() -> None:
    strong = "v3ry9Private7Value1x5Q"
    conceal = concealer([strong, "letmein1", "production", "result", "application/json"])
    said: Any = {strong: [f"a {strong} b", "letmein1 in production", {"result": "application/json"}]}
    told = ["a [credential] b", "letmein1 in production", {"result": "application/json"}]
    assert conceal(said) == {"[credential]": told}
    assert conceal({strong: 1, "[credential]": 2}) == {"[credential]": 1, "[credential] 1": 2}
    weak = "postgres://app:hunter2@localhost/app"
    assert concealer([weak])(weak) == weak
    assert concealer([f"postgres://app:{strong}@localhost/app"])(strong) == "[credential]"
    for other in (
        "hXkQbTzR7mLwPdVnYcGs4jFa",
        "MFRGGZ3DF3MZTWQ2LKNNWG23TPOB",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "123456789:AAF-x9y8z7w6v5u4",
        "SG.a1b2c3d4.e5f6g7h8i9j0",
    ):
        assert concealer([other])(f"it is {other}") == "it is [credential]"
