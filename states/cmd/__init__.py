# SPDX-License-Identifier: Apache-2.0
"""Run commands and scripts."""

from __future__ import annotations

import os.path

from modules import cmd, file
from runner.api import OPEN, Mode, Plan, Planned, StateFailed, Word, here
from runner.api.alterations import Alterations
from states.cmd import _outcome, _traps
from states.cmd._call import call, wait_call
from states.cmd._command import AnyCommand, Command, ScriptCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from runner.api.claims import Trap

NON_IDEMPOTENT = {
    "run": "a command is run in each run; guard it with onlyif, unless, creates or onchanges",
    "script": "a script is run in each run; guard it with onlyif, unless, creates or onchanges",
    "call": "a function is called in each run; guard it with onlyif, unless, creates or onchanges",
}
WHY = "what a command changes is known when it has run"


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


def traps(
    fun: str, name: str, env: object = None, bg: object = False, shell: object = None, **_: object
) -> Iterator[Trap]:
    """A variable that was to be added to, which no shell reads; what stays in the background, and
    what another shell than bash does not read.
    """
    yield from _traps.added_to(env)
    yield from _traps.left_behind(name, bg)
    if fun in ("run", "wait"):
        yield from _traps.of_bash(name, shell)


def run(name: Word[str], command: AnyCommand = Command()) -> Planned:
    """Run a command in a shell.

    name: The command.

        make install:
          cmd.run:
            - cwd: /usr/local/src/tool
            - creates: /usr/local/bin/tool
    """
    command.refuse_password()

    def planned(alters: Alterations) -> Plan:
        told = f'Command "{name}" would have been executed'
        return _plan(told, {"cmd": name}, command.stateful, alters)

    def foreseen() -> Plan | str:
        if trial := _test_command(command.stateful):
            return _run_test(trial, command)
        if command.root:
            return planned(Alterations())
        return planned(cmd.alterations(name, command.cwd, command.runas))

    yield planned(Alterations())._replace(in_dry_run=foreseen)
    command.refuse_surroundings()
    elsewhere = command.root or command.env or command.clean_env or command.prepend_path
    if command.python_shell is False and not elsewhere:
        cmd.refuse_program(name)
    try:
        done = cmd.execute_shell(name, **command.options())
    except StateFailed as failure:
        raise StateFailed(failure.message, changes={}, missing=failure.missing) from None
    return _outcome.outcome(f'Command "{name}" run', done, command)


def wait(name: Word[str], command: AnyCommand = Command()) -> str:
    """Run a command only when something that the state watches changed. The arguments are those of
    cmd.run.

    name: As of cmd.run.

        rebuild the index:
          cmd.wait:
            - name: /usr/bin/updatedb
            - watch:
              - file: /etc/updatedb.conf
        /etc/updatedb.conf:
          file.managed:
            - source: salt://updatedb.conf
    """
    return ""


