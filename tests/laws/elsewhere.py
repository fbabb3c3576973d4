# SPDX-License-Identifier: Apache-2.0
"""How states of other systems are refused: by name, with what to write instead."""

from laws import Scenario

ADVISORY = {"name": "x", "advisory_ids": ["x"]}
INSTALLED = {
    "cache_valid_time": 60,
    "fromrepo": "x",
    "skip_verify": True,
    "install_recommends": False,
    "enablerepo": "a",
    "disablerepo": "b",
    "disableexcludes": "all",
    "setopt": "x=1",
}
LINK = {
    "arguments": "-x",
    "working_dir": "/",
    "description": "x",
    "icon_location": "/x",
    "backupname": "y",
}
SCENARIOS = [
    Scenario(
        "pkg.group_installed",
        {"name": "x", "skip": ["a"], "include": "b", "refresh": False, **INSTALLED},
        fails="the feature groups, which the provider apt lacks",
    ),
    Scenario(
        "pkg.patch_installed",
        {**ADVISORY, "downloadonly": True},
        fails="the feature advisories, which the provider apt lacks",
    ),
    Scenario(
        "pkg.patch_downloaded",
        ADVISORY,
        fails="the feature advisories, which the provider apt lacks",
    ),
    Scenario(
        "file.shortcut",
        {"target": "/x", "user": "root", "makedirs": True, "force": True, **LINK},
        fails="only supported on Windows: use file.symlink",
    ),
]
