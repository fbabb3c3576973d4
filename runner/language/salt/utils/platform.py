# SPDX-License-Identifier: Apache-2.0
"""salt.utils.platform: which system this is. runner is for Linux."""

from __future__ import annotations

import platform
import sys


def is_linux() -> bool:
    """Return whether this is Linux."""
    return sys.platform.startswith("linux")


def _no() -> bool:
    return False


is_windows = is_darwin = is_sunos = is_smartos = is_smartos_globalzone = is_smartos_zone = (
    is_freebsd
) = _no
is_netbsd = is_openbsd = is_aix = is_junos = is_proxy = spawning_platform = _no


def _is(name: str) -> bool:
    try:
        return name in platform.freedesktop_os_release().get("ID", "")
    except OSError:
        return False


def is_fedora() -> bool:
    """Return whether this is Fedora."""
    return _is("fedora")


def is_photonos() -> bool:
    """Return whether this is Photon OS."""
    return _is("photon")


def is_aarch64() -> bool:
    """Return whether the processor is a 64 bit ARM."""
    return platform.machine().startswith("aarch64")
