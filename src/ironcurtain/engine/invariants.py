"""Step 3: what holds whatever the policy says. A deny here is final; an escalate is the most that can be granted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.engine.protected import spellings_of
from ironcurtain.model.decision import Outcome, Verdict
from ironcurtain.model.resolved import CanonicalPath, CanonicalUrl
from ironcurtain.model.roles import READ_PATH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ironcurtain.engine.policy import Policy
    from ironcurtain.engine.protected import Protected
    from ironcurtain.model.call import CanonicalCall, RoleValue, Stray

# Names that mean something else to each process that opens them.
_MAGIC: Final = re.compile(r"/proc/(?:[0-9]+|self|thread-self)(?:/|$)|/dev/(?:fd|stdin|stdout|stderr)(?:/|$)")


def check_invariants(call: CanonicalCall, policy: Policy) -> Iterator[Verdict]:
    """Every objection to the call; none if there is none."""
    for item in call.values:
        if isinstance(item.value, CanonicalPath):
            yield from _check_path(item, item.value, policy.protected)
        elif isinstance(item.value, CanonicalUrl):
            yield from _check_host(item.value, policy.declared_hosts)
    for stray in call.strays:
        yield from _check_stray(stray, policy.protected)


def _check_path(item: RoleValue, path: CanonicalPath, protected: Protected) -> Iterator[Verdict]:
    if any(_MAGIC.match(place) for place in (path.text, *path.trail)):
        yield _deny("path_magic", f"{item.leaf}: {path} leads through a place that differs for each process")
    standing = protected.standing(path.text)
    bracketed = "[" in path.text and any(protected.standing(form).covered for form in spellings_of(path.text))
    if standing.covered or bracketed:
        yield _deny("path_protected", f"{item.leaf}: {path} is protected", "no policy can open it; leave it alone")
    reading = item.role == READ_PATH
    if standing.ancestor:
        reason = f"{item.leaf}: something protected lies below {path}"
        yield _ask("path_ancestor", reason) if reading else _deny("path_ancestor", reason, "name a place further down")
    if not reading and standing.steering:
        yield _deny("path_steering", f"{item.leaf}: other programs take instructions from {path}")
    if path.shared:
        yield _ask("path_shared", f"{item.leaf}: {path} has other names, and may be another file")
    if not reading and standing.asking:
        yield _ask("path_steering", f"{item.leaf}: {path} can make other programs run something")


def _check_host(url: CanonicalUrl, declared: frozenset[str]) -> Iterator[Verdict]:
    address = url.address
    if address.metadata:
        yield _deny("host_metadata", f"{address.host} hands out credentials")
    if address.private and address.host not in declared:
        yield _deny(
            "host_private",
            f"{address.host} is not a public address",
            "name exactly this host under domains in an allow rule, if it is meant to be reached",
        )
    if address.confusable is not None:
        yield _ask("host_confusable", f"{address.host} reads {address.confusable!a}: it imitates another name")


def _check_stray(stray: Stray, protected: Protected) -> Iterator[Verdict]:
    if any(protected.standing(place).covered for place in stray.places):
        yield _deny("path_protected", f"{stray.leaf}: {stray.text[:200]} is protected")
    elif any(_MAGIC.match(place) for place in stray.places):
        yield _deny("path_magic", f"{stray.leaf}: {stray.text[:200]} differs for each process")


def _deny(code: str, reason: str, help_: str = "") -> Verdict:
    return Verdict(Outcome.DENY, code, reason, help=help_)


def _ask(code: str, reason: str) -> Verdict:
    return Verdict(Outcome.ESCALATE, code, reason)
