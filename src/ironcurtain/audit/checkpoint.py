"""The signed head of the chain, kept outside it: what makes a shortened or exchanged log visible.

A checkpoint says "at this moment the chain ended with this record", signed with the home's own key. Copies belong
elsewhere; whoever has one and the public key can check any later copy of the log.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ironcurtain.audit.chain import Head
from ironcurtain.errors import Refusal
from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from pathlib import Path

    from ironcurtain.audit.disk import Disk

_MEMBERS: Final = {"seq", "digest", "at", "signature"}


@dataclass(frozen=True, slots=True)
class Signer:
    """The home's key."""

    secret: bytes

    @classmethod
    def of(cls, path: Path) -> Signer:
        """The key in a file, made on the first use."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            return cls(bytes.fromhex(path.read_text("ascii").strip()))
        secret = os.urandom(32)
        with os.fdopen(descriptor, "w") as file:
            file.write(secret.hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        return cls(secret)

    @property
    def public(self) -> str:
        """The public half, in hexadecimal."""
        return self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()

    def sign(self, head: Head, at: str) -> bytes:
        """A checkpoint of this head, as a line without its break."""
        signature = self._key.sign(_message(head, at)).hex()
        return strict_json.canonical({"seq": head.seq, "digest": head.digest, "at": at, "signature": signature})

    @property
    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.secret)


def _message(head: Head, at: str) -> bytes:
    return strict_json.canonical({"seq": head.seq, "digest": head.digest, "at": at, "of": "ironcurtain audit"})


def append_checkpoint(path: Path, line: bytes, disk: Disk) -> None:
    """Keep a checkpoint. One that was being written when the machine stopped says nothing, and goes."""
    if path.exists():
        whole = path.read_bytes().rfind(b"\n") + 1
        if whole < path.stat().st_size:
            os.truncate(path, whole)
    descriptor = disk.open(path)
    try:
        disk.write(descriptor, line + b"\n")
        disk.sync(descriptor)
    finally:
        disk.close(descriptor)


def read_checkpoints(path: Path, public: str) -> tuple[list[Head], list[str]]:
    """The heads that the key has signed, and what is wrong with the other lines."""
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
    heads, complaints = [], []
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            value = strict_json.loads(line)
            if not isinstance(value, dict) or value.keys() != _MEMBERS:
                raise ValueError("it is no checkpoint")  # noqa: TRY301 - one place to complain
            head = Head(int(str(value["seq"])), str(value["digest"]))
            key.verify(bytes.fromhex(str(value["signature"])), _message(head, str(value["at"])))
        except (Refusal, ValueError, InvalidSignature) as error:
            torn = number == len(lines)  # no line break behind it: it was being written when the machine stopped
            if not torn:
                complaints.append(f"checkpoint {number}: {error or 'its signature does not fit'}")
        else:
            heads.append(head)
    return heads, complaints
