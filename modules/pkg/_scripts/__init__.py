# SPDX-License-Identifier: Apache-2.0
"""What the maintainer scripts of packages make of the planned machine, and what stays open since
they are not understood.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from modules import _paths
from modules._planned.overlay import planned_machine
from modules._texts.shell import MOST, Unread
from modules.pkg._ahead import PlannedPackage
from modules.pkg._scripts import accounts, files, makers, questions, services
from modules.pkg._scripts.debconf import Questions
from modules.pkg._scripts.known import HANDLERS, read
from modules.pkg._scripts.run import ScriptRun
from modules.pkg.package_manager import Hook
from runner.api import Record, here

_SHELLS = re.compile(r"#!\s*/(?:usr/)?bin/(?:env )?(?:ba|da)?sh\b")
_PATH = re.compile(r"(?:^|[=\s'\"(<>])(/[\w./+@:-]+)")
_NAMES = re.compile(r"[A-Za-z_][\w.@+-]{2,}")
# words that name nothing of the machine
_WORDS = frozenset(
    """
    add all and configure create daemon default defaults enable disable file group
    install false force help list main name none not old quiet remove reload restart
    set start status stop system true update upgrade user version with yes for from
    root
    """.split()
)


# asked of each, so that it is executed, and declares its commands
DECLARED = (accounts.known, questions.known, services.known, files.known, makers.known)


class Open(Record):
    """What a script leaves open. told: of which command, for people. facts: what it may touch."""

    told: str
    facts: tuple[tuple[str, str], ...]


def note_open(opened: Sequence[Open]) -> None:
    """Note for people what the scripts of the state that runs now leave open."""
    if here.chunk and opened:
        told = planned_machine().open.setdefault(f"{here.chunk.state}: {here.chunk.id}", [])
        told += [each.told for each in opened if each.told not in told]


def follow(packages: Sequence[PlannedPackage], kind: str) -> Iterator[Open]:
    """Carry the scripts of a kind (preinst, postinst) out on the planned machine, and yield what
    stays open.
    """
    for package in packages:
        first = "configure" if kind == "postinst" else "upgrade" if package.old else "install"
        old = (package.old,) if package.old or kind == "postinst" else ()
        yield from follow_script(package.name, package.contents.control, kind, first, *old)


def follow_hook(hook: Hook) -> Iterator[Open]:
    """Carry out what is run because packages have come."""
    text = hook.script
    if hook.targets and _SHELLS.match(text):
        text = "\n".join(("#!/bin/sh", "{", text, "} <<'END'", *hook.targets, "END", ""))
    yield from follow_script(hook.owner, {hook.kind: text}, hook.kind)


def follow_script(
    package: str, scripts: Mapping[str, str], kind: str, *arguments: str
) -> Iterator[Open]:
    """Carry a script of a package out, where it has one of this kind."""
    text = scripts.get(kind)
    if not text:
        return
    name = package.partition(":")[0]
    script = f"{kind} of {name}"
    if not _SHELLS.match(text):
        yield Open(f"{script} is no script of the shell", _facts_of(name, ()))
        return
    runs = [_begun(name, scripts, kind, arguments)]

    def configure() -> None:
        """Follow the script that asks questions, which comes before the one that goes by them."""
        if kind in ("preinst", "postinst") and len(runs) == 1 and scripts.get("config"):
            if not _SHELLS.match(scripts["config"]):
                raise Unread("its questions")
            version = arguments[1] if len(arguments) > 1 else ""
            runs.append(_begun(name, scripts, "config", ("configure", version)))
            runs[1].questions = questions_asked
            runs[1].follow(scripts["config"])

    questions_asked = Questions(scripts, configure)
    runs[0].questions = questions_asked
    try:
        runs[0].follow(text)
    except Unread as problem:
        yield Open(f"{script} is not understood: {problem}", _facts_of(name, ()))
    files.remove_temporary()
    for run in reversed(runs):
        for path, command in run.unknown:
            if _paths.lexists(path):
                yield Open(f"{script} makes {path} ({command})", (("altered", path),))
        for doubted in run.doubted:
            command = " ".join(doubted.words[:3])
            told = "may call" if doubted.is_known else "calls"
            facts_of = _rights_of if doubted.of_rights else _facts_of
            facts = facts_of(name, doubted.words, doubted.is_known)
            yield Open(f"{run.script} {told} {command}", facts)


def _begun(name: str, scripts: Mapping[str, str], kind: str, arguments: Sequence[str]) -> ScriptRun:
    return ScriptRun(
        f"{kind} of {name}",
        [*arguments],
        HANDLERS,
        lambda pattern: sorted(_paths.glob(pattern)),
        _source,
        files.write,
        {
            "DPKG_MAINTSCRIPT_PACKAGE": name,
            "DPKG_MAINTSCRIPT_NAME": kind,
            "DEBIAN_FRONTEND": "noninteractive",
        },
        _program,
        spoils=files.spoil,
    )


def _program(name: str) -> str | None:
    """The text of a command that is a script of the shell; None of another one."""
    path = name if "/" in name else _paths.which(name, ":".join(questions.FOLDERS))
    if not path or not _paths.isfile(path) or _paths.stat(path).st_size > MOST:
        return None
    text = _source(path)
    return text if text and _SHELLS.match(text) else None


def _source(path: str) -> str | None:
    """The text of a script that another one reads; None where nobody knows it."""
    try:
        return read(path)
    except Unread:
        return None


def _facts_of(
    package: str, words: Collection[str], is_known: bool = False
) -> tuple[tuple[str, str], ...]:
    """Return what a command may touch, as far as its words tell: paths, or what is named like it,
    and like the package.
    """
    paths = _paths_in(words)
    facts = [(kind, path) for path in paths for kind in ("altered", "made")]
    if is_known and paths:
        return tuple(facts)
    kind = "called" if is_known and words else "named"
    names = set() if kind == "called" else {package}
    for word in words:
        if "/" not in word and not word.startswith("-"):
            names.update(each for each in _NAMES.findall(word) if each.lower() not in _WORDS)
    return (*facts, *((kind, name) for name in sorted(names)))


def _rights_of(package: str, words: Collection[str], is_known: bool) -> tuple[tuple[str, str], ...]:
    """The same of a command that alters nothing but rights: of all that is named like the package,
    where some of its words are not known.
    """
    named = () if is_known else (("rights named", package),)
    below = any(re.match("-[a-zA-Z]*R|--recursive$", word) for word in words)
    kind = "rights below" if below else "rights"
    return (*((kind, path) for path in _paths_in(words)), *named)


def _paths_in(words: Collection[str]) -> list[str]:
    return [match[1] for word in words for match in _PATH.finditer(word)]
