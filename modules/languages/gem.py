# SPDX-License-Identifier: Apache-2.0
"""Packages of Ruby, with gem."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from modules._machine import fetching
from modules._machine.scripts import temporary_script
from modules._machine.tools import TOPIC, Tool, change, refuse_open
from modules._planned.machine import merged
from modules._planned.overlay import planned_machine
from modules._texts.lines import one_line, plain_name
from runner.api import CommandFailed, Unforeseen, cached_look, fetcher, here

# ruby: whose gem it is was a matter of rvm and rbenv, which are functions of a shell
_NO_RUBY = "there is no rvm or rbenv here: gem_bin names the gem of a Ruby"
_LOGIN = re.compile("://[^/]*@")
_FORESEEN = "gem foreseen"  # what gem said that it would install


@cached_look(TOPIC)
def list_(
    prefix: str = "", ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> dict[str, list[str]]:
    """The installed gems by name, each with its versions, the newest first; one that came with Ruby
    begins with "default: ". Raises CommandFailed when gem does not work, or for a ruby.

    prefix: only those whose name begins so. gem_bin: the path of the gem to ask.

    {{ salt['gem.list']('rails') | json }}
    """
    tool = _gem(ruby, runas, gem_bin)
    refuse_open(tool.place)
    there = _versions(tool.output("list", "--local"), prefix)
    planned = planned_machine().tool_packages.get(tool.place, {})
    return merged(
        there,
        {
            name: new and [*new, *there.get(name, ())]
            for name, new in planned.items()
            if name.startswith(prefix)
        },
    )


def list_upgrades(
    ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> dict[str, str]:
    """The gems that have a newer version, with it. Raises CommandFailed when gem cannot look for
    them.
    """
    lines = _gem(ruby, runas, gem_bin).output("outdated").splitlines()
    matches = [re.fullmatch(r"(\S+) \(.* < (\S+)\)", line.strip()) for line in lines]
    return {match[1]: match[2] for match in matches if match}


def is_installed(
    name: str, version: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> bool:
    """Return whether a gem is installed, by gem's own comparison of versions (">= 1.2, < 2", "~>
    1.2"). Raises CommandFailed for what is no version.
    """
    versions = list_("", None, runas, gem_bin).get(name, [])
    if version is None or not versions:
        return bool(versions)
    if version in [text.removeprefix("default: ").split()[0] for text in versions]:
        return True
    if re.fullmatch(r"[\w.-]+", version):
        return False
    if name in planned_machine().tool_packages.get(_gem(None, runas, gem_bin).place, {}):
        raise Unforeseen(f"whether gem takes what is planned of {name} for {version}")
    # its pattern is a regular expression before gem 2.7, and exact is exact since
    words = ["--installed", f"--version={_version(version)}", "--exact"]
    done = _gem(None, runas, gem_bin).run("list", *words, "--local", plain_name(name, "name"))
    if done.stdout.strip() not in ("true", "false"):
        raise _gem(None, runas, gem_bin).failure("list", done.error_text)
    return done.stdout.strip() == "true"


def version(ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None) -> str:
    """The version of gem. Raises CommandFailed when it does not work."""
    return _gem(ruby, runas, gem_bin).output("--version").strip()


Some = str | Sequence[str]


@fetcher
def would_install(
    gems: Some,
    ruby: str | None = None,
    gem_bin: str | None = None,
    runas: str | None = None,
    version: str | None = None,
    pre_releases: bool = False,
    proxy: str | None = None,
    source: str | None = None,
) -> list[str]:
    """The gems that would be installed, each with its version. Raises CommandFailed with what gem
    has against it.
    """
    words = ["--explain", *_options(version, pre_releases), *_names(gems)]
    from_source = _from(source, _gem(ruby, runas, gem_bin, proxy))
    with fetching.asking("what gem would install"), from_source as (options, tool):
        lines = tool.output("install", *options, *words).splitlines()
    coming = [line.strip() for line in lines if line.startswith("  ")]
    pairs = (each.rpartition("-") for each in coming)
    here.store(_FORESEEN)[tool.place] = {name: number for name, _, number in pairs}
    return coming


def install(
    gems: Some,
    ruby: str | None = None,
    gem_bin: str | None = None,
    runas: str | None = None,
    version: str | None = None,
    rdoc: bool = False,
    ri: bool = False,
    pre_releases: bool = False,
    proxy: str | None = None,
    source: str | None = None,
) -> str:
    """Install gems: what gem prints. Raises CommandFailed with what gem has against it.

    gems: one, or several with spaces. version: also a requirement (~> 1.2). rdoc, ri: their
    documentation. pre_releases: also versions that are none yet. proxy, source: where from.

    runner call gem.install rake version='~> 13'
    """
    kinds = [kind for kind, chosen in (("rdoc", rdoc), ("ri", ri)) if chosen]
    documents = f"--document={','.join(kinds)}" if kinds else "--no-document"
    words = [documents, *_options(version, pre_releases), *_names(gems)]
    with _from(source, _gem(ruby, runas, gem_bin, proxy)) as (options, tool):
        coming = here.store(_FORESEEN).get(tool.place, {})
        names = _names(gems)
        known = coming.keys() >= {*names}
        becomes = {name: [coming[name]] for name in names} if known else None
        return change(["install", *options, *words], tool, becomes=becomes)


def uninstall(
    gems: Some, ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> str:
    """Remove all versions of gems with their programs: what gem prints. Raises CommandFailed with
    what gem has against it.
    """
    names = _names(gems)
    words = ["uninstall", "--all", "--executables", *names]
    return change(words, _gem(ruby, runas, gem_bin), becomes=dict.fromkeys(names))


def update(
    gems: Some, ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> str:
    """Install the newest versions of gems: what gem prints. Raises CommandFailed with what gem has
    against it.
    """
    words = ["update", "--no-document", *_names(gems)]
    return change(words, _gem(ruby, runas, gem_bin))


def update_system(
    version: str = "", ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> str:
    """Install another version of gem itself, the newest without one: what gem prints. Raises
    CommandFailed with what gem has against it.
    """
    wanted = [plain_name(version, "version")] if version else []
    words = ["update", "--system", "--no-document", *wanted]
    return change(words, _gem(ruby, runas, gem_bin))


# ---------------------------------------------------------------- sources


@cached_look(TOPIC)
def sources_list(
    ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> list[str]:
    """The addresses that gems come from. Raises CommandFailed when gem does not work."""
    lines = _gem(ruby, runas, gem_bin).output("sources", "--list").splitlines()
    return [line.strip() for line in lines[1:] if line.strip()]


def sources_add(
    source_uri: str, ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> str:
    """Add an address that gems come from: what gem prints. Raises CommandFailed with what gem has
    against it.
    """
    if _LOGIN.search(source_uri):
        raise CommandFailed(
            "the address has a login, which all users could read in a command line: give it as"
            " `source` of gem.installed, or write it into .gemrc"
        )
    words = ["sources", "--add", plain_name(source_uri, "source_uri")]
    return change(words, _gem(ruby, runas, gem_bin))


def sources_remove(
    source_uri: str, ruby: str | None = None, runas: str | None = None, gem_bin: str | None = None
) -> str:
    """Remove an address that gems come from: what gem prints. Raises CommandFailed with what gem
    has against it.
    """
    words = ["sources", "--remove", plain_name(source_uri, "source_uri")]
    return change(words, _gem(ruby, runas, gem_bin))


def _gem(
    ruby: str | None, runas: str | None, gem_bin: str | None, proxy: str | None = None
) -> Tool:
    if ruby is not None:
        raise CommandFailed(f"ruby: {_NO_RUBY}")
    # not as arguments, where all users could read the login of a proxy
    env = dict.fromkeys(("http_proxy", "https_proxy"), one_line(proxy, "proxy")) if proxy else None
    return Tool(plain_name(gem_bin, "gem_bin") if gem_bin else "gem", "ruby", runas, None, env)


@contextmanager
def _from(source: str | None, tool: Tool) -> Iterator[tuple[list[str], Tool]]:
    """The options that name a source: one with a login stands in a file that only the user of gem
    can read.
    """
    if not source or not _LOGIN.search(source):
        yield [f"--source={one_line(source, 'source')}"] if source else [], tool
        return
    text = f":sources:\n- {json.dumps(source)}\n"  # YAML with a key of Ruby
    with temporary_script(text, "gemrc", tool.user) as path:
        yield [f"--config-file={path}"], tool


def _names(gems: Some) -> list[str]:
    """The names as arguments; for gem, what follows `--` is no name. Raises CommandFailed without
    any: `gem uninstall --all` would remove all that there is.
    """
    texts = gems.split() if isinstance(gems, str) else gems
    if not [*texts]:
        raise CommandFailed("gems: expected the name of a gem")
    return [plain_name(name, "gems") for name in texts]


def _version(version: object) -> str:
    return one_line(version, "version")


def _options(version: str | None, pre_releases: bool) -> list[str]:
    words = [f"--version={_version(version)}"] if version else []
    return words + (["--prerelease"] if pre_releases else [])


def _versions(text: str, prefix: str) -> dict[str, list[str]]:
    """The gems of lines as `rake (13.0.6, default: 12.3.3)`."""
    matches = [re.fullmatch(r"(\S+) \((.*)\)", line.strip()) for line in text.splitlines()]
    return {
        match[1]: match[2].split(", ") for match in matches if match and match[1].startswith(prefix)
    }


__func_alias__ = {"list_": "list"}
