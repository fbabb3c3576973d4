# SPDX-License-Identifier: Apache-2.0
"""States of one user's crontab give it to the program of the system once, which says what it says
of each by itself.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from debian import Debian

from runner.api.own_program import MAIN, own_python

INIT = "none"
COUNTING = """
import atexit, sys
started = []
sys.addaudithook(lambda event, said: event == "subprocess.Popen" and started.append(said[1][-1]))
atexit.register(lambda: print("written", started.count("-"), file=sys.stderr))
from runner.engine import shared_commit
shared_commit.LONGEST_WAIT = 3600
"""
SITE = (
    "".join(
        f"j{n}: {{cron.present: [name: /bin/j{n}, minute: {n}, user: zoe]}}\n" for n in range(9)
    )
    + "MAILTO: {cron.env_present: [value: me, user: zoe]}\n"
    + "j3 again: {cron.absent: [name: /bin/j3, user: zoe]}\n"
)
WRONG = "wrong: {cron.present: [name: /bin/wrong, minute: 77, user: zoe]}\n"


@pytest.mark.parametrize("more", ["", WRONG])
def test_a_crontab_is_written_once(debian: Debian, more: str) -> None:
    debian.run("apt-get install -y -q cron; id zoe || useradd zoe")
    debian.tree(site=SITE + more)
    found: list[tuple[list[dict[str, Any]], str]] = []
    for alone in (False, True):
        argv = [*own_python(COUNTING + MAIN), "sls", "site", "--state-tree", "/srv/runner/states"]
        debian.run(f"echo 'verify: {str(alone).lower()}' > /srv/runner/one.yaml")
        done = debian.run(*argv, "-c", "/srv/runner/one.yaml", "--out", "json", code=None)
        written = int(done.stderr.split("written ")[1].split()[0])
        assert written == (11 + bool(more) if alone or more else 1) + (bool(more) and not alone)
        told = json.loads(done.stdout)["local"].values()
        kept = ("comment", "changes", "result", "__run_num__")
        found.append(
            (
                [{key: each[key] for key in kept} for each in told],
                debian.run("crontab -u zoe -l").stdout,
            )
        )
        failed = [each["name"] for each in told if not each["result"]]
        assert failed == (["/bin/wrong"] if more else [])
        debian.run(*own_python(MAIN), "undo", "-c", "/srv/runner/one.yaml")
        assert "/bin/j1" not in debian.run("crontab -u zoe -l 2>&1", code=None).stdout
    assert found[0] == found[1]
