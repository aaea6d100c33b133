"""What stands in a record: who asked, for what, how it was decided by which rule, who was asked, what came of it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ironcurtain.wire import strict_json

if TYPE_CHECKING:
    from ironcurtain.audit.redact import Redactor
    from ironcurtain.model.call import Arguments, Json, Principal
    from ironcurtain.model.decision import Decision


def principal_fields(principal: Principal) -> dict[str, Json]:
    """Who, as far as it is set."""
    return {name: value for name, value in principal.fields().items() if value}


def request_fields(server: str, tool: str, arguments: Arguments, redactor: Redactor) -> dict[str, Json]:
    """What was asked for, less secrets and bulk."""
    cleaned, taken = redactor.clean(arguments, "arguments")
    fields: dict[str, Json] = {"server": server, "tool": tool, "arguments": cleaned}
    return {**fields, "taken": taken} if taken else fields


def evaluation_fields(decision: Decision, redactor: Redactor, policy: tuple[int, str] | None) -> dict[str, Json]:
    """How it was decided."""
    fields: dict[str, Json] = {
        "decision": decision.outcome.word,
        "stage": decision.stage.value,
        "code": decision.code,
        "reason": redactor.text(decision.reason),
    }
    if decision.rule:
        fields["rule"] = decision.rule
    if decision.roles:
        fields["roles"] = list(decision.roles)
    if policy:
        fields["policy"] = {"version": policy[0], "digest": policy[1]}
    return fields


def result_fields(result: dict[str, Json] | None) -> dict[str, Json]:
    """A result in a record: not its content, but enough to recognise it."""
    if result is None:
        return {}
    encoded = strict_json.canonical(result)
    return {"bytes": len(encoded), "sha256": hashlib.sha256(encoded).hexdigest()}
