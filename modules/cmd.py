# SPDX-License-Identifier: Apache-2.0
"""Running programs: looks without a shell for states and modules, and Salt's cmd functions for
trees.
"""

from __future__ import annotations

import errno
import os
import shlex
from _thread import get_ident

from modules import _accounts, _paths
from modules._accounts import caller as caller
from modules._machine import processes, salt_call, surroundings
from modules._machine.processes import LOCALE as LOCALE
from modules._machine.processes import Completed as Completed
from modules._machine.processes import without_traceback as without_traceback
from modules._machine.scripts import temporary_script
from modules._paths import text_of
from modules._planned.overlay import planned_machine
from modules._texts import left_behind
from modules.file import _rights
from runner.api import (
    CommandFailed,
    StateFailed,
    changer,
    command_lines,
    for_states,
    here,
    unknown_encoding,
)
from runner.api.alterations import Alterations
from runner.api.shell_tests import ShellTest, shell_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

# bytes of a stream, the first and the last ones: that a state reports (in the answer and in the
# history they are several times as much), that a template is given, that nobody asked for
MOST_SHOWN, MOST_RETURNED, MOST_HIDDEN = 4 << 20, 16 << 20, 64 << 10


def probe(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    stdin: str | None = None,
    timeout: float | None = None,
    rstrip: bool = True,
) -> Completed:
    """Run a program that only looks, without a shell. In a dry run it sees the planned files where
    one of them is among its words.

    env: added to the environment. timeout: seconds. rstrip: without the end of the last line.
    Raises CommandFailed when it cannot be started.
    """
    return processes.probe(argv, env=env, cwd=cwd, stdin=stdin, timeout=timeout, rstrip=rstrip)


@changer
def execute(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    stdin: str | None = None,
    timeout: float | None = None,
) -> Completed:
    """Run a program that changes the machine, without a shell. Arguments as those of `probe`."""
    return processes.run_to_end(
        list(argv),
        env={**os.environ, **LOCALE, **(env or {})},
        cwd=cwd,
        stdin=stdin,
        timeout=timeout,
    )


@changer
def execute_shell(command: str, **options: Any) -> Completed:
    """Run a command line that changes the machine; the options are those of `run`."""
    return complete(command, most=MOST_SHOWN, **options)


@for_states
def refuse_surroundings(
    cwd: str | None,
    runas: str | None,
    group: str | None,
    shell: str | None,
    root: str | None = None,
    umask: str | None = None,
) -> None:
    """Raise CommandFailed for a command that cannot start: no such folder, user, group, shell."""
    if umask is not None:
        surroundings.octal(umask)
    if root and not _paths.isdir(root):
        raise CommandFailed(f"root: {root} is no folder", missing=("file", root))
    if cwd and not _paths.isdir(cwd):
        raise CommandFailed(
            f'Desired working directory "{cwd}" is not available', missing=("file", cwd)
        )
    surroundings.refuse_unknown(runas, group)
    if os.geteuid():
        _refuse_without_root(cwd, runas, group)
    if shell and not _paths.exists(shell):
        raise CommandFailed(f"The shell {shell} is not available", missing=("file", shell))


SETGID, SETUID = 6, 7  # capabilities(7)


def _refuse_without_root(cwd: str | None, runas: str | None, group: str | None) -> None:
    if cwd and not _paths.access(cwd, os.X_OK):
        raise CommandFailed(
            f'Desired working directory "{cwd}" cannot be entered: {os.strerror(errno.EACCES)}'
        )
    user = (
        runas
        and _accounts.user(runas).pw_uid != os.geteuid()
        and not _rights.has_capability(SETUID)
    )
    others = (
        group
        and _accounts.group(group).gr_gid != os.getegid()
        and not _rights.has_capability(SETGID)
    )
    if user or others:
        raise CommandFailed(
            f"Only root may run a command as {runas if user else f'group {group}'}: this is"
            f" user {os.geteuid()}",
            missing=("right", runas or group or ""),
        )


