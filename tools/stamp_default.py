"""Verify the shipped default policy and write the verdict into it. For maintainers, after editing it."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from ironcurtain.artifacts.policy import POLICY, Surroundings, build
from ironcurtain.artifacts.shipped import fitted, shipped_bundle
from ironcurtain.artifacts.verify import Verification, run_scenarios, stamp


def main() -> int:
    bundle = shipped_bundle()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory) / "owner"
        surroundings = Surroundings(home / ".ironcurtain", time.time())
        loaded = build(fitted(bundle, home, home / ".ironcurtain" / "sandbox"), surroundings)
        verification = Verification(run_scenarios(loaded, surroundings.now))
    for result in verification.results:
        print("pass" if result.passed else "FAIL", result.scenario.description, result.decision.code)
    stamped = stamp(bundle, verification, 0)
    (bundle.directory / POLICY).write_text(json.dumps(stamped, indent=1, ensure_ascii=False) + "\n")
    return 0 if verification.passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
