"""Runs in the throw-away copy: tries one machine scenario by the three laws and prints what came of it as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/support")]

WATCHED = (
    "/etc/passwd",
    "/etc/group",
    "/etc/shadow",
    "/var/lib/dpkg/status",
    "/run/tick",
    "/var/spool/cron/crontabs/root",
    "/etc/apt/sources.list",
    "/etc/hosts",
    "/etc/fstab",
    "/etc/aliases",
    "/etc/timezone",
    "/etc/localtime",
    "/etc/sysctl.conf",
    "/etc/default/locale",
    "/proc/self/mounts",
    "/home/zoe/.ssh/authorized_keys",
    "/etc/apt/sources.list.d/ex.list",
)


def state() -> dict[str, Any]:
    """What dry runs must not touch."""
    found = {path: Path(path).read_bytes().hex() if Path(path).exists() else None for path in WATCHED}
    return found | {"links": sorted(str(path) for path in Path("/etc").glob("rc*.d/*"))}


def main(number: int) -> dict[str, Any]:
    from harness import HarnessHere, apply, look
    from laws import machine_scenarios

    from runner.api import Plan, StateFailed, running
    from runner.loader import Registry
    from runner.model import Place, Untyped
    from runner.signature import bind

    scenario = machine_scenarios()[number]
    subprocess.run(["sh", "-c", scenario.prepare], check=False, capture_output=True)
    found = Registry({}).state(scenario.function)
    with running(HarnessHere()):
        place = Place(Untyped("scenario"))
        arguments = dict(
            bind(found.function, {"name": "thing", **scenario.args}, places={}, default_place=place).arguments
        )
    before = state()
    answer: dict[str, Any] = {"fails": None, "plans": False, "keys": [], "made": [], "again": False}
    try:
        plan = look(found.function, **arguments, current=HarnessHere(dry=True))
    except StateFailed as failure:
        return answer | {"fails": failure.message, "untouched": state() == before}
    answer["untouched"] = state() == before
    answer["plans"] = isinstance(plan, Plan)
    answer["sure"] = isinstance(plan, Plan) and plan.sure
    answer["keys"] = sorted(plan.changes or {})
    done = apply(found.function, **arguments, current=HarnessHere())
    answer["made"] = sorted(done.changes or {})
    again = look(found.function, **arguments, current=HarnessHere(dry=True))
    return answer | {"again": isinstance(again, Plan), "comment": done.comment}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
