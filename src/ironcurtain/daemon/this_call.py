"""One call on its way through the runtime: which it is, and how something is recorded of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ironcurtain.audit.record import evaluation_fields, principal_fields, request_fields
from ironcurtain.audit.store import AuditHaltedError, UnrecordableError
from ironcurtain.gateway import protocol
from ironcurtain.mediation.effects import Unwritten

if TYPE_CHECKING:
    from ironcurtain.daemon.runtime import Runtime
    from ironcurtain.gateway.context import CallContext
    from ironcurtain.mediation.effects import Prepared
    from ironcurtain.model.call import CanonicalCall, Json, ToolCall
    from ironcurtain.model.decision import Decision


@dataclass(frozen=True, slots=True)
class ThisCall:
    """A call, by the id that its records share."""

    runtime: Runtime
    id: str
    session: str
    context: CallContext

    def besides(self) -> dict[str, Json]:
        """What is sent beside the arguments."""
        return protocol.without_ours(self.context.meta)

    def about(self, call: CanonicalCall | ToolCall) -> dict[str, Json]:
        """Which call a record is about."""
        about: dict[str, Json] = {
            "call": self.id,
            "session": self.session,
            "agent": principal_fields(call.principal),
            "request": request_fields(call.server, call.tool, call.arguments, self.runtime.redactor),
        }
        if self.context.oversight is not None:
            about["task"] = self.context.oversight.task
        return {**about, "code": dict(self.context.code)} if self.context.code else about

    def evaluation(self, decision: Decision, prepared: Prepared | None) -> dict[str, Json]:
        """What was decided, and under which policy."""
        policy = (prepared.policy.version, prepared.policy_digest) if prepared else None
        return evaluation_fields(decision, self.runtime.redactor, policy)

    async def record(self, kind: str, fields: dict[str, Json]) -> Unwritten | None:
        """Returns when the record is on disk, or why it is not."""
        try:
            await self.runtime.audit.append(kind, fields)
        except (AuditHaltedError, UnrecordableError) as error:
            return Unwritten(str(error))
        if self.context.oversight is not None:
            self.context.oversight.tell(kind, fields)
        return None
