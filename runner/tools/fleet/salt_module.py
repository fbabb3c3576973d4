# SPDX-License-Identifier: Apache-2.0
"""Run `runner` on minions: its results are returned as Salt's own states return theirs.

The minion's `runner` applies the tree that the master serves, with the pillar that the master
compiles for this minion. The minion's configuration may say:

    runner.program: /opt/runner/bin/runner   # if it is not in the PATH
    runner.config: /etc/runner/runner.yaml   # the minion's own tree, instead of the master's
    runner.options: {state_dir: /srv/runner} # keys for the configuration made here

This file is written by `runner fleet export salt`, and is synchronized to minions by Salt
(`saltutil.sync_modules`, and each `state.apply`). It does not import runner: it runs in Salt's
Python.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import logging
import os
import re
import shutil
import subprocess
from typing import Any

# given by Salt's loader
__salt__: Any
__opts__: dict[str, Any]
__context__: dict[str, Any]

LOG = logging.getLogger(__name__)
PILLAR_FAILURE = 5  # Salt's exit code for it
OWN_FILE = "_modules/runner.py"
OWN_OPTIONS = "runner_options.json"  # beside _modules: what `runner` reads and Salt does not have
# what Salt's master says about states for all its minions
OF_MASTER = tuple(
    """
    default_top env_order failhard jinja_env jinja_lstrip_blocks jinja_sls_env jinja_trim_blocks
    nodegroups renderer state_aggregate state_auto_order state_top state_top_saltenv
    top_file_merging_strategy
    """.split()
)
NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")  # as it is
# what belongs to Salt's Python, and would mislead another one
OF_PYTHON = ("LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV")


def highstate(
    test: bool | None = None,
    pillar: dict[str, Any] | None = None,
    saltenv: str | None = None,
    pillarenv: str | None = None,
    exclude: str | list[str] | None = None,
    wait: float | None = None,
    config: str | None = None,
) -> Any:
    """
    Apply everything that the top file assigns to this minion.

    test: change nothing. pillar: merged into the minion's. exclude: IDs or SLS files to leave out.
    wait: seconds to wait for another run of runner, -1 for as long as it takes. config: the
    configuration file of the minion's own tree, to be used instead of the master's.

    CLI Example:

    .. code-block:: bash

        salt '*' runner.highstate test=True
    """
    words = [*_excluded(exclude), *_waiting(wait)]
    return _run("highstate", words, [], test, pillar, saltenv, pillarenv, config)


def sls(
    mods: str | list[str],
    test: bool | None = None,
    pillar: dict[str, Any] | None = None,
    saltenv: str | None = None,
    pillarenv: str | None = None,
    exclude: str | list[str] | None = None,
    wait: float | None = None,
    config: str | None = None,
) -> Any:
    """
    Apply some SLS files to this minion. The arguments are those of `runner.highstate`.

    CLI Example:

    .. code-block:: bash

        salt '*' runner.sls nginx,users test=True
    """
    names = mods if isinstance(mods, str) else ",".join(mods)
    words = [*_excluded(exclude), *_waiting(wait)]
    return _run("sls", words, [names], test, pillar, saltenv, pillarenv, config)


def single(
    fun: str,
    name: str | None = None,
    test: bool | None = None,
    pillar: dict[str, Any] | None = None,
    saltenv: str | None = None,
    pillarenv: str | None = None,
    wait: float | None = None,
    config: str | None = None,
    **kwargs: Any,
) -> Any:
    """
    Apply one state, without an SLS file. Other arguments are those of the state function.

    CLI Example:

    .. code-block:: bash

        salt '*' runner.single file.managed name=/etc/motd contents=Hello test=True
    """
    given = _arguments([] if name is None else [name], kwargs)
    words = [fun, "-"]
    return _run("single", _waiting(wait), words, test, pillar, saltenv, pillarenv, config, given)


def call(fun: str, *args: Any, **kwargs: Any) -> Any:
    """
    Call one of runner's execution functions. `pillar`, `saltenv`, `pillarenv`, `config` and `test`
    mean what they mean elsewhere; all other arguments are those of the function.

    CLI Example:

    .. code-block:: bash

        salt '*' runner.call pkg.version nginx
    """
    own = {name: kwargs.pop(name, None) for name in ("test", "pillar", "saltenv", "pillarenv")}
    config = kwargs.pop("config", None)
    given = _arguments(args, kwargs)
    return _run("call", [], [fun, "-"], config=config, given=given, **own)


def version() -> str:
    """
    The version of the minion's `runner`.

    CLI Example:

    .. code-block:: bash

        salt '*' runner.version
    """
    code, output, problems = _finished([_program(), "--version"], "")
    if code:
        raise _error(f"runner --version ended with {code}: {problems or output}")
    return output.split()[-1]


# ---------------------------------------------------------------- one run of the program


def _run(
    command: str,
    options: list[str],
    words: list[str],
    test: bool | None = None,
    pillar: dict[str, Any] | None = None,
    saltenv: str | None = None,
    pillarenv: str | None = None,
    config: str | None = None,
    given: str = "",
) -> Any:
    """Return what the program prints below "local"; its exit code becomes that of the job.

    given: arguments of a function, which go to standard input as the pillar does: others could see
    them in the list of processes.
    """
    program = _program()
    if test is None:
        test = bool(__opts__.get("test"))
    values = _pillar(pillar, saltenv, pillarenv)
    if values.get("_errors"):
        __context__["retcode"] = PILLAR_FAILURE
        return ["Pillar failed to render with the following messages:", *values["_errors"]]
    path = config or __salt__["config.get"]("runner.config") or _configuration()
    line = [program, command, "--config", path, "--out", "json", "--pillar-stdin", *options]
    line += ["--saltenv", saltenv] if saltenv else []
    line += ["--test"] if test else []
    code, output, problems = _finished([*line, "--", *words], f"{_written(values)}\n{given}")
    if problems:
        LOG.info("%s", problems)
    try:
        answer = json.loads(output)["local"]
    except (ValueError, KeyError, TypeError):
        raise _error(f"runner {command} ended with {code}: {problems or output}") from None
    if code:
        __context__["retcode"] = code
    return answer


def _program() -> str:
    """The path of `runner`."""
    configured = __salt__["config.get"]("runner.program")
    if configured:
        return str(configured)
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/local/bin:/opt/runner/bin"
    program = shutil.which("runner", path=path)
    if not program:
        raise _error(
            "there is no program `runner` on this minion: install it, or set runner.program in the"
            " minion's configuration"
        )
    return program


def _finished(line: list[str], text: str) -> tuple[int, str, str]:
    """The exit code and what a program printed. It ends when Salt ends the job."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") and name not in OF_PYTHON
    }
    process = subprocess.Popen(
        line,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd="/",
        encoding="utf-8",
        errors="replace",
    )
    try:
        output, problems = process.communicate(text)
    except BaseException:  # the job was terminated
        process.terminate()
        process.wait()
        raise
    return process.returncode, output, problems.strip()