@for_states
def refuse_program(command: str) -> None:
    """Raise CommandFailed for a command line without a shell whose program is not there."""
    words = _words(command)
    name = words[0] if words else ""
    inside = "/" in name and not name.startswith("/")  # of the folder that it runs in
    if name and not inside and not which(name):
        raise CommandFailed(
            f"Unable to run command '{name}': No such file or directory",
            changes={},
            missing=[("command", name), ("file", name)],
        )


def _words(line: str) -> list[str]:
    """The words of a command line."""
    return shlex.split(line)


@for_states
def alterations(command: str, cwd: str | None, runas: str | None) -> Alterations:
    """Return what a command line may do to paths, named without the links on the way to them."""
    found = command_lines.alterations(command, cwd or surroundings.home(runas))
    return Alterations(
        _led_to(found.made),
        _led_to(found.files),
        _led_to(found.folders),
        _led_to(found.altered),
        _led_to(found.created),
        found.is_all,
    )


@for_states
def holds_output(command: str) -> bool:
    """Return whether something of a command line goes on with its output when it has ended."""
    return left_behind.holds_output(command)


def _led_to(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The places that paths lead to, with those of the links that they end in."""
    places = [_paths.realpath(path) for path in paths]
    for path in paths:
        folder, _, name = path.rpartition("/")
        places.append(f"{_paths.realpath(folder or '/').rstrip('/')}/{name}")
    return tuple(dict.fromkeys(places))


# programs that tell what is in no planned file; of mounts they tell also those of the view
_OF_MOUNTS = frozenset(("df", "findmnt", "lsblk", "mount", "mountpoint"))
_OF_PACKAGES = frozenset(
    ("apt", "apt-cache", "apt-mark", "dnf", "dpkg", "dpkg-query", "pacman", "rpm", "yum", "zypper")
)


def _beside_files(words: Sequence[str]) -> str | None:
    """What a shell's words ask for that is planned, and that no view of files shows."""
    if not _OF_PACKAGES.isdisjoint(words):
        if named := next(filter(planned_machine().packages.__contains__, words), None):
            return named
    if _OF_MOUNTS.isdisjoint(words):
        return None
    return _paths.planned_among(word for word in words if word != "/")


@for_states
def complete(
    cmd: str | Sequence[str],
    cwd: str | None = None,
    stdin: str | None = None,
    runas: str | None = None,
    group: str | None = None,
    shell: str | None = None,
    python_shell: bool | None = None,
    env: Any = None,
    clean_env: bool = False,
    prepend_path: str | None = None,
    umask: str | int | None = None,
    timeout: float | None = None,
    root: str | None = None,
    bg: bool = False,
    reset_system_locale: bool = True,
    rstrip: bool = True,
    output_encoding: str | None = None,
    most: int | None = None,
    see_planned: bool = True,
) -> Completed:
    """Run a command in a shell (or without: `python_shell: False`).

    cwd (default: at home), runas, group, umask (octal), timeout (seconds), root: how. env:
    variables as a mapping or a list of them. reset_system_locale: messages, numbers and dates as in
    no country. rstrip: without the end of the last line. output_encoding: of what it prints,
    instead of UTF-8. most: as of `processes.run_to_end`. see_planned: in a dry run, see the
    planned files. Raises CommandFailed for an unknown user, a missing folder, a program that cannot
    be started.
    """
    if output_encoding and (problem := unknown_encoding(output_encoding)):
        raise CommandFailed(problem)
    variables = surroundings.variables(env, clean_env, prepend_path, reset_system_locale)
    view = processes.view()
    user: dict[str, Any] = {}
    if runas or group:
        user = surroundings.identity(runas, group, variables, planned=view is not None)
    if umask is not None:
        user["umask"] = surroundings.octal(umask)
    cwd = cwd or (None if root else surroundings.home(runas))
    if cwd is not None and not _paths.isdir(cwd):
        raise CommandFailed(
            f"Specified cwd '{cwd}' either not absolute or does not exist", missing=("file", cwd)
        )
    plain = not isinstance(cmd, str) or python_shell is False  # without a shell
    if isinstance(cmd, str):
        argv = _words(cmd) if plain else [shell or os.environ.get("SHELL") or "/bin/sh", "-c", cmd]
    else:
        argv = [str(word) for word in cmd]
    if shell and argv[0] == shell and not _paths.exists(shell):
        raise CommandFailed(f"The shell {shell} is not available", missing=("file", shell))
    if root:
        argv = ["chroot", root, *argv]
    view = processes.view() if see_planned else None
    if cwd is not None and view is None and not os.path.isdir(cwd):  # os: no view of it
        raise processes.unseen(cwd)
    if see_planned and _paths.overlay() is not None:
        shelled = () if plain else tuple(command_lines.named(argv[-1], cwd))
        if planned := _beside_files(shelled):
            raise processes.unseen(planned)
        if view is None and (planned := _paths.planned_among(argv) or _paths.planned_in(shelled)):
            raise processes.unseen(planned)
    done = processes.run_to_end(
        argv,
        env=salt_call.environment(argv, variables),
        cwd=cwd,
        stdin=stdin,
        timeout=timeout,
        bg=bg,
        most=most,
        view=view,
        encoding=output_encoding,
        rstrip=rstrip,
        **user,
    )
    if done.timed_out:
        shown = cmd if isinstance(cmd, str) else shlex.join(argv)
        return Completed(1, f"{shown} : Timed out after {timeout:g} seconds", "", done.pid, True)
    return done


@for_states
# ---------------------------------------------------------------- Salt's functions


def _changer_when_called(function: Callable[P, R]) -> Callable[P, R]:
    """Declare a function that runs whatever it is given: a changer for `runner call`, which does
    not call it with --test. Templates and classic code call it in every mode, as with Salt.
    """
    function.__dict__["as_changer"] = changer(function)
    return function


@_changer_when_called
def run_all(
    cmd: str | Sequence[str],
    cwd: str | None = None,
    stdin: str | None = None,
    runas: str | None = None,
    shell: str | None = None,
    python_shell: bool | None = None,
    env: Any = None,
    clean_env: bool = False,
    prepend_path: str | None = None,
    umask: str | int | None = None,
    timeout: float | None = None,
    root: str | None = None,
    bg: bool = False,
    group: str | None = None,
    rstrip: bool = True,
    ignore_retcode: bool = False,
    success_retcodes: Sequence[int] | int | None = None,
    success_stdout: Sequence[str] | str | None = None,
    success_stderr: Sequence[str] | str | None = None,
    template: str | None = None,
    saltenv: str | None = None,
    hide_output: bool = False,
    output_loglevel: str | None = None,
    redirect_stderr: bool = False,
    raise_err: bool = False,
    use_vt: bool = False,
    reset_system_locale: bool = True,
    output_encoding: str | None = None,
) -> dict[str, Any]:
    """Run a command; its pid, retcode, stdout and stderr.

    python_shell: whether a shell reads the command line (default: in `runner call` only).
    success_retcodes: exit codes that count as 0, as do texts of `success_stdout` in its output, of
    `success_stderr` in its errors. template: render the command and `cwd` first, with jinja for
    example. rstrip: without white space at the end.
    output_encoding: instead of UTF-8. ignore_retcode: a guard that calls this does not look at the
    exit code. redirect_stderr: both streams in stdout. raise_err: raise
    CommandFailed on failure.

        {{ salt['cmd.run_all']('id -u').retcode }}
    """
    # `false` on the command line, which YAML does not take for a text
    if isinstance(cmd, bool | int | float):
        cmd = str(cmd).lower()
    if template:
        cmd, cwd = (_rendered(text, template, saltenv) for text in (cmd, cwd))
    shelled = here.called_directly if python_shell is None else python_shell
    done = complete(
        cmd,
        cwd,
        stdin,
        runas,
        group,
        shell,
        shelled,
        env,
        clean_env,
        prepend_path,
        umask,
        timeout,
        root,
        bg,
        reset_system_locale=reset_system_locale,
        rstrip=rstrip,
        output_encoding=output_encoding,
        most=MOST_HIDDEN if hide_output else MOST_RETURNED,
    )
    out, err = done.stdout, done.stderr
    if rstrip:
        out, err = out.rstrip(), err.rstrip()
    accepted = (success_retcodes, success_stdout, success_stderr)
    retcode = 0 if succeeds((done.retcode, out, err), accepted) else done.retcode
    if redirect_stderr:
        out, err = "\n".join(part for part in (out, err) if part), ""
    if retcode and not ignore_retcode:
        _note_failure(retcode)
    if raise_err and retcode:
        raise CommandFailed(f"Command {cmd!r} failed with return code {retcode}: {err or out}")
    if hide_output:
        out = err = ""
    return {"pid": done.pid, "retcode": retcode, "stdout": out, "stderr": err}


def _rendered(text: Any, engine: str, saltenv: str | None) -> Any:
    if isinstance(text, str):
        return here.render(text, engine, {}, saltenv=saltenv or here.saltenv)
    return [_rendered(word, engine, saltenv) for word in text] if text else text


@for_states
def succeeds(result: tuple[int, str, str], accepted: Sequence[Any]) -> bool:
    """Return whether an exit code, or what a command printed, counts as success beside 0. accepted:
    exit codes, texts in its output, texts in its errors; one or several of each, or none.
    """
    codes, *texts = ([some] if isinstance(some, str | int) else some or () for some in accepted)
    return result[0] in codes or any(
        str(text) in said for said, some in zip(result[1:], texts, strict=True) for text in some
    )


def _note_failure(code: int) -> None:
    """Note an exit code for the guard that called this."""
    here.store("retcodes")[get_ident()] = code


@_changer_when_called
def run(cmd: str | Sequence[str], cwd: str | None = None, **options: Any) -> str:
    """The output of a command, both streams; options as those of run_all.

    {{ salt['cmd.run']('uname -r') }}
    """
    return str(run_all(cmd, cwd, redirect_stderr=True, **options)["stdout"])


@_changer_when_called
def run_bg(cmd: str | Sequence[str], cwd: str | None = None, **options: Any) -> dict[str, int]:
    """Start a command and leave it running, without its output: {pid}. Options as those of run_all.

    runner call cmd.run_bg '/opt/app/reindex --all'
    """
    return {"pid": int(run_all(cmd, cwd, **{**options, "bg": True})["pid"])}


@_changer_when_called
def run_chroot(
    root: str, cmd: str | Sequence[str], cwd: str | None = None, **options: Any
) -> dict[str, Any]:
    """Run a command with a folder as its /; its pid, retcode, stdout and stderr. Options as those
    of run_all.

    Nothing is mounted there, and what the command leaves running is left alone.

        runner call cmd.run_chroot /mnt/rescue 'update-grub'
    """
    if not _paths.isdir(root):
        raise CommandFailed(f"root: {root} is no folder", missing=("file", root))
    given = {"python_shell": True, "shell": "/bin/sh", **options, "root": root}
    return run_all(cmd, cwd, **given)


def shells() -> list[str]:
    """The shells that /etc/shells lists for users.

    {% if '/bin/zsh' in salt['cmd.shells']() %}
    """
    lines = [line.strip() for line in text_of("/etc/shells").splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


@_changer_when_called
def run_stdout(cmd: str | Sequence[str], cwd: str | None = None, **options: Any) -> str:
    """The standard output of a command; options as those of run_all."""
    return str(run_all(cmd, cwd, **options)["stdout"])


@_changer_when_called
def run_stderr(cmd: str | Sequence[str], cwd: str | None = None, **options: Any) -> str:
    """The standard error of a command; options as those of run_all."""
    return str(run_all(cmd, cwd, **options)["stderr"])


@_changer_when_called
def retcode(cmd: str | Sequence[str], cwd: str | None = None, **options: Any) -> int:
    """The exit code of a command; options as those of run_all."""
    question = shell_test(cmd, options)
    if question is None or (cwd and not _paths.isdir(cwd)) or not _is_usual_shell():
        return int(run_all(cmd, cwd, **{**options, "hide_output": True})["retcode"])
    code = int(not _holds(question))
    if code and not options.get("ignore_retcode"):
        _note_failure(code)
    return code


def _is_usual_shell() -> bool:
    """Return whether commands are read by a shell that knows `test` as every shell does."""
    return os.path.basename(os.environ.get("SHELL") or "sh") in ("sh", "dash", "bash", "ash", "zsh")


def _holds(question: ShellTest) -> bool:
    """The answer of `test`, in a dry run as planned."""
    return _TESTS[question.operator](question.operand) is not question.negated


def _is_filled(path: str) -> bool:
    try:
        return _paths.stat(path).st_size > 0
    except OSError:
        return False


_TESTS: Mapping[str, Callable[[str], bool]] = {
    "-e": _paths.exists,
    "-f": _paths.isfile,
    "-d": _paths.isdir,
    "-s": _is_filled,
    "-L": _paths.islink,
    "-h": _paths.islink,
    "-r": lambda path: _paths.access(path, os.R_OK),
    "-w": lambda path: _paths.access(path, os.W_OK),
    "-x": lambda path: _paths.access(path, os.X_OK),
    "-n": bool,
    "-z": lambda text: not text,
}


@_changer_when_called
def shell(cmd: str, cwd: str | None = None, **options: Any) -> str:
    """The output of a command line; options as those of run_all."""
    return run(cmd, cwd, **options, python_shell=True)


def which(cmd: str) -> str | None:
    """The path of a program; None when there is none."""
    return _paths.which(cmd)


def has_exec(cmd: str) -> bool:
    """Return whether there is a program of this name."""
    return which(cmd) is not None


def which_bin(cmds: Sequence[str]) -> str | None:
    """The path of the first of these programs that there is."""
    return next((path for path in map(which, cmds) if path), None)


@_changer_when_called
def script(
    source: str,
    args: str | list[Any] | None = None,
    cwd: str | None = None,
    template: str | None = None,
    saltenv: str | None = None,
    context: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Run a script of the tree; its pid, retcode, stdout and stderr.

    args: its arguments: words, with quotes as in a shell, or a list. template: render it first,
    with `context`. The options are those of run_all.

        {{ salt['cmd.script']('salt://probe.sh', '--all').stdout }}
    """
    env = saltenv or here.saltenv
    local = _paths.fetched(source, env)
    if local is None:
        return {"pid": 0, "retcode": 1, "stdout": "", "stderr": "", "cache_error": True}
    text = _paths.read_text(local, errors="surrogateescape")
    if template:
        text = here.render(text, template, dict(context or {}), file=local, saltenv=env)
    with temporary_script(text, os.path.basename(source), options.get("runas")) as path:
        return run_all(script_line(path, args), cwd, **{**options, "python_shell": True})


@for_states
def script_line(path: str, *given: str | list[Any] | None) -> str:
    """The command line of a script with arguments that no shell takes apart further. Raises
    StateFailed for a quote that has no end.
    """
    words = [path]
    for args in given:
        try:
            words += shlex.split(args) if isinstance(args, str) else map(str, args or ())
        except ValueError:
            raise StateFailed(f"the arguments {args!r} have a quote without an end") from None
    return shlex.join(words)


@_changer_when_called
def script_retcode(
    source: str, args: str | list[Any] | None = None, cwd: str | None = None, **options: Any
) -> int:
    """The exit code of a script of the tree; arguments as those of script."""
    return int(script(source, args, cwd, **options)["retcode"])


@_changer_when_called
def exec_code_all(
    lang: str,
    code: str,
    cwd: str | None = None,
    args: str | list[Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Run code in a language (`python3`, `ruby`, ...); its pid, retcode, stdout and stderr.

    args: its only argument, or a list of them.
    """
    with temporary_script(code, "code", options.get("runas")) as path:
        given = [args] if isinstance(args, str) and args else args
        line = f"{lang} {script_line(path, given)}"
        return run_all(line, cwd, **{**options, "python_shell": True})


@_changer_when_called
def exec_code(
    lang: str,
    code: str,
    cwd: str | None = None,
    args: str | list[Any] | None = None,
    **options: Any,
) -> str:
    """The output of code in a language (`python3`, `ruby`, ...)."""
    return str(exec_code_all(lang, code, cwd, args, **options)["stdout"])
