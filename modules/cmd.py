"""Running programs: looks without a shell for states and modules, and Salt's cmd functions for trees."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from modules import _processes
from modules._processes import Completed as Completed
from modules._scripts import written
from runner.api import CommandFailed, changer, here

LOCALE = {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}


def probe(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    stdin: str | None = None,
    timeout: float | None = None,
) -> Completed:
    """Run a program that only looks, without a shell.

    env: added to the environment. timeout: seconds. Raises CommandFailed when it cannot be started.
    """
    return _processes.ended(
        list(argv), env={**os.environ, **LOCALE, **(env or {})}, cwd=cwd, stdin=stdin, timeout=timeout
    )


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
    return _processes.ended(
        list(argv), env={**os.environ, **LOCALE, **(env or {})}, cwd=cwd, stdin=stdin, timeout=timeout
    )


@changer
def execute_shell(command: str, **options: Any) -> Completed:
    """Run a command line that changes the machine; the options are those of `run`."""
    return complete(command, **options)


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
) -> Completed:
    """Run a command in a shell (or without: `python_shell: False`).

    cwd (default: at home), runas, group, umask (octal), timeout (seconds), root: how. env: variables as a mapping or a
    list of them.
    Raises CommandFailed for an unknown user, a missing folder, a program that cannot be started.
    """
    variables = {} if clean_env else dict(os.environ)
    variables.update(_variables(env))
    if prepend_path:
        variables["PATH"] = f"{prepend_path}:{variables.get('PATH', os.defpath)}"
    user: dict[str, Any] = _identity(runas, group, variables) if runas or group else {}
    if umask is not None:
        user["umask"] = int(str(umask), 8)
    cwd = _home(runas) if cwd is None and not root else cwd
    if cwd is not None and not os.path.isdir(cwd):
        raise CommandFailed(f"Specified cwd '{cwd}' either not absolute or does not exist")
    if isinstance(cmd, str):
        plain = python_shell is False
        argv = shlex.split(cmd) if plain else [shell or os.environ.get("SHELL") or "/bin/sh", "-c", cmd]
    else:
        argv = [str(word) for word in cmd]
    if shell and argv[0] == shell and not os.path.exists(shell):
        raise CommandFailed(f"The shell {shell} is not available", lacks=("file", shell))
    if root:
        argv = ["chroot", root, *argv]
    done = _processes.ended(argv, env=variables, cwd=cwd, stdin=stdin, timeout=timeout, bg=bg, **user)
    if done.timed_out:
        shown = cmd if isinstance(cmd, str) else shlex.join(argv)
        return Completed(1, f"{shown} : Timed out after {timeout:g} seconds", "", done.pid, True)
    return done


def _home(user: str | None) -> str:
    """Where a command runs that names no folder, as with Salt: a run is the same wherever one stands."""
    home = os.path.expanduser(f"~{user or ''}")
    return home if os.path.isdir(home) and os.access(home, os.R_OK) else "/"


def _variables(env: Any) -> dict[str, str]:
    """A mapping, a list of mappings or of `NAME=value` texts; names with the value None or False are unset as ""."""
    if env is None:
        return {}
    if isinstance(env, str):
        env = [env]
    if not isinstance(env, Mapping | list | tuple):
        raise CommandFailed("Invalidly-formatted 'env' parameter. See documentation.")
    if isinstance(env, Mapping):
        return {str(name): "" if value in (None, False) else str(value) for name, value in env.items()}
    found: dict[str, str] = {}
    for entry in env:
        if isinstance(entry, Mapping):
            found |= _variables(entry)
        else:
            name, _, value = str(entry).partition("=")
            found[name] = value
    return found


def _identity(runas: str | None, group: str | None, variables: dict[str, str]) -> dict[str, Any]:
    """The user and the groups for Popen; the variables get the user's HOME, USER, LOGNAME and SHELL."""
    import grp
    import pwd

    found: dict[str, Any] = {}
    try:
        if runas:
            user = pwd.getpwnam(runas)
            variables.update(
                HOME=user.pw_dir, USER=user.pw_name, LOGNAME=user.pw_name, SHELL=user.pw_shell or "/bin/sh"
            )
            if user.pw_uid != os.geteuid():
                groups = os.getgrouplist(user.pw_name, user.pw_gid)
                found |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": groups}
        if group:
            found["group"] = grp.getgrnam(group).gr_gid
    except KeyError:
        kind, name = ("user", runas) if runas else ("group", group)
        raise CommandFailed(f"{kind.title()} '{name}' is not available", lacks=(kind, str(name))) from None
    return found


