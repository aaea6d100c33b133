"""Sentences about what may not go where."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from ironcurtain.mediation.decide import decide_bytes
from tests.compiler.test_english import Policy

if TYPE_CHECKING:
    from pathlib import Path

MAY = "The agent may send email to anyone. It may fetch pages from x.example. It may post in any Slack channel. It may read all my files and all my email."
MAIL = {"serverName": "mail", "toolName": "send-email", "arguments": {"to": ["bob@x.example"], "subject": "s", "text": "t", "from": "ann@x.example"}}  # fmt: skip
FETCH = {"serverName": "fetch", "toolName": "fetch", "arguments": {"url": "https://x.example/"}}
POST = {"serverName": "slack", "toolName": "slack_post_message", "arguments": {"channel_id": "C1", "text": "t"}}
FILE, LETTER = "filesystem/read_text_file", "mail/get-email"


class Flows(Policy):
    """Decides calls of whoever has read something."""

    def of(self, call: dict[str, Any], *sources: str) -> str:
        asked = json.dumps({**call, "sources": [*sources]}).encode()
        return decide_bytes(asked, self._loaded, time.time()).decision.outcome.word


@pytest.mark.parametrize(
    ("sentence", "call", "source", "then", "other"),
    [
        ("Nothing read from mail may go to a web address.", FETCH, LETTER, "deny", FILE),
        ("Nothing that it has read in my email may be posted to Slack.", POST, LETTER, "deny", FILE),
        ("Never send anything you read in my files by email.", MAIL, FILE, "deny", LETTER),
        ("Don't post what you find in my email to Slack!", POST, LETTER, "deny", FILE),
        ("The agent must never share anything it has seen in my files with anyone.", MAIL, FILE, "deny", ""),
        ("Content taken from my files must not be sent to anybody.", POST, FILE, "deny", LETTER),
        ("Ask me before anything read in my files is sent to anyone.", MAIL, FILE, "escalate", LETTER),
        ("Always ask before posting anything you read in my email to Slack.", POST, LETTER, "escalate", FILE),
    ],
)
def test_it_holds_for_whoever_has_read_there(
    sentence: str, call: dict[str, Any], source: str, then: str, other: str, tmp_path: Path
) -> None:
    policy = Flows(f"{MAY} {sentence}", tmp_path)
    assert policy.of(call, source) == then
    assert policy.of(call) == "allow"
    if other:
        assert policy.of(call, other) == "allow"
    asked = json.dumps(call).encode()
    assert decide_bytes(asked, policy._loaded, time.time()).decision.outcome.word == then, "where nobody knows"


@pytest.mark.parametrize(
    ("sentence", "call"),
    [
        ("Never send anything from my work account to anyone outside.", MAIL),
        ("Never post what you read in my email to Slack without my approval.", POST),
        ("Nothing read in my files may be sent by email except to Bob.", MAIL),
        ("Nothing read in the vault may be sent by email.", MAIL),
        ("Never send anything in Slack to anyone.", POST),
    ],
)
def test_what_is_not_understood_to_the_last_word_is_read_more_strictly(
    sentence: str, call: dict[str, Any], tmp_path: Path
) -> None:
    policy = Flows(f"{MAY} {sentence}", tmp_path)
    assert policy.of(call) != "allow"
