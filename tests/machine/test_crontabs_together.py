# SPDX-License-Identifier: Apache-2.0
"""States of one user's crontab give it to the program of the system once, which says what it says
of each by itself; and crontabs of users who get another number, or go.
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
WRONG = "wrong: {cron.present: [name: /bin/wrong, minute: '@never', user: zoe]}\n"


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


SPOOLED = "/var/spool/cron/crontabs/zoe"
CRONTAB = (
    "apt-get install -y -q cron; useradd -m -u 4801 zoe; echo '@daily true' | crontab -u zoe -"
)


def test_a_crontab_goes_on_under_another_number(debian: Debian) -> None:
    debian.run(CRONTAB)
    debian.tree(site="zoe: {user.present: [uid: 4802, allow_uid_change: true]}\n")
    debian.results("sls", "site", "--test")
    assert debian.read("stat", "-c", "%u %a", SPOOLED) == "4801 600"
    debian.results("sls", "site")
    assert debian.read("stat", "-c", "%u %a", SPOOLED) == "4802 600"
    assert not debian.results("sls", "site")["zoe"]["changes"]
    debian.runner("undo")
    assert debian.read("stat", "-c", "%u", SPOOLED) == debian.read("id", "-u", "zoe") == "4801"


@pytest.mark.parametrize("purge", [False, True])
def test_a_crontab_that_waits_for_the_next_user_of_its_name(debian: Debian, purge: bool) -> None:
    debian.run(CRONTAB)
    debian.tree(site=f"zoe: {{user.absent: [purge: {purge}]}}\n")
    for words in (("--test",), ()):
        warned = debian.results("sls", "site", *words)["zoe"].get("warnings", [])
        assert [SPOOLED in text and "purge" in text for text in warned] == [True] * (not purge)
    debian.run("useradd -m zoe")
    assert debian.run("crontab -u zoe -l", code=int(purge)).stdout == "@daily true\n" * (not purge)


@pytest.mark.parametrize("knows", [False, True])
def test_a_zone_that_cron_does_not_know_is_told(debian: Debian, knows: bool) -> None:
    debian.run("apt-get install -y -q cron")
    if knows:  # as cronie does
        debian.run("echo CRON_TZ >> /usr/sbin/cron")
    debian.tree(site="CRON_TZ: {cron.env_present: [value: UTC]}\nTZ: {cron.env_present: []}\n")
    for words in (("--test",), (), ()):
        results = debian.results("sls", "site", *words)
        assert bool(results["CRON_TZ"].get("warnings")) is not knows
        assert not results["TZ"].get("warnings")
