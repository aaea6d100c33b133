"""A conversation with the pipeline: what it asks for, what it is told, how it ends.

    book = Playbook(call)
    assert book << Resolve >> prepared << ReserveBudget >> Reserved(1) << RecordIntent >> Unwritten("disk full")
    assert book << ReleaseBudget >> None
    assert book.code == "audit_unwritable"

`<<` says which effect the pipeline must yield next, `>>` what it is told. A playbook that goes otherwise says where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ironcurtain.mediation.pipeline import mediate

if TYPE_CHECKING:
    from ironcurtain.mediation.effects import Answer, Effect
    from ironcurtain.model.call import ToolCall


class Playbook:
    """One call's conversation."""

    def __init__(self, call: ToolCall, now: float = 0.0) -> None:
        self.now = now
        self._steps = mediate(call, lambda: self.now)
        self.asked: list[Effect] = []
        self.answer: Answer | None = None
        self._advance(None)

    def __lshift__(self, effect: type[Any]) -> Playbook:
        """The pipeline must be asking for this."""
        if self.answer is not None:
            raise AssertionError(f"expected {effect.__name__}, but it is over: {self.answer}")
        if not isinstance(self.asked[-1], effect):
            raise AssertionError(f"expected {effect.__name__}, got {self.asked[-1]}")
        return self

    def __rshift__(self, reply: object) -> Playbook:
        """Tell the pipeline this."""
        self._advance(reply)
        return self

    @property
    def code(self) -> str:
        """The code of the decision that it ended with."""
        if self.answer is None:
            raise AssertionError(f"it is not over: it asks for {self.asked[-1]}")
        return self.answer.decision.code

    def _advance(self, reply: object) -> None:
        try:
            self.asked.append(self._steps.send(reply))
        except StopIteration as end:
            self.answer = end.value
