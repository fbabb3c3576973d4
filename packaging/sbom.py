# SPDX-License-Identifier: Apache-2.0
"""Print the list of what a release consists of (SBOM) as CycloneDX JSON.

    python packaging/sbom.py WHEELS        # what packaging/wheels has collected

Names, versions, licences and dependencies are those that the wheels themselves declare, digests
those of the wheels. What is optional comes with pip alone: bundle and packages do not have it. The
same wheels give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
import uuid
import zipfile
from collections.abc import Mapping
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Any

NAME = "sls-runner"
LEFT_OUT = {"rich"}  # as runner.sources.bundle does, with what only it needs
CLASSIFIER = "License :: OSI Approved :: "


def normalized(name: str) -> str:
    """The name of a distribution, as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n))
        return Parser().parsestr(archive.read(name).decode())


def licences(about: Message) -> list[dict[str, Any]]:
    """The licences that a distribution declares, by the clearest of its words for them."""
    if expression := about["License-Expression"]:
        return [{"expression": expression}]
    classifiers = about.get_all("Classifier", [])
    names = [text.removeprefix(CLASSIFIER) for text in classifiers if text.startswith(CLASSIFIER)]
    if not names and about["License"]:
        names = [about["License"].splitlines()[0]]
    return [{"license": {"name": name}} for name in names]


def component(wheel: Path, about: Message) -> dict[str, Any]:
    name, version = normalized(about["Name"]), about["Version"]
    address = f"pkg:pypi/{name}@{version}"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return {
        "type": "application" if name == NAME else "library",
        "bom-ref": address,
        "name": name,
        "version": version,
        "description": about["Summary"] or "",
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "licenses": licences(about),
        "purl": address,
        "properties": [{"name": "wheel", "value": wheel.name}],
    }


def dependencies(about: Message, present: Mapping[str, str]) -> list[str]:
    """Return what a distribution needs of what is here, extras left out."""
    needed = set()
    for line in about.get_all("Requires-Dist", []):
        requirement, _, marker = line.partition(";")
        name = normalized(re.split(r"[^\w.-]", requirement.strip())[0])
        if name in present and not re.search(r"\bextra\s*==", marker):
            needed.add(present[name])
    return sorted(needed)


def required(needs: Mapping[str, list[str]], start: str) -> set[str]:
    """Return a component and what it needs, directly or not, less what is left out."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        address = waiting.pop()
        if address not in found and re.split("[/@]", address)[1] not in LEFT_OUT:
            found.add(address)
            waiting += needs[address]
    return found


def bill(folder: Path) -> dict[str, Any]:
    """The bill of materials of the wheels in a folder."""
    read = [(wheel, metadata(wheel)) for wheel in sorted(folder.glob("*.whl"))]
    components = [component(wheel, about) for wheel, about in read]
    by_name = {item["name"]: item["bom-ref"] for item in components}
    own = next(item for item in components if item["name"] == NAME)
    needs = {by_name[normalized(about["Name"])]: dependencies(about, by_name) for _, about in read}
    running = required(needs, own["bom-ref"])
    for item in components:
        item["scope"] = "required" if item["bom-ref"] in running else "optional"
    content = json.dumps(components, sort_keys=True)
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, content).urn,
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)),
            "component": own,
        },
        "components": [item for item in components if item is not own],
        "dependencies": [{"ref": ref, "dependsOn": refs} for ref, refs in needs.items()],
    }


if __name__ == "__main__":
    print(json.dumps(bill(Path(sys.argv[1])), indent=2))
