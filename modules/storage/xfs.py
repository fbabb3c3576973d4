# SPDX-License-Identifier: Apache-2.0
"""File systems of the type xfs."""

from __future__ import annotations

import re

from modules import cmd
from modules._machine.processes import needs
from modules._texts.lines import plain_name

NEEDS_PROGRAM = "xfs_info"  # without it templates find no function of this module

_VALUE = re.compile(r"([\w-]+)=(\S+?(?: blks)?)(?:,|\s|$)\s*")


def info(device: str) -> dict[str, dict[str, str]]:
    """The geometry of a file system, by section: data, log, naming, ...

    {{ salt['xfs.info']('/dev/sdb1')['data']['bsize'] }}
    """
    needs("xfs_info", "xfsprogs")
    done = cmd.probe(["xfs_info", plain_name(device, "the device")]).or_fail()
    answer: dict[str, dict[str, str]] = {}
    section = ""
    for line in done.stdout.splitlines():
        name, _, text = line.partition("=")
        label = _VALUE.sub("", text).strip()
        if name.strip():
            section = name.strip()
            answer[section] = {"section": label or section}
        if section:
            answer[section] |= {key: value.strip() for key, value in _VALUE.findall(text)}
    return answer
