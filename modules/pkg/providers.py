# SPDX-License-Identifier: Apache-2.0
"""The package managers that runner knows, one line each, and the one of this machine."""

from __future__ import annotations

from modules.pkg.package_manager import FEATURES, PackageManager
from runner.api import ProviderModule, Providers, StateFailed, for_states

PROVIDERS: Providers[PackageManager] = Providers(
    "package manager",
    PackageManager,
    (  # the module, and the programs that show that its tool is here
        ProviderModule("modules.pkg.apt.provider", ("/usr/bin/apt-get",)),
        ProviderModule("modules.pkg.dnf.provider", ("/usr/bin/dnf", "/usr/bin/dnf5")),
        ProviderModule("modules.pkg.zypper.provider", ("/usr/bin/zypper",)),
        ProviderModule("modules.pkg.pacman.provider", ("/usr/bin/pacman",)),
        ProviderModule("modules.pkg.apk.provider", ("/sbin/apk",)),
    ),
    FEATURES,
    "this machine has no package manager that runner knows (apt-get, dnf, zypper, pacman, apk)",
    "pkg",
    "os_family",
)


@for_states
def provider() -> PackageManager:
    """Return the package manager that the state or the configuration names, else the one of this
    machine. Raises StateFailed without one.
    """
    return PROVIDERS()


@for_states
def require(feature: str, what: str) -> PackageManager:
    """Return the package manager. Raises StateFailed, which names it, if it lacks a feature.

    what: the state function or argument that needs the feature.
    """
    manager = PROVIDERS()
    if not manager.has(feature):
        raise StateFailed(
            f"{what} needs the feature {feature}, which the provider {manager.NAMES[0]} lacks"
            f" ({PROVIDERS.description_of(feature)})"
        )
    return manager
