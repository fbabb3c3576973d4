# SPDX-License-Identifier: Apache-2.0
"""A real at: its jobs by tag and by command, those that Salt made, and a job that runs."""

from __future__ import annotations

import json
from typing import Any

from debian import Debian

LAYER = "desktop"


def at(function: str, **given: Any) -> dict[str, Any]:
    return {f"at.{function}": [{key: value} for key, value in given.items()]}


def test_jobs_of_at(debian: Debian) -> None:
    debian.run("useradd -m zoe")
    debian.run("cd /; printf '### SALT: love\\necho salt\\n' | at '09:09 2035-11-09'")
    when = "04:00 2035-12-24"
    made = {
        "plain": at("present", job="touch /root/ran", timespec=when),
        "of zoe": at("present", job="id >~/who\nls", timespec=when, user="zoe", tag="hers"),
        "salt's": at("present", job="echo other", timespec=when, tag="love", unique_tag=True),
        "late": at("present", job="true", timespec="10:00 2020-01-01"),
        "wrong": at("present", job="true", timespec="teatime-ish"),
    }
    gone = {"hers": at("absent", tag="hers", runas="zoe")}
    debian.tree(a=json.dumps(made), b=json.dumps(gone))
    dry = debian.results("sls", "a", "--test", code=None)
    assert {name: sorted(each["changes"]) for name, each in dry.items() if "of" in name} == {
        "of zoe": ["date", "job", "queue", "tag", "time", "user"]
    }
    assert debian.read("atq | wc -l") == "1", "a dry run adds none"
    assert "Garbled time" in dry["wrong"]["comment"] and dry["wrong"]["result"] is False
    assert dry["late"]["comment"].endswith("refusing to create job destined in the past")
    real = debian.results("sls", "a", code=2)
    comments = {name: each["comment"] for name, each in real.items()}
    assert comments == {
        "plain": f"job touch /root/ran added and will run on {when}",
        "of zoe": f"job id >~/who\nls added and will run as zoe on {when}",
        "salt's": "atleast one job with tag love exists.",
        "late": "at 10:00 2020-01-01: at: refusing to create job destined in the past",
        "wrong": comments["wrong"],
    }
    assert "Garbled time" in comments["wrong"]
    assert real["of zoe"]["changes"] == {
        "job": "3",
        "date": "2035-12-24",
        "time": "04:00:00",
        "queue": "a",
        "user": "zoe",
        "tag": "hers",
    }
    again = debian.results("sls", "a", code=2)
    assert not any(each["changes"] for each in again.values())
    assert debian.read("atq | wc -l") == "3"
    assert "### SALT: hers\nid >~/who\nls" in debian.read("at -c 3")
    as_zoe = "setpriv --reuid=zoe --regid=zoe --init-groups env HOME=/home/zoe"
    debian.run(f"at -c 3 >/tmp/job; chmod 644 /tmp/job; {as_zoe} sh /tmp/job")
    assert "(zoe)" in debian.read("cat /home/zoe/who")
    assert debian.results("sls", "b")["hers"]["changes"] == {"removed": ["3"]}
    assert debian.results("sls", "b")["hers"]["comment"] == "removed 0 job(s)"
    assert debian.read("atq | wc -l") == "2"


def test_undo_of_jobs(debian: Debian) -> None:
    debian.run("useradd -m zoe; systemctl stop atd")
    when = "04:00 2035-12-24"
    hers = at("present", job="id\nls", timespec=when, user="zoe", tag="hers")
    debian.tree(
        a=json.dumps({"mine": at("present", job="true", timespec=when), "hers": hers}),
        b=json.dumps({"all": at("absent")}),
    )
    debian.results("sls", "a")
    waiting = "atq | cut -f2 | sort"
    both = debian.read(waiting)
    debian.results("sls", "b")
    dry = debian.runner("undo", "--test").stdout
    assert (
        "at jobs zoe: jobs with 2035-12-24 04:00 a hers id" in dry
        and "environment and directory" in dry
    )
    assert debian.read(waiting) == ""
    debian.runner("undo")
    assert debian.read(waiting) == both
    assert not any(each["changes"] for each in debian.results("sls", "a").values())
    debian.run("echo 'mine, too' | at '05:00 2035-12-25'")
    debian.runner("undo", "1")
    assert debian.read("atq | cut -f2") == "Tue Dec 25 05:00:00 2035 a root"