def script(
    name: Word[str],
    source: str | None = None,
    template: str | None = None,
    context: dict[str, Any] | None = None,
    defaults: dict[str, Any] | None = None,
    args: Word[str | list[Any]] | None = None,
    command: ScriptCommand = Command(),
) -> Planned:
    """Run a script of the tree.

    name: The script (salt://, a path) with its arguments. With `source` its first word only names
      the state; what follows are the arguments, unless `args` or `source` has them.
    source: Where the script comes from (salt://, a path); words after it are arguments.
    template: What renders the script first, such as `jinja`.
    context: Variables of the template.
    defaults: Variables of the template that `context` does not have.
    args: Its arguments: words, with quotes as in a shell, which sees none of them, so that `$HOME`
      and `;` stay as they are; or a list with one argument in each item.

        set up the cluster:
          cmd.script:
            - source: salt://cluster/setup.sh
            - args: --first
            - creates: /var/lib/cluster/done
    """
    command.refuse_password()
    url, words = _split(source or name)
    local = file.fetched(url)
    if local is None:
        missing = {"pid": 0, "retcode": 1, "stdout": "", "stderr": "", "cache_error": True}
        what = file.why_no_file(url.removeprefix("file://"))
        reason = f": it is {what}" if what else ""
        raise StateFailed(
            f"Unable to cache script {url} from saltenv '{here.saltenv}'{reason}", changes=missing
        )
    data: file.Contents = file.streamed(local)
    if template:
        text = here.render(
            file.read_values(local).decode("utf-8", errors="surrogateescape"),
            template,
            {**(defaults or {}), **(context or {})},
            file=local,
            saltenv=here.saltenv,
        )
        data = text.encode("utf-8", errors="surrogateescape")
    told = f"Command '{name}' would have been executed"
    yield _plan(told, {}, command.stateful, Alterations())
    command.refuse_surroundings()
    _refuse_interpreter(file.head_of(data), url)
    path = f"{here.scratch()}/{os.path.basename(url)}"
    file.write(path, data, mode="0700", user=command.runas)
    if command.runas:
        file.chown(os.path.dirname(path), command.runas, None)
    if source and not words and not args:
        words = name.partition(" ")[2]
    line = cmd.script_line(path, words, args)
    done = cmd.execute_shell(line, **command.options())
    return _outcome.outcome(f"Command '{name}' run", done, command)


def wait_script(
    name: Word[str],
    source: str | None = None,
    template: str | None = None,
    context: dict[str, Any] | None = None,
    defaults: dict[str, Any] | None = None,
    args: Word[str | list[Any]] | None = None,
    command: ScriptCommand = Command(),
) -> str:
    """Run a script of the tree only when something that the state watches changed.

    name, source, template, context, defaults, args: as of cmd.script.

        reload the rules:
          cmd.wait_script:
            - source: salt://firewall/load.sh
            - watch:
              - file: /etc/firewall.rules
        /etc/firewall.rules:
          file.managed:
            - source: salt://firewall/rules
    """
    return ""


watch = wait  # its older name


def mod_watch(name: str, sfun: str, **arguments: Any) -> Planned:
    """Run the command or the script because something that is watched changed.

    sfun: the state function that watches.
    """
    if sfun in ("call", "wait_call"):
        words = ("func", "args", "kws", "hide_output")
        return (yield from call(name, **_chosen(arguments, words)))
    command = Command(**_chosen(arguments, Command._fields))
    if sfun in ("script", "wait_script"):
        own = ("source", "template", "context", "defaults", "args")
        return (yield from script(name, command=command, **_chosen(arguments, own)))
    return (yield from run(name, command))


def _chosen(arguments: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: arguments[name] for name in names if name in arguments}


def _split(text: str) -> tuple[str, str]:
    """A script and its arguments; the name of a file may have blanks itself."""
    url, _, words = text.partition(" ")
    whole = bool(words) and url.startswith(("salt://", "/")) and file.fetched(text) is not None
    return (text, "") if whole else (url, words)


def _refuse_interpreter(head: bytes, url: str) -> None:
    """Raise StateFailed for a script whose first line names a program that is not there."""
    first = head.partition(b"\n")[0].decode("utf-8", "surrogateescape")
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    if words and first.endswith("\r"):
        raise StateFailed(
            f"{url} cannot be run: its lines end with carriage returns, as on Windows;"
            " `sed -i 's/\\r$//' FILE` takes them away",
            changes={},
        )
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
        comment,
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


def _run_test(trial: str, command: Command) -> Plan | str:
    done = cmd.complete(
        trial, cwd=command.cwd, runas=command.runas, env=command.env, shell=command.shell
    )
    comment, changes = _outcome.stateful_answer(
        done, {"pid": done.pid, "retcode": done.retcode, "stdout": "", "stderr": done.stderr}
    )
    if done.retcode:
        why = comment or _outcome.why_failed(done)
        raise StateFailed(f"the command of test_name: {why}", changes=changes)
    return Plan(changes, comment, exact=False, why=WHY, provides=OPEN) if changes else comment
