"""Functions that do nothing: for trying templates, guards and slots."""

from __future__ import annotations

import shutil
import threading
import time
from typing import Any

from runner.api import RunnerError, here


def ping() -> bool:
    """True."""
    return True


def true_() -> bool:
    """True."""
    return True


def false_() -> bool:
    """False."""
    return False


def retcode(code: int = 42) -> bool:
    """True, with an exit code: a guard that calls this takes every other than 0 for false."""
    here.store("retcodes")[threading.get_ident()] = code
    return True


def echo(text: Any) -> Any:
    """What it was given."""
    return text


outputter = echo

_NAMES = {"user": "useradd", "group": "groupadd", "cmd": "cmdmod", "shadow": "linux_shadow", "locale": "localemod"}
_NAMES |= {"sysctl": "linux_sysctl", "ini": "ini_manage"}
_PACKAGES = {  # by os_family: Salt's module, and the programs one of which it needs
    "Debian": ("aptpkg",),
    "Arch": ("pacmanpkg",),
    "RedHat": ("yumpkg", "dnf", "tdnf", "yum"),
    "Suse": ("zypperpkg", "zypper"),
    "Alpine": ("apkpkg", "apk"),
}
_DEBIAN_SERVICE = ("Debian", "Raspbian", "Devuan", "NILinuxRT")


def random_hash(size: int = 9999999999, hash_type: str = "sha512") -> str:
    """The digest of a random number from 1 to size."""
    from hashlib import new
    from secrets import randbelow

    return new(hash_type, str(1 + randbelow(size)).encode()).hexdigest()


def provider(module: str) -> str:
    """What does the work of a module on this machine, as Salt calls it.

    {% if salt['test.provider']('service').startswith('systemd') %}
    """
    if module == "service":
        return _service()
    if module == "pkg":
        name, *programs = _PACKAGES.get(str(here.grains.get("os_family")), ("",))
        return name if not programs or any(map(shutil.which, programs)) else ""
    return _NAMES.get(module, module)


def _service() -> str:
    """As Salt's modules choose: what is booted, else by the system that the grains tell."""
    from modules import service

    found = service.PROVIDERS.certain()
    if found is not None and "systemd" in found.NAMES:
        return "systemd_service"
    if here.grains.get("os") in _DEBIAN_SERVICE:
        return "debian_service"
    if shutil.which("systemctl"):  # of a machine that is being made
        return "systemd_service"
    return "gentoo_service" if here.grains.get("init") == "openrc" else "service"


def arg(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """What it was given, positional and named."""
    return {"args": list(args), "kwargs": kwargs}


def arg_repr(*args: Any, **kwargs: Any) -> dict[str, str]:
    """What it was given, as Python writes it."""
    return {"args": repr(args), "kwargs": repr(kwargs)}


def arg_type(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """The types of what it was given."""
    return {
        "args": [str(type(each)) for each in args],
        "kwargs": {key: str(type(each)) for key, each in kwargs.items()},
    }


def args(*given: Any) -> list[Any]:
    """The positional arguments."""
    return list(given)


def kwarg(**kwargs: Any) -> dict[str, Any]:
    """The named arguments."""
    return kwargs


def sleep(length: float) -> bool:
    """True, after so many seconds."""
    time.sleep(float(length))
    return True


def fib(num: int) -> tuple[int, float]:
    """A Fibonacci number, and the seconds that it took."""
    if int(num) < 0:
        raise ValueError("Negative number is not allowed!")
    began = time.monotonic()
    number, following = 0, 1
    for _ in range(int(num)):
        number, following = following, number + following
    return number, time.monotonic() - began


def assertion(assertion: Any) -> None:
    """Fails unless it is given something true."""
    if not assertion:
        raise RunnerError("test.assertion: the assertion does not hold")


def exception(message: str = "Test Exception") -> None:
    """Fails with a message."""
    raise RunnerError(message)


def get_opts() -> dict[str, Any]:
    """The configuration."""
    return dict(here.opts)


def version() -> str:
    """The version of Salt whose language this is."""
    return str(here.grains["saltversion"])
