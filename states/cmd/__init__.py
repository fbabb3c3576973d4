# SPDX-License-Identifier: Apache-2.0
"""Run commands and scripts."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from modules import cmd, file
from runner.api import OPEN, Check, Mode, OneOrMany, Plan, Planned, Secret, StateFailed, here
from runner.api.alterations import Alterations
from states.cmd._call import call, wait_call
from states.cmd._outcome import Accepted, outcome, stateful_answer

NON_IDEMPOTENT = {
    "run": "a command is run in each run; guard it with onlyif, unless, creates or onchanges",
    "script": "a script is run in each run; guard it with onlyif, unless, creates or onchanges",
    "call": "a function is called in each run; guard it with onlyif, unless, creates or onchanges",
}
WHY = "what a command changes is known when it has run"

Variables = dict[str, Any] | list[Any] | str
Encoding = Annotated[str, Check(cmd.unknown_encoding)]


def dry_run_check(
    plan: Plan,
    name: str,
    cwd: str | None = None,
    runas: str | None = None,
    group: str | None = None,
    shell: str | None = None,
    root: str | None = None,
    umask: Mode | None = None,
    **arguments: object,
) -> None:
    """Raise StateFailed when the command cannot be started."""
    cmd.refuse_surroundings(cwd, runas, group, shell, root, umask)


def run(
    name: str,
    cwd: str | None = None,
    root: str | None = None,
    runas: str | None = None,
    password: Secret[str] | None = None,
    group: str | None = None,
    shell: str | None = None,
    env: Variables | None = None,
    clean_env: bool = False,
    prepend_path: str | None = None,
    stateful: bool | list[Any] = False,
    stdin: str | None = None,
    umask: Mode | None = None,
    output_loglevel: str | None = None,
    hide_output: bool = False,
    timeout: float | None = None,
    ignore_timeout: bool = False,
    use_vt: bool = False,
    bg: bool = False,
    python_shell: bool | None = None,
    success_retcodes: OneOrMany[int] | None = None,
    success_stdout: OneOrMany[str] | None = None,
    success_stderr: OneOrMany[str] | None = None,
    rstrip: bool = True,
    output_encoding: Encoding | None = None,
    reset_system_locale: bool = True,
) -> Planned:
    """Run a command in a shell.

    name: The command.
    cwd: The folder to run it in; without it the home folder of the user.
    root: A folder that is the command's /.
    runas: The user who runs it; without it the caller.
    password: Refused; it is for Windows, root here becomes any user without one.
    group: The group that it runs with; without it the primary group of the user.
    shell: The shell that runs it; without it that of the environment (`SHELL`), or /bin/sh.
    env: Further variables, as a mapping or a list of them.
    clean_env: No other variables than these, and those of the locale.
    prepend_path: Folders that stand before those of PATH.
    stateful: The last line of its output says whether it changed something (`changed=yes
      comment='...'` or JSON).
    stdin: The text that it reads from its standard input.
    umask: The umask that it runs with, in octal digits.
    output_loglevel: Ignored; what it prints is in the result.
    hide_output: Keep what it prints out of the result.
    timeout: Seconds, after which it is ended with all that it started.
    ignore_timeout: A timeout is no failure.
    use_vt: Ignored; a command has no terminal to wait at.
    bg: Do not wait for its end.
    python_shell: False runs the words of the command without a shell.
    success_retcodes: Exit codes that count as success beside 0.
    success_stdout: Texts of which one being the whole standard output counts as success, too.
    success_stderr: Texts of which one being the whole standard error counts as success, too.
    rstrip: False keeps the white space at the end of what it prints.
    output_encoding: The encoding of what it prints, such as `latin-1`, instead of UTF-8.
    reset_system_locale: False gives it the locale of this run, instead of `C` for messages,
      numbers and dates.

        make install:
          cmd.run:
            - cwd: /usr/local/src/tool
            - creates: /usr/local/bin/tool

    Behaviour: Salt 3008's cmd.run.
    """
    _refuse(password)

    def planned(alters: Alterations) -> Plan:
        told = f'Command "{name}" would have been executed'
        return _plan(told, {"cmd": name}, stateful, alters)

    def foreseen() -> Plan | str:
        if trial := _test_command(stateful):
            return _run_test(trial, cwd, runas, env, shell)
        return planned(Alterations() if root else cmd.alterations(name, cwd, runas))

    yield planned(Alterations())._replace(in_dry_run=foreseen)
    _refuse_surroundings(cwd, runas, group, shell, root, umask)
    if python_shell is False and not (root or env or clean_env or prepend_path):
        cmd.refuse_program(name)
    try:
        done = cmd.execute_shell(
            name,
            cwd=cwd,
            stdin=stdin,
            runas=runas,
            group=group,
            shell=shell,
            python_shell=python_shell,
            env=env,
            clean_env=clean_env,
            prepend_path=prepend_path,
            umask=umask,
            timeout=timeout,
            root=root,
            bg=bg,
            rstrip=rstrip,
            output_encoding=output_encoding,
            reset_system_locale=reset_system_locale,
        )
    except StateFailed as failure:
        raise StateFailed(failure.message, changes={}, missing=failure.missing) from None
    accepted = Accepted(success_retcodes, success_stdout, success_stderr, ignore_timeout, rstrip)
    return outcome(f'Command "{name}" run', done, stateful, accepted, hide_output, bg)


def wait(
    name: str,
    cwd: str | None = None,
    root: str | None = None,
    runas: str | None = None,
    password: Secret[str] | None = None,
    group: str | None = None,
    shell: str | None = None,
    env: Variables | None = None,
    clean_env: bool = False,
    prepend_path: str | None = None,
    stateful: bool | list[Any] = False,
    stdin: str | None = None,
    umask: Mode | None = None,
    output_loglevel: str | None = None,
    hide_output: bool = False,
    timeout: float | None = None,
    ignore_timeout: bool = False,
    use_vt: bool = False,
    bg: bool = False,
    python_shell: bool | None = None,
    success_retcodes: OneOrMany[int] | None = None,
    success_stdout: OneOrMany[str] | None = None,
    success_stderr: OneOrMany[str] | None = None,
    rstrip: bool = True,
    output_encoding: Encoding | None = None,
    reset_system_locale: bool = True,
) -> str:
    """Run a command only when something that the state watches changed. The arguments are those of
    cmd.run.

    name, cwd, root, runas, password, group, shell, env, clean_env, prepend_path, stateful, stdin,
      umask, output_loglevel, hide_output, timeout, ignore_timeout, use_vt, bg, python_shell,
      success_retcodes, success_stdout, success_stderr, rstrip, output_encoding,
      reset_system_locale: As of cmd.run.

        rebuild the index:
          cmd.wait:
            - name: /usr/bin/updatedb
            - watch:
              - file: /etc/updatedb.conf
        /etc/updatedb.conf:
          file.managed:
            - source: salt://updatedb.conf

    Behaviour: Salt 3008's cmd.wait.
    """
    return ""


def script(
    name: str,
    source: str | None = None,
    template: str | None = None,
    context: dict[str, Any] | None = None,
    defaults: dict[str, Any] | None = None,
    args: str | list[Any] | None = None,
    cwd: str | None = None,
    runas: str | None = None,
    password: Secret[str] | None = None,
    group: str | None = None,
    shell: str | None = None,
    env: Variables | None = None,
    clean_env: bool = False,
    prepend_path: str | None = None,
    stateful: bool | list[Any] = False,
    stdin: str | None = None,
    umask: Mode | None = None,
    output_loglevel: str | None = None,
    hide_output: bool = False,
    timeout: float | None = None,
    ignore_timeout: bool = False,
    use_vt: bool = False,
    bg: bool = False,
    success_retcodes: OneOrMany[int] | None = None,
    success_stdout: OneOrMany[str] | None = None,
    success_stderr: OneOrMany[str] | None = None,
    rstrip: bool = True,
    output_encoding: Encoding | None = None,
    reset_system_locale: bool = True,
) -> Planned:
    """Run a script of the tree.

    name: The script (salt://, a path) with its arguments. With `source` its first word only names
      the state; what follows are the arguments, unless `args` or `source` has them.
    source: Where the script comes from (salt://, a path); words after it are arguments.
    template: What renders the script first, such as `jinja`.
    context: Variables of the template.
    defaults: Variables of the template that `context` does not have.
    args: Its arguments as a text of the shell, or a list with one argument in each item.
    cwd, runas, password, group, shell, env, clean_env, prepend_path, stateful, stdin, umask,
      output_loglevel, hide_output, timeout, ignore_timeout, use_vt, bg, success_retcodes,
      success_stdout, success_stderr, rstrip, output_encoding, reset_system_locale: As of cmd.run.

        set up the cluster:
          cmd.script:
            - source: salt://cluster/setup.sh
            - args: --first
            - creates: /var/lib/cluster/done

    Behaviour: Salt 3008's cmd.script.
    """
    _refuse(password)
    url, _, words = (source or name).partition(" ")
    local = file.fetched(url)
    if local is None:
        missing = {"pid": 0, "retcode": 1, "stdout": "", "stderr": "", "cache_error": True}
        what = file.why_no_file(url.removeprefix("file://"))
        reason = f": it is {what}" if what else ""
        raise StateFailed(
            f"Unable to cache script {url} from saltenv '{here.saltenv}'{reason}", changes=missing
        )
    text = file.read_bytes(local).decode("utf-8", errors="surrogateescape")
    if template:
        text = here.render(
            text,
            template,
            {**(defaults or {}), **(context or {})},
            file=local,
            saltenv=here.saltenv,
        )
    told = f"Command '{name}' would have been executed"
    yield _plan(told, {}, stateful, Alterations())
    _refuse_surroundings(cwd, runas, group, shell, None, umask)
    _refuse_interpreter(text, url)
    path = f"{here.scratch()}/{os.path.basename(url)}"
    file.write(path, text.encode("utf-8", errors="surrogateescape"), mode="0700", user=runas)
    if runas:
        file.chown(os.path.dirname(path), runas, None)
    if source and not words and not args:
        words = name.partition(" ")[2]
    line = " ".join(part for part in (path, words, _typed(args or "")) if part)
    done = cmd.execute_shell(
        line,
        cwd=cwd,
        stdin=stdin,
        runas=runas,
        group=group,
        shell=shell,
        env=env,
        clean_env=clean_env,
        prepend_path=prepend_path,
        umask=umask,
        timeout=timeout,
        bg=bg,
        rstrip=rstrip,
        output_encoding=output_encoding,
        reset_system_locale=reset_system_locale,
    )
    accepted = Accepted(success_retcodes, success_stdout, success_stderr, ignore_timeout, rstrip)
    return outcome(f"Command '{name}' run", done, stateful, accepted, hide_output, bg)


def _typed(args: str | list[Any]) -> str:
    """Arguments as they are typed in a shell."""
    if isinstance(args, str):
        return args
    import shlex

    return shlex.join(str(word) for word in args)


def wait_script(
    name: str,
    source: str | None = None,
    template: str | None = None,
    context: dict[str, Any] | None = None,
    defaults: dict[str, Any] | None = None,
    args: str | list[Any] | None = None,
    cwd: str | None = None,
    runas: str | None = None,
    password: Secret[str] | None = None,
    group: str | None = None,
    shell: str | None = None,
    env: Variables | None = None,
    clean_env: bool = False,
    prepend_path: str | None = None,
    stateful: bool | list[Any] = False,
    stdin: str | None = None,
    umask: Mode | None = None,
    output_loglevel: str | None = None,
    hide_output: bool = False,
    timeout: float | None = None,
    ignore_timeout: bool = False,
    use_vt: bool = False,
    bg: bool = False,
    success_retcodes: OneOrMany[int] | None = None,
    success_stdout: OneOrMany[str] | None = None,
    success_stderr: OneOrMany[str] | None = None,
    rstrip: bool = True,
    output_encoding: Encoding | None = None,
    reset_system_locale: bool = True,
) -> str:
    """Run a script of the tree only when something that the state watches changed.

    name, source, template, context, defaults, args, cwd, runas, password, group, shell, env,
      clean_env, prepend_path, stateful, stdin, umask, output_loglevel, hide_output, timeout,
      ignore_timeout, use_vt, bg, success_retcodes, success_stdout, success_stderr, rstrip,
      output_encoding, reset_system_locale: as of cmd.script.

        reload the rules:
          cmd.wait_script:
            - source: salt://firewall/load.sh
            - watch:
              - file: /etc/firewall.rules
        /etc/firewall.rules:
          file.managed:
            - source: salt://firewall/rules

    Behaviour: Salt 3008's cmd.wait_script.
    """
    return ""


watch = wait  # its older name


def mod_watch(name: str, sfun: str, **arguments: Any) -> Planned:
    """Run the command or the script because something that is watched changed.

    sfun: the state function that watches.
    """
    import inspect

    function: Callable[..., Planned] = run
    if sfun in ("script", "wait_script"):
        function = script
    elif sfun in ("call", "wait_call"):
        function = call
    known = inspect.signature(function).parameters
    return (
        yield from function(
            name, **{key: value for key, value in arguments.items() if key in known}
        )
    )


def _refuse(password: str | None) -> None:
    if password is not None:
        raise StateFailed("password is for Windows: here root becomes any user without one")


def _refuse_surroundings(*surroundings: str | None) -> None:
    """Fail where a command cannot be started; nothing was changed."""
    try:
        cmd.refuse_surroundings(*surroundings)
    except StateFailed as failure:
        raise StateFailed(failure.message, changes={}, missing=failure.missing) from None


def _refuse_interpreter(text: str, url: str) -> None:
    """Raise StateFailed for a script whose first line names a program that is not there."""
    words = text.partition("\n")[0].removeprefix("#!").split() if text.startswith("#!") else []
    if words and not file.exists(words[0]):
        raise StateFailed(
            f"{url} cannot be run: its first line names {words[0]}, which is not there",
            changes={},
            missing=[("file", words[0]), ("command", words[0])],
        )


def _plan(comment: str, changes: Mapping[str, Any], stateful: object, alters: Alterations) -> Plan:
    paths = alters.facts()
    return Plan(
        {} if stateful else changes,
        "" if stateful else comment,
        exact=False,
        why=WHY,
        provides=paths if alters.is_all else [*paths, OPEN],
    )


def _test_command(stateful: object) -> str | None:
    """The command that tells in a dry run what the real one would do: `stateful: [{test_name:
    ...}]`.
    """
    entries = stateful if isinstance(stateful, list) else []
    return next(
        (
            str(entry["test_name"])
            for entry in entries
            if isinstance(entry, dict) and "test_name" in entry
        ),
        None,
    )


def _run_test(
    trial: str, cwd: str | None, runas: str | None, env: Any, shell: str | None
) -> Plan | str:
    done = cmd.complete(trial, cwd=cwd, runas=runas, env=env, shell=shell)
    comment, changes = stateful_answer(
        done, {"pid": done.pid, "retcode": done.retcode, "stdout": "", "stderr": done.stderr}
    )
    if done.retcode:
        raise StateFailed(comment, changes=changes)
    return Plan(changes, comment, exact=False, why=WHY, provides=OPEN) if changes else comment


__all__ = [
    "call",
    "dry_run_check",
    "mod_watch",
    "run",
    "script",
    "wait",
    "wait_call",
    "wait_script",
    "watch",
]
