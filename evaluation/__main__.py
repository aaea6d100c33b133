"""Scores everything and writes `docs/evaluation.md`: `python -m evaluation`."""

from __future__ import annotations

from evaluation import annotate, readers


def main() -> int:
    """Evaluate, and say what holds."""
    tools, tool_bars = annotate.evaluate()
    sentences, sentence_bars = readers.evaluate()
    parts = [
        "# Evaluation\n\nWritten by `make eval`.\n",
        f"## What tools do and what their arguments mean\n\n{annotate.INTRODUCTION}\n{tools}\n",
        f"## What constitutions mean\n\n{readers.INTRODUCTION}\n{sentences}\n",
    ]
    (annotate.DATA.parent / "docs" / "evaluation.md").write_text("\n".join(parts))
    print(f"{tools}\n\n{sentences}\n")
    results = [*tool_bars, *sentence_bars]
    for bar, holds in results:
        print("holds " if holds else "FAILS ", bar)
    return 0 if all(holds for _, holds in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
