# SPDX-License-Identifier: Apache-2.0
"""`runner fleet` over ssh: fifteen hosts of a Salt roster, three of them down."""

from __future__ import annotations

import json

import fleet
from debian import Debian

STATE = """{{ salt['environ.get']('HOME') }}/made:
  file.managed:
    - contents: {{ grains.id }} {{ pillar.word }}
"""


def test_fifteen_machines_three_of_them_down(debian: Debian) -> None:
    fleet.hosts(debian, 15, 3)
    for name, text in {
        "states/top.sls": "base: {'*': [made]}",
        "states/made.sls": STATE,
        "pillar/top.sls": "base: {'*': [words]}",
        "pillar/words.sls": "word: for {{ grains.id }} of {{ grains.username }}",
    }.items():
        debian.write(f"{fleet.FOLDER}/{name}", text)
    config = ("--config", f"{fleet.FOLDER}/runner.yaml", "--out", "json")
    answers = json.loads(debian.runner("fleet", "highstate", *config, code=2).stdout)
    assert [*answers] == [f"h{n}" for n in range(1, 16)]
    for n in range(1, 13):
        (state,) = answers[f"h{n}"].values()
        assert state["result"] is True and state["changes"], state
        assert debian.path(f"/home/u{n}/made").read_text() == f"h{n} for h{n} of u{n}\n"
    for n in range(13, 16):
        assert answers[f"h{n}"] == ["unreachable: ssh: Connection refused"]
