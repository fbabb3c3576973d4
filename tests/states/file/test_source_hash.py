# SPDX-License-Identifier: Apache-2.0
"""A source_hash is asked of a file of the tree, too."""

from __future__ import annotations

import hashlib
import json
import tarfile

import pytest
from command import Machine
from needing import require

PATCH = "--- a\n+++ b\n@@ -1 +1 @@\n-hi\n+ho\n"
WITH_SOURCE = {
    "file.managed": ("f", {}),
    "file.append": ("f", {}),
    "file.patch": ("patch", {}),
    "archive.extracted": ("tar", {"enforce_toplevel": False}),
    "file.cached": ("f", None),
}


@pytest.mark.parametrize("function", WITH_SOURCE)
@pytest.mark.parametrize("form", ["digits", "file"])
def test_a_file_of_the_tree_has_the_hash_that_is_asked_for(
    machine: Machine, function: str, form: str
) -> None:
    source, more = WITH_SOURCE[function]
    if function == "file.patch":
        require("patch")
    tree = machine.folder / "states"
    (tree / "f").write_text("hi\n")
    (tree / "patch").write_text(PATCH)
    with tarfile.open(tree / "tar", "w") as archive:
        archive.add(tree / "f", "f")
    right = hashlib.sha256((tree / source).read_bytes()).hexdigest()
    for digits, is_right in (("0" * 64, False), (right, True)):
        target = machine.folder / f"{form}-{is_right}"
        if function == "file.patch":
            target.write_text("hi\n")
        (tree / "sums").write_text(f"{digits}  {source}\n")
        in_file = form == "file" and function != "file.append"  # which takes digits alone
        given = "salt://sums" if in_file else f"sha256={digits}"
        name = f"salt://{source}" if more is None else str(target)
        arguments = {"name": name, "source_hash": given, **(more or {})}
        arguments |= {} if more is None else {"source": f"salt://{source}"}
        state = {function: [{key: value} for key, value in arguments.items()]}
        machine.write(all=json.dumps({"x": state}))
        for options in (("--test",), ()):
            result = machine.results("sls", "all", *options, code=None)["x"]
            assert (result["result"] is not False) is is_right, result["comment"]
    assert not (machine.folder / f"{form}-False/f").exists()
