"""Step 3: what holds whatever the policy says. A deny here is final; an escalate is the most that can be granted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ironcurtain.model.decision import Outcome, Verdict
from ironcurtain.model.resolved import CanonicalPath, CanonicalUrl, Opaque, Remote
from ironcurtain.model.roles import READ_PATH, Category, category

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ironcurtain.engine.policy import Policy
    from ironcurtain.engine.protected import Protected
    from ironcurtain.model.call import CanonicalCall, RoleValue, Stray


def check_invariants(call: CanonicalCall, policy: Policy) -> Iterator[Verdict]:
    """Every objection to the call; none if there is none."""
    for item in call.values:
        if isinstance(item.value, CanonicalPath):
            yield from _check_path(item, item.value, policy.protected)
        elif isinstance(item.value, CanonicalUrl):
            yield from _check_host(item.value, policy.declared_hosts)
        elif isinstance(item.value, Remote):
            yield from _check_remote(item.value)
        elif isinstance(item.value, Opaque) and category(item.role) is Category.PATH:
            yield from _check_name(item, item.value, policy.protected)
    for stray in call.strays:
        yield from _check_stray(stray, policy.protected)


def _check_path(item: RoleValue, path: CanonicalPath, protected: Protected) -> Iterator[Verdict]:
    standing = protected.standing(path.text)
    on_the_way = [protected.standing(link) for link in path.trail]
    if standing.magic or any(link.magic for link in on_the_way):
        yield _deny("path_magic", f"{item.leaf}: {path} leads through a place that differs for each process")
    if standing.covered or any(link.covered for link in on_the_way):
        yield _deny("path_protected", f"{item.leaf}: {path} is protected", "no policy can open it; leave it alone")
    reading = item.role == READ_PATH
    if standing.ancestor:
        reason = f"{item.leaf}: something protected lies below {path}"
        yield _ask("path_ancestor", reason) if reading else _deny("path_ancestor", reason, "name a place further down")
    if not reading and (standing.steering or any(link.steering for link in on_the_way)):
        yield _deny("path_steering", f"{item.leaf}: programs take instructions from {path}")
    if path.shared:
        yield _ask("path_shared", f"{item.leaf}: {path} has other names, and may be another file")
    if not reading and (standing.asking or any(link.asking for link in on_the_way)):
        yield _ask("path_steering", f"{item.leaf}: {path} can make other programs run something")


def _check_name(item: RoleValue, name: Opaque, protected: Protected) -> Iterator[Verdict]:
    """Object to a relative name that is protected wherever it begins."""
    standing = protected.standing(f"/{name}")
    if standing.covered:
        yield _deny("path_protected", f"{item.leaf}: {name} is protected", "no policy can open it; leave it alone")
    if item.role != READ_PATH and standing.steering:
        yield _deny("path_steering", f"{item.leaf}: programs take instructions from {name}")
    if item.role != READ_PATH and standing.asking:
        yield _ask("path_steering", f"{item.leaf}: {name} can make other programs run something")


def _check_host(url: CanonicalUrl, declared: frozenset[str]) -> Iterator[Verdict]:
    address = url.address
    if address.metadata:
        yield _deny("host_metadata", f"{address.host} hands out credentials")
    if address.private and address.host not in declared:
        help_ = "name exactly this host under domains in an allow rule, if it is meant to be reached"
        yield _deny("host_private", f"{address.host} is not a public address", help_)
    if address.confusable is not None:
        yield _ask("host_confusable", f"{address.host} reads {address.confusable!a}: it imitates another name")


def _check_remote(remote: Remote) -> Iterator[Verdict]:
    address = remote.address
    if address.metadata:
        yield _deny("host_metadata", f"{address.host} hands out credentials")
    if address.private and remote.numeric:
        yield _deny("host_private", f"{address.host} is not a public address")


def _check_stray(stray: Stray, protected: Protected) -> Iterator[Verdict]:
    standings = [protected.standing(place) for place in stray.places]
    if any(standing.covered for standing in standings):
        yield _deny("path_protected", f"{stray.leaf}: {stray.text[:200]} is protected")
    elif any(standing.magic for standing in standings):
        yield _deny("path_magic", f"{stray.leaf}: {stray.text[:200]} differs for each process")


def _deny(code: str, reason: str, help_: str = "") -> Verdict:
    return Verdict(Outcome.DENY, code, reason, help=help_)


def _ask(code: str, reason: str) -> Verdict:
    return Verdict(Outcome.ESCALATE, code, reason)
