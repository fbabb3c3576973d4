# SPDX-License-Identifier: Apache-2.0
"""archive.extracted from run to run."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from needing import is_root


def release(machine: Machine, text: str, **more: str) -> None:
    """Write a state that wants an archive with this text in its one file, and the archive."""
    member = machine.folder / "top"
    member.mkdir(exist_ok=True)
    (member / "a").write_text(text)
    with tarfile.open(machine.folder / "x.tar", "w") as made:
        made.add(member, "top")
    found = hashlib.sha256((machine.folder / "x.tar").read_bytes()).hexdigest()
    lines = "".join(f"    - {key}: {value}\n" for key, value in more.items())
    machine.write(
        a=(
            f"x:\n  archive.extracted:\n    - name: {machine.folder}/out\n    - source:"
            f" {machine.folder}/x.tar\n    - source_hash: sha256={found}\n    - source_hash_update:"
            f" true\n{lines}"
        )
    )


def comment(machine: Machine, *words: str) -> str:
    return str(machine.results("sls", "a", *words)["x"]["comment"])


@pytest.mark.parametrize("more", [{}, {"if_missing": "{out}/top"}])
def test_another_archive_is_extracted_again(machine: Machine, more: dict[str, str]) -> None:
    member = Path(machine.folder, "out", "top", "a")
    more = {key: value.format(out=f"{machine.folder}/out") for key, value in more.items()}
    release(machine, "one", **more)
    assert "extracted" in comment(machine)
    release(machine, "two", **more)
    assert comment(machine, "--test").endswith(
        "would be extracted to " + f"{machine.folder}/out/, due to source_hash update"
    )
    assert member.read_text() == "one"
    assert comment(machine).endswith("due to source_hash update")
    assert member.read_text() == "two"
    assert "extracted to" not in comment(machine)


@pytest.mark.parametrize(
    ("options", "refused"), [("-oq", ""), ("-j", "-j"), ("-o -x top/a", "-x top/a")]
)
def test_options_of_unzip_are_done_without_or_refused(
    machine: Machine, options: str, refused: str
) -> None:
    folder = machine.folder
    with zipfile.ZipFile(folder / "x.zip", "w") as made:
        made.writestr("top/a", "one")
    said = f"name: {folder}/out, source: {folder}/x.zip, options: {options}, use_cmd_unzip: true"
    machine.write(a=f"x:\n  archive.extracted: [{said}]\n")
    result = machine.results("sls", "a", code=2 if refused else 0)["x"]
    assert (f"its options {refused} would do nothing" in result["comment"]) is bool(refused)
    assert (folder / "out/top/a").exists() is not bool(refused)


def test_an_archive_goes_to_the_root_of_a_machine(machine: Machine) -> None:
    release(machine, "one")
    text = (machine.folder / "states/a.sls").read_text()
    machine.write(a=text.replace(f"name: {machine.folder}/out", "name: /"))
    told = machine.results("sls", "a", "--test")["x"]
    assert "extracted" in told["comment"] if is_root() else told["result"] is not True
    assert "//" not in json.dumps(told)


def test_an_archive_is_verified_by_a_key_as_a_file_is(machine: Machine) -> None:
    """A key in PEM has several lines."""
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    release(machine, "one")
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    archive = machine.folder / "x.tar"
    (machine.folder / "x.sig").write_bytes(
        key.sign(archive.read_bytes(), ec.ECDSA(hashes.SHA256()))
    )
    lines = "".join(f"\n        {line}" for line in pem.decode().splitlines())
    verified = (
        "    - skip_verify: true\n    - sig_backend: asymmetric\n"
        f"    - signature: {machine.folder}/x.sig\n    - signed_by_any: |{lines}\n"
        f"    - signed_by_all:\n      - |{lines}\n"
    )
    machine.write(
        a=f"{machine.folder}/copy:\n  file.managed:\n    - source: {archive}\n{verified}"
        f"{machine.folder}/out:\n  archive.extracted:\n    - source: {archive}\n{verified}"
    )
    machine("sls", "a")
    assert (machine.folder / "out/top/a").read_text() == "one"
    (machine.folder / "x.sig").write_bytes(key.sign(b"other", ec.ECDSA(hashes.SHA256())))
    machine.write(
        a=f"{machine.folder}/new:\n  archive.extracted:\n    - source: {archive}\n{verified}"
    )
    machine("sls", "a", code=2)
    assert not (machine.folder / "new").exists()


def test_a_signature_that_is_not_there_is_told_as_such(machine: Machine) -> None:
    release(machine, "one", signature=f"{machine.folder}/x.sig")
    for words in (["--test"], []):
        (failed,) = machine.results("sls", "a", *words, code=2).values()
        assert failed["comment"] == f"Local file source {machine.folder}/x.sig does not exist"
    (machine.folder / "x.tar").unlink()
    (failed,) = machine.results("sls", "a", code=2).values()
    assert failed["comment"] == f"Source file '{machine.folder}/x.tar' does not exist"


LOCKED = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def as_owner(machine: Machine, *words: str) -> dict[str, Any]:
    """The result where modes count for the caller, too, as they do not for root."""
    argv = [*(LOCKED if is_root() else ()), *machine.argv("sls", "a", "--out", "json")]
    done = subprocess.run([*argv, *words], capture_output=True, text=True, env=machine.environment)
    (found,) = json.loads(done.stdout)["local"].values()
    assert not [path for path in machine.folder.rglob("*") if path.name == "members"]
    return dict(found)


def closed(machine: Machine, source: str) -> Path:
    """The folder that an archive is extracted to whose folders may not be written to."""
    folder = machine.folder / "top"
    (folder / "below").mkdir(parents=True)
    (folder / "below/file").write_text("x")
    (folder / "below").chmod(0o500)
    folder.chmod(0o550)
    base, _, kind = str(machine.folder / source).rpartition(".")
    shutil.make_archive(base, kind, machine.folder, "top")
    out = machine.folder / "out"
    machine.write(a=f"x: {{archive.extracted: [{{name: {out}}}, {{source: {base}.{kind}}}]}}")
    return out


@pytest.mark.parametrize("source", ["x.tar", "x.zip"])
@pytest.mark.parametrize("there", [False, True], ids=["new", "merged"])
def test_the_owner_extracts_read_only_folders(machine: Machine, source: str, there: bool) -> None:
    out = closed(machine, source)
    if there:
        (out / "top").mkdir(parents=True)
    assert as_owner(machine, "--test")["result"] is None
    done = as_owner(machine)
    assert done["result"] is True, done
    assert not as_owner(machine)["changes"]
    modes = {name: (out / name).stat().st_mode & 0o777 for name in ("top", "top/below")}
    assert modes == {"top": 0o550, "top/below": 0o500}
    assert (out / "top/below/file").read_text() == "x"


@pytest.mark.parametrize("source", ["x.tar", "x.zip"])
def test_a_failure_leaves_no_read_only_folders(machine: Machine, source: str) -> None:
    out = closed(machine, source)
    out.mkdir(0o500)
    done = as_owner(machine)
    assert done["result"] is False and "Permission denied" in done["comment"]
    out.chmod(0o700)


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
@pytest.mark.parametrize("rest", [b"x" * 200, b"x" * 1024], ids=["cut off", "damaged"])
def test_a_tar_that_is_not_whole_is_refused(machine: Machine, packed: Any, rest: bytes) -> None:
    release(machine, "one")
    whole = (machine.folder / "x.tar").read_bytes()
    found = hashlib.sha256(whole).hexdigest()
    with tarfile.open(machine.folder / "x.tar") as made:
        second = made.getmember("top/a").offset
    data = packed(whole[:second] + rest)
    (machine.folder / "x.tar").write_bytes(data)
    text = (machine.folder / "states/a.sls").read_text()
    machine.write(a=text.replace(found, hashlib.sha256(data).hexdigest()))
    for words in (("--test",), ()):
        result = machine.results("sls", "a", *words, code=2)["x"]
        assert "x.tar: it is not whole" in result["comment"]
    assert not (machine.folder / "out").exists()


def test_a_link_out_of_the_folder_is_extracted_and_nothing_goes_through_it(
    machine: Machine,
) -> None:
    victim = machine.folder / "victim"
    victim.mkdir()
    (victim / "file").write_text("old")
    for name, members in {
        "first": {"t/l": tarfile.SYMTYPE, "t/a": tarfile.REGTYPE},
        "second": {"t/l/file": tarfile.REGTYPE},
    }.items():
        with tarfile.open(machine.folder / f"{name}.tar", "w") as made:
            for member, kind in members.items():
                info = tarfile.TarInfo(member)
                info.type, info.linkname = kind, "../../victim" if member == "t/l" else ""
                made.addfile(info)
    states = "".join(
        f"{name}: {{archive.extracted: [name: '{machine.folder}/out', source:"
        f" '{machine.folder}/{name}.tar', user: {os.geteuid()}]}}\n"
        for name in ("first", "second")
    )
    machine.write(a=f"{states}{machine.folder}/out/t/l/file: {{file.exists: []}}\n")
    for words in (["--test"], []):
        first, second, read = machine.results("sls", "a", *words, code=2).values()
        assert first["result"] is (None if words else True)
        assert second["result"] is False and second["comment"].endswith("\n\n- t/l/")
        assert read["result"] is True
        assert os.path.lexists(machine.folder / "out") is not bool(words)
    assert os.readlink(machine.folder / "out/t/l") == "../../victim"
    machine("undo")
    assert not (machine.folder / "out").exists()
    assert (victim / "file").read_text() == "old"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (gzip.compress(b"one file"), "compressed with gzip, and holds no whole tar"),
        (gzip.compress(bytes(9000))[:20], "it is cut off or damaged"),
        (b"\x28\xb5\x2f\xfdx", "compressed with zstd, which is not read here: cmd.run"),
        (b"<!DOCTYPE html>", "it is a page (HTML or XML)"),
        (b"text", "neither a tar (plain, gzip, bzip2, xz) nor a zip archive"),
        (b"", "neither a tar (plain, gzip, bzip2, xz) nor a zip archive"),
    ],
)
def test_what_is_no_archive_is_told_by_what_it_is(machine: Machine, data: bytes, why: str) -> None:
    (machine.folder / "x.tar.gz").write_bytes(data)
    words = [f"name={machine.folder}/out", f"source={machine.folder}/x.tar.gz"]
    for test in ([], ["--test"]):
        (result,) = machine.results("single", "archive.extracted", *words, *test, code=2).values()
        assert why in result["comment"]
