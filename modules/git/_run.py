# SPDX-License-Identifier: Apache-2.0
"""Running the git program: always the same environment, nobody to answer questions, passwords on no
command line.
"""

from __future__ import annotations

import os
import re
import shlex
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from modules import _paths, cmd, file
from modules import user as users
from modules._machine import fetching
from modules._planned.overlay import overlay
from modules._texts.lines import split
from modules.git import _places
from runner.api import (
    CommandFailed,
    StateFailed,
    Unforeseen,
    cached_look,
    changer,
    fetcher,
    for_states,
    here,
    pattern,
)
from runner.api.planning import in_stand_in, only_files

# nobody is there to answer questions; looks refresh no index
QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C.UTF-8",
}
MOST_SILENT = 60  # seconds without a byte of a server
MOST_SECONDS = 30  # that a dry run spends on a command of git
# what hooks do is no file of the clone; no process goes on when the command has ended
_ALONE = ("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "maintenance.auto=false")
# what changes nothing but a clone: options of clone and init, other commands
_ONLY_THE_CLONE = ("--", "--bare", "--mirror", "--no-checkout", "--depth", "--branch", "--origin")
_IN_THE_CLONE = ("checkout", "reset", "fetch", "merge", "branch", "remote", "submodule", "tag")
SHA = pattern(r"[0-9a-f]{7,64}")
DEFAULT_BRANCH = (  # among the references of a remote: the name of the branch that HEAD means
    "default branch"
)
# what another git sets for the programs that it runs (hooks): it would point ours to the wrong
# repository
_FOREIGN = pattern(
    r"GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE"
    r"|GRAFT_FILE|SHALLOW_FILE|CONFIG(_.*)?|IMPLICIT_WORK_TREE|QUARANTINE_PATH)"
)

# an expression that means the same to git and to Python
_PLAIN = pattern(r"(?:(?:[a-z0-9-]|\\?\.)[+*]?)+")


def _environment(
    identity: Sequence[str] | None, secrets: Mapping[str, str] | None = None
) -> dict[str, str]:
    ssh = (
        f"ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o ConnectTimeout={MOST_SILENT}"
    )
    ssh += f" -o ServerAliveInterval={MOST_SILENT}"
    for path in identity or ():
        ssh += f" -i {shlex.quote(path)} -o IdentitiesOnly=yes"
    ours = {name: value for name, value in os.environ.items() if not _FOREIGN.fullmatch(name)}
    ours.setdefault("HOME", "/root")  # cron and systemd may start us without one
    ours.setdefault("GIT_HTTP_LOW_SPEED_LIMIT", "1")  # byte a second
    ours.setdefault("GIT_HTTP_LOW_SPEED_TIME", str(MOST_SILENT))
    return {**ours, **QUIET, "GIT_SSH_COMMAND": ssh, **(secrets or {})}


def credentials(user: str | None, password: str | None, url: str) -> dict[str, str]:
    """The environment that lets git log in to the URL's host with a password, which no command line
    shows.
    """
    return logins({host_of(url): (user, password or "")}) if user else {}


def logins(of_hosts: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """The environment that lets git log in to several hosts (`https://HOST:PORT`), each with a user
    and a password.
    """
    variables: dict[str, str] = {"GIT_CONFIG_COUNT": str(2 * len(of_hosts))} if of_hosts else {}
    for number, (host, (user, password)) in enumerate(of_hosts.items()):
        name, secret = f"RUNNER_GIT_USER_{number}", f"RUNNER_GIT_PASSWORD_{number}"
        variables |= {
            f"GIT_CONFIG_KEY_{2 * number}": f"credential.{host}.helper",
            f"GIT_CONFIG_VALUE_{2 * number}": "",  # no other helper gets to see or to keep it
            f"GIT_CONFIG_KEY_{2 * number + 1}": f"credential.{host}.helper",
            f"GIT_CONFIG_VALUE_{2 * number + 1}": (
                f'!f() {{ test "$1" = get && echo "username=${name}" && echo "password=${secret}";'
                " }; f"
            ),
            name: user,
            secret: password,
        }
    return variables


def host_of(url: str) -> str:
    """The scheme, host and port of a URL."""
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")


@fetcher
def keys(identity: Sequence[str], user: str | None) -> tuple[str, ...]:
    """The paths of private keys; those of the tree (salt://) become files that only the user can
    read, those that others can replace copies.
    """
    return tuple(_key(location, user) for location in identity)


def _key(url: str, user: str | None) -> str:
    if not url.startswith("salt://"):
        own = _is_caller(user) and _paths.isfile(url)  # what ssh opens is what was judged here
        return file.unchangeable(url, ".pub", "-cert.pub") if own else url
    local = file.fetched(url)
    if local is None:
        raise StateFailed(f"identity {url} not found in saltenv '{here.saltenv}'")
    if not _is_caller(user):
        raise StateFailed(
            f"{user} cannot read the identity {url}: put it on this machine with file.managed first"
        )
    path = os.path.join(here.scratch(), "key")
    with _paths.open_bytes(local) as source, open(path, "xb", opener=_private) as target:
        target.write(source.read())
    return path


def _is_caller(user: str | None) -> bool:
    """Return whether git runs as the user that runner runs as."""
    return not user or users.info(user).get("uid") == os.geteuid()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # os: to write it


def probe(
    words: Sequence[str],
    cwd: str | None = None,
    user: str | None = None,
    identity: Sequence[str] | None = None,
    secrets: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> cmd.Completed:
    """Run git, which only looks. timeout: seconds."""
    if (planned := overlay()) and cwd and (copy := planned.settled_copy(cwd)):
        with in_stand_in():
            return _run(words, copy, user, identity, secrets, timeout=timeout, see_planned=False)
    return _run(words, cwd, user, identity, secrets, timeout=timeout)


def refs_of(
    words: Sequence[str],
    cwd: str | None,
    user: str | None,
    identity: Sequence[str] | None,
    secrets: Mapping[str, str] | None,
) -> cmd.Completed:
    """Run `git ls-remote`, for a minute: over https git itself has no bound for a server that takes
    no connection.
    """
    done = probe(["ls-remote", *words], cwd, user, identity, secrets, MOST_SILENT)
    told = f"the server has not answered: timed out after {MOST_SILENT} seconds"
    return done._replace(stdout=told) if done.timed_out else done


def _run(
    words: Sequence[str],
    cwd: str | None,
    user: str | None,
    identity: Sequence[str] | None,
    secrets: Mapping[str, str] | None,
    **options: Any,
) -> cmd.Completed:
    env = _environment(identity, secrets)
    return cmd.complete(
        ["git", *words], cwd=cwd, runas=user, env=env, clean_env=True, python_shell=False, **options
    )


@only_files
def _plan_change(
    words: Sequence[str],
    cwd: str | None = None,
    user: str | None = None,
    identity: Sequence[str] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> str:
    """Clone to a folder of the cache, as if to the planned one, and go on there."""
    planned = overlay()
    if planned is None or not _is_caller(user):
        raise Unforeseen("what another user's git does")
    command, *rest = words
    options = {"see_planned": False, "timeout": MOST_SECONDS}
    if command not in ("clone", "init"):
        copy = planned.settled_copy(cwd or "")
        if not copy or command not in _IN_THE_CLONE:
            raise Unforeseen(f"what git {command} does to a repository of this machine")
        done = _run([*_ALONE, *words], copy, user, identity, secrets, **options)
        return _output(words, _in_time(done))
    target = file.real_path(rest[-1]) if rest[-1].startswith("/") else rest[-1]
    file.refuse_put(os.path.join(target, ".git") if file.is_dir(target) else target)
    if not all(word in _ONLY_THE_CLONE for word in rest if word.startswith("-")):
        raise Unforeseen(f"git {command} with further options")
    if not target.startswith("/") or (file.lexists(target) and file.listdir(target)):
        raise Unforeseen(f"what git {command} does to a folder that is there")
    copy = os.path.join(planned.scratch(), "repository")
    done = _run([*_ALONE, *words[:-1], copy], None, user, identity, secrets, **options)
    answer = _output(words, _in_time(done))
    planned.graft(copy, target)
    return answer


def _in_time(done: cmd.Completed) -> cmd.Completed:
    if done.timed_out:
        raise Unforeseen("git takes long")
    return done


def _output(words: Sequence[str], done: cmd.Completed) -> str:
    if done.retcode:
        raise CommandFailed(
            done.error_text or f"git {words[0]} failed with exit code {done.retcode}"
        )
    return done.stdout.strip() or done.stderr.strip()


@changer(touches=["files"], planned=_plan_change)
def change(
    words: Sequence[str],
    cwd: str | None = None,
    user: str | None = None,
    identity: Sequence[str] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> str:
    """Run git, which changes a repository; its output. Raises StateFailed with what it says."""
    if user:
        return _output(words, _run(words, cwd, user, identity, secrets))
    if words[0] == "clone" and words[-1].startswith("/"):
        run = partial(_run, cwd=cwd, user=user, identity=identity, secrets=secrets)
        return _output(words, _places.cloned(words, run))
    with ExitStack() as opened:
        if cwd and cwd.startswith("/"):
            cwd = opened.enter_context(_places.held(cwd))
        if words[0] == "init" and words[-1].startswith("/"):
            words = [*words[:-1], opened.enter_context(_places.held(words[-1]))]
        return _output(words, _run(words, cwd, user, identity, secrets))


def look(
    words: Sequence[str], cwd: str, user: str | None = None, env: Mapping[str, str] | None = None
) -> str | None:
    """The output of git; None when it fails. env: further variables (`fetched_aside`)."""
    done = probe(words, cwd, user, None, env)
    return done.stdout.rstrip("\n") if done.retcode == 0 else None


@for_states
def ask(words: Sequence[str], cwd: str | None, user: str | None = None) -> str:
    """The output of git. Raises CommandFailed when it fails."""
    done = probe(words, cwd, user).or_fail(f"Command 'git {' '.join(words)}' failed")
    return done.stdout.rstrip("\n")


@fetcher
def remote_refs(
    url: str, user: str | None, identity: tuple[str, ...], secrets: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The references of a remote repository with their commits. Raises StateFailed when it cannot
    be reached.

    DEFAULT_BRANCH among them names the branch that the remote has checked out.
    """
    done = refs_of(["--symref", "--", url], None, user, identity, secrets)
    if done.retcode:
        path = url.removeprefix("file://")
        missing = ("file", path) if path.startswith("/") else None
        fetching.refuse_unreachable("what the remote has", done.error_text)
        raise StateFailed(f"Failed to check remote refs: {done.error_text}", missing=missing)
    refs = {}
    for value, name in (line.split("\t") for line in split(done.stdout) if "\t" in line):
        if value.startswith("ref: "):
            refs[DEFAULT_BRANCH] = value.removeprefix("ref: refs/heads/")
        else:
            refs[name] = value
    return refs


@for_states
@fetcher
def fetched_aside(
    words: Sequence[str],
    cwd: str,
    user: str | None,
    identity: Sequence[str],
    secrets: Mapping[str, str] | None,
) -> dict[str, str] | None:
    """Fetch into a scratch folder, for a dry run: the variables with which a look has the commits.
    The clone stays as it is.

    words: what follows `git fetch`. None where that cannot be foreseen (it takes long, another
    user's clone). Raises CommandFailed with what git says against it.
    """
    objects = look(["rev-parse", "--git-path", "objects"], cwd, user)
    if objects is None or not _is_caller(user):
        return None
    own = os.path.join(cwd, objects).replace("\\", "\\\\").replace('"', '\\"')
    env = {
        "GIT_OBJECT_DIRECTORY": here.scratch(),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{own}"',  # a list, with colons between its paths
    }
    # a pack: single objects that the clone has, too, would get another time there
    command = [
        *_ALONE,
        "-c",
        "fetch.unpackLimit=1",
        "fetch",
        "--dry-run",
        "--no-recurse-submodules",
        *words,
    ]
    done = _run(command, cwd, user, identity, {**(secrets or {}), **env}, timeout=MOST_SECONDS)
    if done.timed_out:
        return None
    _output(command, done)
    return env


# ---------------------------------------------------------------- git's configuration


def config_values(key: str, cwd: str | None, user: str | None, scope: str | None) -> list[str]:
    """All values of a key. scope: "global", "local", or None for what holds in that folder."""
    if scope == "global":
        section, _, rest = key.partition(".")
        within, dot, variable = rest.rpartition(".")
        wanted = f"{section.lower()}.{within}{dot}{variable.lower()}"
        return [value for name, value in _global_entries(user) or () if name == wanted]
    done = _config(["--get-all", "--null", "--", key], cwd, user, scope)
    return done.stdout.split("\0")[:-1] if done.retcode == 0 else []


def config_matching(
    pattern: str, cwd: str | None, user: str | None, scope: str | None
) -> dict[str, list[str]]:
    """The keys that a regular expression matches as a whole, with their values. Raises StateFailed
    for a wrong expression.
    """
    entries = None
    if scope == "global" and _PLAIN.fullmatch(pattern):
        known = _global_entries(user)
        if known is not None:
            entries = [entry for entry in known if re.fullmatch(pattern, entry[0])]
    if entries is None:
        done = _config(["--get-regexp", "--null", "--", f"^({pattern})$"], cwd, user, scope)
        if done.retcode > 1:
            raise StateFailed(f"{pattern!r}: {done.error_text}")
        entries = _entries(done)
    values: dict[str, list[str]] = {}
    for key, value in entries:
        values.setdefault(key, []).append(value)
    return values


def _global_entries(user: str | None) -> list[tuple[str, str]] | None:
    """The keys of a user's configuration and their values; None where git cannot read it."""
    return _listed(*_global_files(user), user)


def _global_files(user: str | None) -> tuple[str, str]:
    """The files that make up a user's configuration; git writes to the first."""
    home = (users.info(user).get("home") if user else os.environ.get("HOME")) or "/root"
    others = f"{os.environ.get('XDG_CONFIG_HOME') or f'{home}/.config'}/git/config"
    own = f"{home}/.gitconfig"
    only_others = _paths.exists(others) and not _paths.exists(own)
    return (others, own) if only_others else (own, others)


@cached_look("files", "{0}", "{1}")
def _listed(own: str, other: str, user: str | None) -> list[tuple[str, str]] | None:
    """The entries of the two files that make up a user's configuration; git is asked once for all
    keys.
    """
    if not _paths.exists(own) and not _paths.exists(other):
        return []
    done = _config(["--list", "--null"], None, user, "global")
    return None if done.retcode else _entries(done)


def _entries(done: cmd.Completed) -> list[tuple[str, str]]:
    pairs = (entry.partition("\n") for entry in done.stdout.split("\0")[:-1])
    return [(key, value) for key, _, value in pairs]


@for_states
def config_change(
    commands: Iterable[Sequence[str]], cwd: str | None, user: str | None, everywhere: bool
) -> None:
    """Run `git config` for each of some commands: what it is to do, then keys and values. They
    change a copy, which takes the place of the file when all is done: what runner writes is
    planned, undone, and whole at any time. Raises CommandFailed when git fails; nothing is changed
    then.
    """
    with in_stand_in():  # it works on a copy, in a dry run, too
        path = _global_files(user)[0] if everywhere else _of_repository(cwd or "", user)
        copy = f"{here.scratch()}/config"
        with open(copy, "wb") as scratch:
            scratch.write(file.read_bytes(path) if file.is_file(path) else b"")
        for option, *words in commands:
            command = ["config", "--file", copy, option, "--", *words]
            _run(command, None, None, None, None, see_planned=False).or_fail()
    owner = users.info(user) if user and not file.lexists(path) else {}
    new = file.read_bytes(copy)
    file.write(path, new, user=owner.get("uid"), group=owner.get("gid"))


def _of_repository(folder: str, user: str | None) -> str:
    """The file with the configuration of a repository. Raises CommandFailed where there is none."""
    return os.path.join(folder, ask(["rev-parse", "--git-path", "config"], folder, user))


def _config(
    words: Sequence[str], cwd: str | None, user: str | None, scope: str | None
) -> cmd.Completed:
    return probe(["config", *([f"--{scope}"] if scope else []), *words], cwd, user)


def version(versioninfo: bool = False) -> Any:
    """The version of git, as a list of numbers with `versioninfo`."""
    text = probe(["--version"]).stdout.split()[2]
    return [int(part) for part in text.split(".") if part.isdigit()] if versioninfo else text
