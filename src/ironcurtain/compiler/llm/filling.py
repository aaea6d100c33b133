"""A list that a model fills: `the largest news sites`. Its values are looked at like those of any other source."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from ironcurtain.compiler.llm.asking import Model

MOST: Final = 500  # values of one answer
INSTRUCTIONS: Final = """\
You write down the values of a list that access rules refer to. Give only values that exist and that you are certain of;
leave out what you doubt. No wildcards, no patterns, no explanations. Answer only in the given form."""


class Values(BaseModel):
    """An answer."""

    model_config = ConfigDict(extra="forbid")
    values: list[str] = Field(max_length=MOST)


def fill(model: Model, name: str, kind: str, wanted: str) -> list[str]:
    """The values of a list, as a model knows them."""
    prompt = json.dumps({"list": name, "kind": kind or "text", "wanted": wanted}, ensure_ascii=False)
    return model.ask("lists", INSTRUCTIONS, prompt, Values, lambda _: None).output.values