def _arguments(args: Any, kwargs: dict[str, Any]) -> str:
    """The arguments of a function as one line of JSON."""
    named = {name: value for name, value in kwargs.items() if not name.startswith("__")}
    return json.dumps({"__args__": list(args), **named}, default=str) + "\n"


def _written(value: Any) -> str:
    """A pillar as one line: JSON, or YAML where it has keys that are no texts, or bytes."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_written(key)}: {_written(value[key])}' for key in value)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, bytes):
        return f'!!binary "{base64.b64encode(value).decode()}"'
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    text = json.dumps(str(value), ensure_ascii=False)
    return NOT_IN_YAML.sub(lambda letter: f"\\u{ord(letter[0]):04x}", text)


def _excluded(names: str | list[str] | None) -> list[str]:
    listed = names.split(",") if isinstance(names, str) else names or []
    return [word for name in listed for word in ("--exclude", name)]


def _waiting(seconds: float | None) -> list[str]:
    return [] if seconds is None else ["--wait", str(seconds)]


def _error(message: str) -> Exception:
    from salt.exceptions import CommandExecutionError

    error: Exception = CommandExecutionError(message)
    return error


# ---------------------------------------------------------------- what it works with


def _pillar(
    pillar: dict[str, Any] | None, saltenv: str | None, pillarenv: str | None
) -> dict[str, Any]:
    """The pillar that the master compiles for this minion now."""
    values: dict[str, Any] = __salt__["pillar.items"](
        pillar=pillar, pillarenv=pillarenv, saltenv=saltenv, unmask=True
    )
    return values


def _configuration() -> str:
    """Bring the master's tree here, and write runner's configuration for it. Returns its path.

    It lies beside the minion's own, whose static grains it shares.
    """
    from salt.fileclient import get_file_client

    folder = os.path.join(__opts__["cachedir"], "runner_tree")
    os.makedirs(folder, 0o700, exist_ok=True)
    with get_file_client(__opts__) as client, open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        master = client.master_opts()
        if __opts__.get("file_client") == "local":
            roots = __opts__["file_roots"]
        else:
            environments = client.envs()
            roots = {env: [_copied(client, env, os.path.join(folder, env))] for env in environments}
            _remove_others(folder, set(environments))
        settings = {
            **_of_minion(),
            **{key: master[key] for key in OF_MASTER if master.get(key) is not None},
            **_own_options(roots),
            "id": __opts__["id"],
            "file_roots": roots,
            "pillar_roots": {"base": []},
            "default_include": "runner.d/*.yaml",
            "test": False,
        }
        path = os.path.join(os.path.dirname(__opts__["conf_file"]), "runner.yaml")
        _write(path, "# Written by the execution module `runner` before each run.\n", settings)
    return path


def _of_minion() -> dict[str, Any]:
    """Return the minion's configuration for states: grains, and keys that are not Salt's."""
    from salt.config import DEFAULT_MINION_OPTS, minion_config

    written = minion_config(__opts__["conf_file"], cache_minion_id=False)
    own = {
        key: value
        for key, value in written.items()
        if key not in DEFAULT_MINION_OPTS and not key.startswith(("__", "runner.", "include"))
    }
    return {
        **own,
        "grains": written.get("grains") or {},
        "saltenv": __opts__.get("saltenv"),
        "pillarenv": __opts__.get("pillarenv"),
    }


def _own_options(roots: dict[str, list[str]]) -> dict[str, Any]:
    """Keys of `runner` alone: those of the exported tree, and over them those of this minion."""
    options: dict[str, Any] = {}
    for folder in roots.get("base", []):
        try:
            with open(os.path.join(folder, OWN_OPTIONS), encoding="utf-8") as file:
                options.update(json.load(file))
        except FileNotFoundError:
            continue
    options.update(__salt__["config.get"]("runner.options") or {})
    return options


def _copied(client: Any, env: str, folder: str) -> str:
    """Make a folder what the master's file server has for an environment."""
    os.makedirs(folder, 0o700, exist_ok=True)
    files, folders = (
        [path for path in paths if path != OWN_FILE and ".git" not in path.split("/")]
        for paths in (client.file_list(env), client.dir_list(env))
    )
    files = [path for path in files if _bring(client, env, path, os.path.join(folder, path))]
    for path in folders:
        os.makedirs(os.path.join(folder, path), exist_ok=True)
    kept = {*files, *folders}
    for parent, below, names in os.walk(folder, topdown=False):
        for name in (*names, *below):
            path = os.path.join(parent, name)
            if os.path.relpath(path, folder) not in kept:
                if name in names or os.path.islink(path):
                    os.remove(path)
                elif not os.listdir(path):
                    os.rmdir(path)
    return folder


