# SPDX-License-Identifier: Apache-2.0
"""Requirements as pip reads them: `name`, `name==1.2`, `name>=1,<2`."""

from __future__ import annotations

import re
from typing import Any

from modules import file
from modules.languages import pip
from runner.api import StateFailed
from runner.api.versions import holds

_SPEC = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)(?P<extras>\[[^\]]*\])?\s*(?P<wants>(?:[<>=!~]=?=?|===)[^;]*)?(?:;.*)?"
)


def spec_of(entry: str | dict[str, Any]) -> str:
    if isinstance(entry, str):
        return entry
    name, version = next(iter(entry.items()))
    text = str(version)
    return f"{name}{text}" if text[:1] in "<>=!~" else f"{name}=={text}"


def name_of(spec: str) -> str:
    match = _SPEC.fullmatch(spec.strip())
    return match["name"] if match else spec


def check(specs: list[str]) -> None:
    """Raise StateFailed for `name=1.2`."""
    for spec in specs:
        match = _SPEC.fullmatch(spec.strip())
        wants = match["wants"].split(",") if match and match["wants"] else []
        if any(re.match(r"\s*=[^=]", condition) for condition in wants):
            why = "'=' is not supported, use '==' instead."
            raise StateFailed(f"Invalid version specification in package {spec}. {why}")


def met(spec: str, installed: dict[str, str]) -> bool:
    """Return whether a requirement is met; what only pip can read is not."""
    match = _SPEC.fullmatch(spec.strip())
    if match is None:
        return False
    version = next(
        (v for k, v in installed.items() if pip.normal(k) == pip.normal(match["name"])), None
    )
    if version is None:
        return False
    wants = (match["wants"] or "").replace(" ", "")
    return all(_meets(version, condition) for condition in wants.split(",") if condition)


def _meets(version: str, condition: str) -> bool:
    operator, wanted = re.match(r"([<>=!~]+)(.*)", condition).groups()  # type: ignore[union-attr]
    if wanted.endswith(".*"):
        return f"{version}.".startswith(wanted[:-1]) == (operator != "!=")
    if operator == "~=":  # ~=1.2.1 is >=1.2.1,==1.2.*
        series = wanted.rpartition(".")[0]
        return _meets(version, f">={wanted}") and _meets(version, f"=={series}.*")
    ours, theirs = _parts(version), _parts(wanted)
    return holds((ours > theirs) - (ours < theirs), "==" if operator == "===" else operator)


def _parts(version: str) -> list[tuple[int, int, str]]:
    """A version for comparing: numbers as numbers, and before them what is a pre-release."""
    parts = [
        (1, int(part), "") if part.isdigit() else (0, 0, part)
        for part in re.findall(r"\d+|[a-z]+", version.lower())
    ]
    while parts and parts[-1] == (1, 0, ""):
        parts.pop()
    return [*parts, (1, 0, "")] if parts and parts[-1][0] == 1 else parts


def lines(path: str) -> list[str]:
    """The requirements of a file, without comments and options."""
    lines = (
        line.partition("#")[0].strip()
        for line in file.read_bytes(path).decode("utf-8", "replace").splitlines()
    )
    return [line for line in lines if line and not line.startswith("-")]


def files(requirements: str | list[str] | None) -> list[str]:
    """The files of an argument: one or several, also as a text with commas. Raises
    StateFailed for one that is not there.
    """
    named = [requirements] if isinstance(requirements, str) else requirements or ()
    return [_file(part) for text in named for part in text.split(",")]


def _file(requirements: str) -> str:
    path = file.fetched(requirements)
    if path is None:
        if what := file.why_no_file(requirements.removeprefix("file://")):
            raise StateFailed(f"requirements file '{requirements}' is {what}")
        missing = ("file", requirements) if requirements.startswith("/") else None
        raise StateFailed(f"requirements file '{requirements}' not found", missing=missing)
    return path
