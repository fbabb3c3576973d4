# SPDX-License-Identifier: Apache-2.0
"""Running zypper: its lock is waited for, its exit codes and its XML are understood."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator, Sequence

from modules import cmd
from modules.pkg._run import LOCK_SECONDS, error_list, run_unlocked
from runner.api import CommandFailed, here

PROGRAM = ("zypper", "--non-interactive")
XML = (*PROGRAM, "--xmlout", "--no-refresh")  # only refresh_db and renew_db renew the lists
PLAIN = (*PROGRAM, "--no-color", "--no-refresh")  # for what zypper does not say in XML
LOOKING = {"ZYPP_READONLY_HACK": "1"}  # without the lock: a look does not wait for other programs
LOCKED = 7
NO_REPOSITORIES = 6
REPOSITORIES_SKIPPED = 106
WARNINGS = {  # the transaction was carried out all the same (zypper(8), EXIT CODES)
    102: "a package that was installed or updated wants this machine to be restarted",
    103: "zypper itself was updated: run again what else has to be updated",
    107: "the script of a package failed after it was installed (zypper's log: /var/log/zypp)",
}
SUCCESS = (0, 100, 101, *WARNINGS, REPOSITORIES_SKIPPED)


def look(*words: str, xml: bool = True, environment: dict[str, str] | None = None) -> cmd.Completed:
    """Return what zypper says, without changing anything but its caches."""
    start = XML if xml else PLAIN
    done = cmd.probe([*start, *words], env={**LOOKING, **(environment or {})})
    _warn_of_skipped(done)
    return done


def run(words: Sequence[str], environment: dict[str, str] | None = None) -> cmd.Completed:
    """Have zypper change something. Raises CommandFailed with its errors."""
    done = unlocked([*XML, *words], environment)
    if done.retcode not in SUCCESS:
        raise CommandFailed(errors(done))
    if done.retcode in WARNINGS:
        here.warn(f"zypper: {WARNINGS[done.retcode]}")
    _warn_of_skipped(done)
    return done


def unlocked(argv: Sequence[str], environment: dict[str, str] | None = None) -> cmd.Completed:
    """Return what zypper says once no other program has its lock.

    Raises CommandFailed when that takes too long.
    """
    env = {**(environment or {}), "ZYPP_LOCK_TIMEOUT": "0"}
    return run_unlocked(argv, _lock_problem, env, _patience, "ZYPP_LOCK_TIMEOUT in the environment")


def _lock_problem(done: cmd.Completed) -> str:
    if done.retcode != LOCKED:
        return ""
    return " ".join(messages(done, "error")).replace("\n", " ") or "zypp is locked"


def _patience() -> float:
    given = os.environ.get("ZYPP_LOCK_TIMEOUT", "")
    if re.fullmatch(r"-?\d+", given):
        return float(given) if int(given) >= 0 else float("inf")
    return LOCK_SECONDS


# ---------------------------------------------------------------- what it says

_MESSAGE = re.compile(r'<message type="(\w+)">(.*?)</message>', re.S)
_QUESTION = re.compile(r"<prompt [^>]*>\s*<description>(.*?)</description>", re.S)
_SECTION = re.compile(r"<to-([\w-]+)>(.*?)</to-\1>", re.S)
_ELEMENT = re.compile(r"<(solvable|update) ([^>]*?)/?>")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')

_BESIDE = (  # what says nothing where there is another error
    "Skipping repository",
    "Some of the repositories have not been refreshed",
    "Could not refresh the repositories",
    "Problem occurred during or after installation or removal of packages",
)
_KEY = "have the key imported that it is signed with: key_url or gpgautoimport: True of"
HINTS = (  # part of an error -> what to do
    (
        "Signature verification failed for",
        f"{_KEY} pkgrepo.managed, or rpm --import; gpgcheck: False of pkgrepo.managed uses the"
        " repository without verifying",
    ),
    (
        "Signature verification failed",
        f"{_KEY} pkgrepo.managed, or rpm --import; skip_verify: True installs without verifying",
    ),
    ("remove lock to allow", "a lock holds it at its version: pkg.unheld, or update_holds: True"),
    (
        "Valid metadata not found",
        "the repository cannot be reached, or is none: check its address and the network (zypper"
        " refresh), or switch it off (disabled: True of pkgrepo.managed)",
    ),
    (
        "Download (curl) error",
        "the repository cannot be reached, or lacks a file: check its address and the network"
        " (zypper refresh)",
    ),
    (
        "has lower version than the installed one",
        "name the older version in the state (version:, or in pkgs) to go back to it",
    ),
)


def messages(done: cmd.Completed, kind: str) -> list[str]:
    """Return zypper's messages of a kind: info, warning, error."""
    return [
        html.unescape(text).strip()
        for type_, text in _MESSAGE.findall(done.stdout)
        if type_ == kind
    ]


def errors(done: cmd.Completed) -> str:
    """Return what went wrong in zypper's own words, and what to do about it."""
    problems = [html.unescape(text).strip() for text in _QUESTION.findall(done.stdout)]
    problems += messages(done, "error")
    problems = problems or done.stderr.strip().splitlines()[-3:]
    problems = problems or [f"zypper ended with exit code {done.retcode}"]
    chosen = [problem for problem in problems if not problem.startswith(_BESIDE)]
    problems = chosen or problems
    text = error_list(*(" ".join(problem.split()) for problem in dict.fromkeys(problems)))
    hint = next((hint for part, hint in HINTS if part in text), "")
    return text + (f"\n    Hint: {hint}." if hint else "")


def elements(output: str, kind: str) -> Iterator[dict[str, str]]:
    """Generate the attributes of each `solvable` or `update`."""
    for element, attributes in _ELEMENT.findall(output):
        if element == kind:
            yield {key: html.unescape(text) for key, text in _ATTRIBUTE.findall(attributes)}


def summary(output: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Generate what a transaction does (install, upgrade, remove, ...) to each package."""
    for action, text in _SECTION.findall(output):
        for package in elements(text, "solvable"):
            if package.get("type") == "package":
                yield action, package


def _warn_of_skipped(done: cmd.Completed) -> None:
    """Warn, once a run, of repositories that could not be read and are left out."""
    if done.retcode != REPOSITORIES_SKIPPED:
        return
    skipped = [
        line.strip()
        for line in f"{done.stdout}\n{done.stderr}".splitlines()
        if "Skipping repository" in line
    ]
    warned = here.store("zypper.skipped")
    for line in skipped:
        text = re.sub(r"<[^>]*>|^Warning: ", "", html.unescape(line))
        if text not in warned:
            warned[text] = True
            here.warn(f"zypper: {text} (zypper refresh says more)")
