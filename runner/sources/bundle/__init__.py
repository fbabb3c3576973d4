# SPDX-License-Identifier: Apache-2.0
"""runner and what it needs as one tar file, for machines that have Python alone.

The same packages give the same bytes, whoever builds them, so that the digest names what is in it.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from runner.model.errors import RunnerError
from runner.sources.bundle.launcher import launcher_text
from runner.support.files.links import refuse_special

NAME = "sls-runner"  # of the distribution: `runner` is another one in the registry
LAUNCHER = "runner"
OWN = ("runner", "states", "modules")
LIBRARIES = "lib"  # what the launcher puts first in Python's search path
MODULE_OF = {"pyyaml": "yaml"}  # distributions that are not called like their package
LEFT_OUT = {"rich"}  # typer's colours and boxes, which runner turns off: 8 MB with what it needs
SKIPPED = re.compile(
    r"(^|/)(__pycache__|\..*|tests)(/|$)|~$|\.py[co]$|^runner/tools/fleet/collection/"
)
EXTENSION = re.compile(r"^lib/yaml/.*\.cpython-3(\d+)-", re.M)
NOTICES = re.compile(r"METADATA|(?:.*/)?(?:LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*", re.I)
FIRST, YEARS = 315_532_800, 40  # 1980, before which no zip file goes


Entries = Mapping[str, Path | bytes]  # contents by their paths, or the files that have them


def build(file: str) -> str:
    """Write the bundle to a file and return its SHA-256 digest in hexadecimal. Raises RunnerError
    where a package is missing or the file cannot be written.
    """
    try:
        refuse_special(file)
        data = archived(contents())
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(file) or ".", delete=False) as made:
            try:
                made.write(data)
                made.flush()
                os.fchmod(made.fileno(), 0o644)  # others may have swapped what its path means
                os.replace(made.name, file)
            except OSError:
                os.unlink(made.name)
                raise
    except OSError as error:
        raise RunnerError(f"{file} cannot be written: {error.strerror}") from None
    return hashlib.sha256(data).hexdigest()


def contents() -> Entries:
    """Return what is in the bundle. Raises RunnerError where a package is missing."""
    entries: dict[str, Path | bytes] = {f"{LIBRARIES}/{path}": data for path, data in _libraries()}
    fitting = {int(number) for number in EXTENSION.findall("\n".join(entries))}
    entries[LAUNCHER] = launcher_text(LIBRARIES, sorted(fitting)).encode()
    return entries


def archived(entries: Entries, modes: Mapping[str, int] = {LAUNCHER: 0o755}) -> bytes:
    """A tar archive of files: the same bytes for the same contents. modes: of those that are not
    0644.
    """
    whole = hashlib.sha256()
    read: dict[str, bytes] = {}
    for path, contents in sorted(entries.items()):
        data = read[path] = contents if isinstance(contents, bytes) else contents.read_bytes()
        whole.update(f"{path} {len(data)} ".encode("utf-8", "surrogateescape") + data)
    # Python takes bytecode for that of a file by its time and size: what is unpacked over another
    # archive needs another time
    time = FIRST + int.from_bytes(whole.digest()[:8]) % (YEARS * 365 * 86400)
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, data in read.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mtime, entry.mode = len(data), time, modes.get(path, 0o644)
            archive.addfile(entry, io.BytesIO(data))
    return written.getvalue()


def _libraries() -> Iterator[tuple[str, Path | bytes]]:
    """Paths and contents of all packages, and of what says under which terms they may be copied."""
    for package in OWN:
        yield from _package(package, str(import_module(package).__file__))
    for name, found in _distributions().items():
        if name != NAME:
            module = MODULE_OF.get(name, name.replace("-", "_"))
            spec = find_spec(module)
            if spec is None or spec.origin is None:
                raise RunnerError(f"the Python package {module} cannot be found")
            yield from _package(module, spec.origin)
        yield from _notices(name, found)


def _distributions() -> dict[str, Distribution]:
    """Return what is installed and needed for runner to run, by normalized names."""
    found: dict[str, Distribution] = {}
    waiting = [NAME]
    while waiting:
        name = waiting.pop()
        if name in found or name in LEFT_OUT:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            hint = "a bundle is made of installed packages: pip install sls-runner"
            raise RunnerError(f"the Python package {name} is not installed", hint=hint) from None
        for line in found[name].requires or ():
            requirement, _, condition = line.partition(";")
            if not condition:  # extras, and other systems
                needed = re.split(r"[^\w.-]", requirement.strip())[0]
                waiting.append(re.sub(r"[-_.]+", "-", needed).lower())
    return found


def _package(name: str, origin: str) -> Iterator[tuple[str, Path]]:
    """The files of a package, or the one file of a module."""
    if os.path.basename(origin) != "__init__.py":
        yield os.path.basename(origin), Path(origin)
        return
    top = Path(origin).parent
    for path in top.rglob("*"):
        inside = f"{name}/{path.relative_to(top)}"
        if not SKIPPED.search(inside) and path.is_file():
            yield inside, path


def _notices(name: str, found: Distribution) -> Iterator[tuple[str, bytes]]:
    """The metadata of a distribution, for `importlib.metadata`, and its licences, with a list of
    both, so that a bundle can be made from a bundle.
    """
    folder = f"{name.replace('-', '_')}-{found.version}.dist-info"
    metadata = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
    entries = {"METADATA": metadata.encode()}
    for file in found.files or ():
        first, *rest = file.parts
        inside = "/".join(rest)
        if first.endswith((".dist-info", ".egg-info")) and NOTICES.fullmatch(inside):
            entries.setdefault(inside, Path(str(file.locate())).read_bytes())
    record = "".join(f"{folder}/{inside},,\n" for inside in sorted([*entries, "RECORD"]))
    for inside, data in {**entries, "RECORD": record.encode()}.items():
        yield f"{folder}/{inside}", data
