# SPDX-License-Identifier: Apache-2.0
"""Python environments."""

from __future__ import annotations

# os in this file: the copy of a planned environment
import os
from contextlib import suppress

from modules import cmd, file
from modules import user as users
from modules._planned.overlay import overlay
from modules.file._paths.place import place
from runner.api import CommandFailed, StateFailed, Unforeseen, changer, for_states
from runner.api.planning import in_stand_in

MOST_SECONDS = 60  # that a dry run spends on making an environment


def python_of(folder: str) -> str:
    """The Python of an environment; of a planned one that of its copy."""
    planned = overlay()
    return os.path.join((planned and planned.copy_of(folder)) or folder, "bin", "python")


def is_there(folder: str) -> bool:
    """Return whether a folder is an environment."""
    python = os.path.join(folder, "bin", "python")
    return file.is_file(python) or file.is_link(python)


@for_states
def refuse_lost_python(folder: str) -> None:
    """Raise StateFailed for an environment whose Python is gone, as after an upgrade of the
    system.
    """
    python = os.path.join(folder, "bin", "python")
    if file.is_link(python) and not file.exists(python):
        raise StateFailed(
            f"the Python that {folder} was made with is gone: `clear: true` once makes the"
            " environment anew, without its packages",
            missing=("file", python),
        )


def version(folder: str) -> str:
    """The version of an environment's Python; empty when it does not work."""
    try:
        with in_stand_in():
            done = cmd.probe([python_of(folder), "--version"])
    except CommandFailed:
        return ""
    return (done.stdout or done.stderr).strip() if done.retcode == 0 else ""


@for_states
def refuse_program(program: str | None) -> None:
    """Raise CommandFailed where the program that makes environments is not there, with what to
    write instead.
    """
    if not program or _is_venv(program) or cmd.which(program):
        return
    words = program.split()
    problem = f"venv_bin is the path or the name of one program, and there is no {program!r}"
    if len(words) == 3 and words[1:] == ["-m", "venv"]:
        raise CommandFailed(
            f"{problem}; Python's own venv needs none: `- python: {words[0]}` says whose it is"
        )
    raise CommandFailed(
        f"{problem}; without venv_bin Python's own venv is used", missing=("command", program)
    )


def _is_venv(program: str) -> bool:
    return "venv" in os.path.basename(program)[:4]


def _refuse_create(folder: str, python: str | None, user: str | None) -> None:
    """Raise StateFailed for an environment that cannot be made."""
    refuse_place(folder, user)
    if user and not users.info(user):
        raise CommandFailed(f"User '{user}' is not available", missing=("user", user))
    if python and not cmd.which(python):
        raise CommandFailed(
            f"Unable to run command '{python}': No such file or directory",
            missing=[("command", python), ("file", python)],
        )
    above = folder.rstrip("/")
    while above and not file.lexists(above):
        above = os.path.dirname(above)
    if above and not file.is_dir(above):
        reason = f"[Errno 20] Not a directory: '{folder}'"
        if above == folder:
            reason = f"Unable to create directory '{folder}'"
        raise StateFailed(
            f"the environment {folder} was not made: Error: {reason}", missing=("file", above)
        )


def _plan_create(
    folder: str,
    python: str | None = None,
    program: str | None = None,
    system_site_packages: bool = False,
    user: str | None = None,
    clear: bool = False,
    prompt: str | None = None,
) -> str:
    """Make an environment in a folder of the cache, as if it were the planned one."""
    _refuse_create(folder, python, user)
    planned = overlay()
    if planned is None or (user and users.info(user).get("uid") != os.geteuid()):
        raise Unforeseen("the environment of another user")
    if file.lexists(folder) and file.listdir(folder):
        raise Unforeseen("an environment in a folder that is not empty")
    copy = os.path.join(planned.scratch(), os.path.basename(folder.rstrip("/")))
    try:
        argv = _words(copy, python, program, system_site_packages, prompt)
        done = cmd.complete(argv, python_shell=False, see_planned=False, timeout=MOST_SECONDS)
    except CommandFailed as failure:
        raise Unforeseen(failure.message) from None
    if done.retcode:  # what it lacks may come with a package
        raise Unforeseen(done.error_text)
    target = file.real_path(folder)
    _move(copy, target)
    planned.graft(copy, target)
    return done.stdout


def _move(copy: str, folder: str) -> None:
    """Have the scripts of an environment name another folder than the one that it was made in."""
    programs = os.path.join(copy, "bin")
    scripts = (os.path.join(programs, name) for name in os.listdir(programs))
    for path in [os.path.join(copy, "pyvenv.cfg"), *scripts]:
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, "r+b") as script:
                text = script.read().replace(os.fsencode(copy), os.fsencode(folder))
                script.seek(0)
                script.truncate()
                script.write(text)


@changer(touches=["files", "pip"], planned=_plan_create)
def create(
    folder: str,
    python: str | None = None,
    program: str | None = None,
    system_site_packages: bool = False,
    user: str | None = None,
    clear: bool = False,
    prompt: str | None = None,
) -> str:
    """Make an environment with Python's venv, or with `program` (virtualenv). Raises StateFailed
    with what it says.
    """
    refuse_place(folder, user)
    if clear and not user:
        _clear(folder)
    argv = _words(folder, python, program, system_site_packages, prompt, clear and bool(user))
    done = cmd.complete(argv, runas=user, python_shell=False)
    if done.retcode:
        raise StateFailed(f"the environment {folder} was not made: {done.error_text}")
    return done.stdout


def _words(
    folder: str,
    python: str | None,
    program: str | None,
    system_site_packages: bool,
    prompt: str | None,
    clear: bool = False,
) -> list[str]:
    """The command line that makes an environment."""
    argv = [program] if program and not _is_venv(program) else [python or _python(), "-m", "venv"]
    if program and argv[0] == program and python:
        argv += ["--python", python]
    argv += ["--system-site-packages"] if system_site_packages else []
    argv += ["--clear"] if clear else []
    argv += [f"--prompt={prompt}"] if prompt else []
    return [*argv, "--", folder]


def _clear(folder: str) -> None:
    """Empty an environment: what venv empties is what its path leads to by then."""
    with (
        suppress(FileNotFoundError, NotADirectoryError),
        place(folder, follow=True) as where,
        where.entered() as inside,
    ):
        inside.clear()


@for_states
def refuse_place(folder: str, user: str | None) -> None:
    """Raise StateFailed for a folder behind a link of somebody else, which is not followed."""
    if not user:
        file.real_path(folder)


def _python() -> str:
    path = cmd.which("python3")
    if path is None:
        raise CommandFailed("there is no python3 on this machine", missing=("command", "python3"))
    return path


def home_of(user: str | None) -> str | None:
    """The home folder of a user; None for who runs this."""
    return str(users.info(user).get("home") or "/") if user else None
