# SPDX-License-Identifier: Apache-2.0
"""How states of other systems are refused: by name, with what to write instead."""

from laws import Scenario

ADVISORY = {"name": "x", "advisory_ids": ["x"]}
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
        {"name": "x", "skip": ["a"], "include": "b"},
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