def _bring(client: Any, env: str, path: str, target: str) -> bool:
    """Bring one file, if it is not here already. It gets the mode that it has on the master.

    False: the master has it no longer; what it lists may be seconds old.
    """
    url = f"salt://{path}"
    wanted, status = client.hash_and_stat_file(url, env)
    if not wanted:
        return False
    if os.path.isfile(target):
        with open(target, "rb") as file:
            same = hashlib.new(wanted["hash_type"], file.read()).hexdigest() == wanted["hsum"]
    else:
        same = False
        if os.path.isdir(target):
            shutil.rmtree(target)
    if not same:
        new = f"{target}.new"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not client.get_file(url, new, makedirs=True, saltenv=env):
            raise _error(f"{url} ({env}) could not be fetched from the master")
        os.replace(new, target)
    if status:
        os.chmod(target, status[0] & 0o777)
    return True


def _remove_others(folder: str, kept: set[str]) -> None:
    for name in set(os.listdir(folder)) - kept:
        shutil.rmtree(os.path.join(folder, name))


def _write(path: str, heading: str, settings: dict[str, Any]) -> None:
    """Write a file that only its owner can read, whole."""
    new = f"{path}.new"
    if os.path.lexists(new):
        os.remove(new)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(heading)
        json.dump(settings, file, indent=1, sort_keys=True, default=str)
        file.write("\n")
    os.replace(new, path)