# ---------------------------------------------------------------- Salt's functions


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
    hide_output: bool = False,
    output_loglevel: str | None = None,
    redirect_stderr: bool = False,
    raise_err: bool = False,
    use_vt: bool = False,
) -> dict[str, Any]:
    """Run a command; its pid, retcode, stdout and stderr.

    python_shell: whether a shell reads the command line (default: in `runner call` only). success_retcodes: exit codes
    that count as 0. ignore_retcode: a guard that calls this does not look at the exit code. redirect_stderr: both
    streams in stdout. raise_err: raise on failure.

        {{ salt['cmd.run_all']('id -u').retcode }}
    """
    shelled = here.by_hand if python_shell is None else python_shell
    done = complete(
        cmd, cwd, stdin, runas, group, shell, shelled, env, clean_env, prepend_path, umask, timeout, root, bg
    )
    accepted = [success_retcodes] if isinstance(success_retcodes, int) else list(success_retcodes or ())
    retcode = 0 if done.retcode in accepted else done.retcode
    out, err = done.stdout, done.stderr
    if rstrip:
        out, err = out.rstrip(), err.rstrip()
    if redirect_stderr:
        out, err = "\n".join(part for part in (out, err) if part), ""
    if retcode and not ignore_retcode:
        here.store("retcodes")[threading.get_ident()] = retcode
    if raise_err and retcode:
        raise CommandFailed(f"Command {cmd!r} failed with return code {retcode}: {err or out}")
    if hide_output:
        out = err = ""
    return {"pid": done.pid, "retcode": retcode, "stdout": out, "stderr": err}


def run(cmd: str | Sequence[str], cwd: str | None = None, **options: Any) -> str:
    """The output of a command, both streams; options as those of run_all.

    {{ salt['cmd.run']('uname -r') }}
    """
    return str(run_all(cmd, cwd, redirect_stderr=True, **options)["stdout"])


def run_stdout(cmd: str | Sequence[str], cwd: str | None = None, **options: Any) -> str:
    """The standard output of a command; options as those of run_all."""
    return str(run_all(cmd, cwd, **options)["stdout"])


def run_stderr(cmd: str | Sequence[str], cwd: str | None = None, **options: Any) -> str:
    """The standard error of a command; options as those of run_all."""
    return str(run_all(cmd, cwd, **options)["stderr"])


def retcode(cmd: str | Sequence[str], cwd: str | None = None, **options: Any) -> int:
    """The exit code of a command; options as those of run_all."""
    return int(run_all(cmd, cwd, **options)["retcode"])


def shell(cmd: str, cwd: str | None = None, **options: Any) -> str:
    """The output of a command line; options as those of run_all."""
    return run(cmd, cwd, **options, python_shell=True)


def which(cmd: str) -> str | None:
    """The path of a program; None when there is none."""
    import shutil

    return shutil.which(cmd)


def has_exec(cmd: str) -> bool:
    """Whether there is a program of this name."""
    return which(cmd) is not None


def which_bin(cmds: Sequence[str]) -> str | None:
    """The path of the first of these programs that there is."""
    return next((path for path in map(which, cmds) if path), None)


def script(
    source: str,
    args: str | None = None,
    cwd: str | None = None,
    template: str | None = None,
    saltenv: str | None = None,
    context: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Run a script of the tree; its pid, retcode, stdout and stderr.

    args: its arguments, as one text. template: render it first, with `context`. The options are those of run_all.

        {{ salt['cmd.script']('salt://probe.sh', '--all').stdout }}
    """
    env = saltenv or here.saltenv
    found = here.tree.fetch(source, env)
    if found is None:
        return {"pid": 0, "retcode": 1, "stdout": "", "stderr": "", "cache_error": True}
    with open(found, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    if template:
        text = here.render(text, template, dict(context or {}), file=found, saltenv=env)
    with written(text, os.path.basename(source), options.get("runas")) as path:
        line = f"{shlex.quote(path)} {args or ''}".rstrip()
        return run_all(line, cwd, **{**options, "python_shell": True})


def script_retcode(source: str, args: str | None = None, cwd: str | None = None, **options: Any) -> int:
    """The exit code of a script of the tree; arguments as those of script."""
    return int(script(source, args, cwd, **options)["retcode"])


def exec_code_all(
    lang: str, code: str, cwd: str | None = None, args: str | None = None, **options: Any
) -> dict[str, Any]:
    """Run code in a language (`python3`, `ruby`, ...); its pid, retcode, stdout and stderr."""
    with written(code, "code", options.get("runas")) as path:
        line = f"{lang} {shlex.quote(path)} {args or ''}".rstrip()
        return run_all(line, cwd, **{**options, "python_shell": True})


def exec_code(lang: str, code: str, cwd: str | None = None, args: str | None = None, **options: Any) -> str:
    """The output of code in a language (`python3`, `ruby`, ...)."""
    return str(exec_code_all(lang, code, cwd, args, **options)["stdout"])
