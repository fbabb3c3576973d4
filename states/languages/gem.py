# SPDX-License-Identifier: Apache-2.0
"""Packages of Ruby."""

from __future__ import annotations

from modules import cmd
from modules.languages import gem
from runner.api import Line, Name, NonEmptyLine, Plan, Planned, open_at
from runner.api.kinds import Kind, Wording, comes_after
from runner.api.opposite import Opposite
from states._run_as import dry_run_check as dry_run_check
from states._tools import explained

DECIDES = {"installed": "version"}
MEANS = {"user": cmd.caller}
TOLD_APART_BY = "ruby gem_bin"
OPPOSITE = {
    "installed": Opposite("removed", by=("user",)),
    "sources_add": Opposite("sources_remove", by=("user",)),
}
GEM = Kind(
    "gem {name}",
    removed=Wording(
        "Gem is already not installed.",
        "The {title} would have been removed",
        "Gem was successfully removed.",
        "Could not remove gem",
        {"{name}": "Removed"},
    ),
)
SOURCE = Kind(
    "gem source {name}",
    Wording(
        "Gem source is already added.",
        "The {title} would have been added.",
        "Gem source was successfully added.",
        "Could not add gem source",
        {"{name}": "Added"},
    ),
    removed=Wording(
        "Gem source is already removed.",
        "The {title} would have been removed.",
        "Gem source was successfully removed.",
        "Could not remove gem source",
        {"{name}": "Removed"},
    ),
)


def installed(
    name: Name,
    ruby: Name | None = None,
    gem_bin: Name | None = None,
    user: Name | None = None,
    version: NonEmptyLine | None = None,
    rdoc: bool = False,
    ri: bool = False,
    pre_releases: bool = False,
    proxy: Line | None = None,
    source: Line | None = None,
) -> Planned:
    """Make sure that a gem is installed.

    name: The gem.
    ruby: Refused; there is no rvm or rbenv here, gem_bin says it.
    gem_bin: The path of the gem of another Ruby.
    user: The user who installs it.
    version: The version, or what gem knows as a requirement (">= 1.2, < 2", "~> 1.2").
    rdoc: Make its documentation, for the browser.
    ri: Make its documentation, for the program ri.
    pre_releases: Take also versions that are not finished.
    proxy: The proxy that gem goes through.
    source: The address that it comes from.

        bundler:
          gem.installed:
            - version: '~> 2.4'

    Behaviour: Salt 3007's gem.installed; versions are compared by gem.
    """
    failed = "Could not install gem"
    with explained(failed):
        versions = gem.list_("", ruby, user, gem_bin).get(name, [])
        if gem.is_installed(name, version, user, gem_bin):
            exact = version is None or any(version in text.split() for text in versions)
            return (
                "Gem is already installed."
                if exact
                else "Installed Gem meets version requirements."
            )
    with explained(failed, ("gem", name)):
        gem.would_install(name, ruby, gem_bin, user, version, pre_releases, proxy, source)
    pending = f"The gem {name} would have been installed"
    yield Plan({name: "Installed"}, pending, provides=open_at(named=[name]))
    with explained(failed):
        gem.install(name, ruby, gem_bin, user, version, rdoc, ri, pre_releases, proxy, source)
    return "Gem was successfully installed"


def removed(
    name: Name, ruby: Name | None = None, user: Name | None = None, gem_bin: Name | None = None
) -> Planned:
    """Make sure that no version of a gem is installed.

    name: The gem.
    ruby: Refused; there is no rvm or rbenv here, gem_bin says it.
    user: The user who removes it.
    gem_bin: The path of the gem of another Ruby.

        bundler:
          gem.removed: []
    """
    return GEM.absent(
        lambda: name in gem.list_("", ruby, user, gem_bin),
        lambda: gem.uninstall(name, ruby, user, gem_bin),
        name=name,
    )


def sources_add(name: Name, ruby: Name | None = None, user: Name | None = None) -> Planned:
    """Make sure that gems come from an address, too.

    name: The address.
    ruby: refused; there is no rvm or rbenv here.
    user: The user whose gems it is about.

        https://gems.example.com/:
          gem.sources_add: []
    """
    return SOURCE.present(
        lambda: name in gem.sources_list(ruby, user),
        lambda: gem.sources_add(name, ruby, user),
        name=name,
    )


def sources_remove(name: Name, ruby: Name | None = None, user: Name | None = None) -> Planned:
    """Make sure that gems do not come from an address.

    name: The address.
    ruby: refused; there is no rvm or rbenv here.
    user: The user whose gems it is about.

        https://rubygems.org/:
          gem.sources_remove: []
    """
    return SOURCE.absent(
        lambda: name in gem.sources_list(ruby, user),
        lambda: gem.sources_remove(name, ruby, user),
        name=name,
    )


autorequire = comes_after(
    "Gems come after Ruby and the user who installs them.",
    ("pkg", "ruby"),
    ("pkg", "rubygems"),
    ("pkg", "ruby-rubygems"),
    user="user",
)
