# SPDX-License-Identifier: Apache-2.0
"""Functions that do nothing: for trying templates, guards and slots."""

from __future__ import annotations

import builtins
import hashlib
import importlib.metadata
import platform
import secrets
import time

from modules import _paths, service
from modules._texts.call_options import options_of
from runner.api import RunnerError, StateFailed, here
from runner.model.stdlib import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
    here.store("retcodes")[get_ident()] = code
    return True


def echo(text: Any) -> Any:
    """Return the text that it was given."""
    return text


outputter = echo

_NAMES = {
    "user": "useradd",
    "group": "groupadd",
    "cmd": "cmdmod",
    "shadow": "linux_shadow",
    "locale": "localemod",
}
_NAMES |= {"sysctl": "linux_sysctl", "ini": "ini_manage"}
_PACKAGES = {  # by os_family: Salt's module, and the programs one of which it needs
    "Debian": ("aptpkg",),
    "Arch": ("pacmanpkg",),
    "RedHat": ("yumpkg", "dnf", "tdnf", "yum"),
    "Suse": ("zypperpkg", "zypper"),
    "Alpine": ("apkpkg", "apk"),
}
_DEBIAN_SERVICE = ("Debian", "Raspbian", "Devuan", "NILinuxRT")


def random_hash(size: int = 9999999999, hash_type: str | None = None) -> str:
    """The digest of a random number from 1 to size, by default of the kind that `hash_type` of the
    configuration names.
    """
    kind = hash_type or str(here.opts.get("hash_type") or "sha256")
    return hashlib.new(kind, str(1 + secrets.randbelow(size)).encode()).hexdigest()


def provider(module: str) -> str:
    """The provider of a module on this machine, as Salt calls it.

    {% if salt['test.provider']('service').startswith('systemd') %}
    """
    if module == "service":
        return _service()
    if module == "pkg":
        name, *programs = _PACKAGES.get(str(here.grains.get("os_family")), ("",))
        return name if not programs or any(map(_paths.which, programs)) else ""
    return _NAMES.get(module, module)


def _service() -> str:
    """The service provider as Salt's modules choose it: what is booted, else by the system that the
    grains tell.
    """
    certain = service.PROVIDERS.certain()
    if certain is not None and "systemd" in certain.NAMES:
        return "systemd_service"
    if here.grains.get("os") in _DEBIAN_SERVICE:
        return "debian_service"
    if _paths.which("systemctl"):  # of a machine that is being made
        return "systemd_service"
    return "gentoo_service" if here.grains.get("init") == "openrc" else "service"


def arg(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """Return the arguments that it was given, positional and named."""
    return {"args": list(args), "kwargs": kwargs}


def arg_repr(*args: Any, **kwargs: Any) -> dict[str, str]:
    """Return the arguments that it was given, as Python writes them."""
    return {"args": repr(args), "kwargs": repr(kwargs)}


def arg_type(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """The types of what it was given."""
    return {
        "args": [str(type(argument)) for argument in args],
        "kwargs": {key: str(type(content)) for key, content in kwargs.items()},
    }


def args(*values: Any) -> list[Any]:
    """The positional arguments."""
    return list(values)


def kwarg(**kwargs: Any) -> dict[str, Any]:
    """The named arguments."""
    return kwargs


def sleep(length: float) -> bool:
    """True, after so many seconds."""
    time.sleep(float(length))
    return True


def fib(num: int) -> tuple[int, float]:
    """A Fibonacci number, and the seconds that it took. Raises ValueError for a negative number."""
    if int(num) < 0:
        raise ValueError("Negative number is not allowed!")
    began = time.monotonic()
    number, following = 0, 1
    for _ in range(int(num)):
        number, following = following, number + following
    return number, time.monotonic() - began


def assertion(assertion: Any) -> None:
    """Raise RunnerError unless it is given something true."""
    if not assertion:
        raise RunnerError("test.assertion: the assertion does not hold")


def exception(message: str = "Test Exception") -> None:
    """Raise RunnerError with a message."""
    raise RunnerError(message)


def get_opts() -> dict[str, Any]:
    """The configuration."""
    return dict(here.opts)


def version() -> str:
    """The version of Salt whose language this is."""
    return str(here.grains["saltversion"])


def versions_information() -> dict[str, Any]:
    """The versions of Salt's language, of runner, of Python and of what runner needs."""

    def installed_version(name: str) -> str | None:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return None

    return {
        "Salt Version": {"Salt": version()},
        "Python Version": {"Python": platform.python_version()},
        "Dependency Versions": {
            name: installed_version(name)
            for name in ("sls-runner", "Jinja2", "PyYAML", "networkx", "typer")
        },
        "System Versions": {
            "machine": platform.machine(),
            "release": platform.release(),
            "system": platform.system(),
        },
    }


def versions_report() -> str:
    """Return what test.versions_information says, as a text of several lines."""
    lines: list[str] = []
    for title, entries in versions_information().items():
        width = max(map(len, entries))
        lines.append(f"{title}:")
        lines += [
            f"{name:>{max(width, 14)}}: {number or 'Not Installed'}"
            for name, number in entries.items()
        ]
        lines.append(" ")
    return "\n".join(lines)


versions = versions_report


def rand_sleep(max: int = 60) -> bool:
    """True, after up to so many seconds, drawn by lot."""
    return sleep(secrets.randbelow(int(max) + 1))


def collatz(start: float) -> tuple[list[float], float]:
    """The numbers from a start to 2, each half of the one before or three times it and one; and the
    seconds. Raises StateFailed for a start below 1.
    """
    began, number = time.monotonic(), start
    if number < 1:
        raise StateFailed(f"test.collatz begins with 1 or more, not {start!r}")
    steps = [number]
    while number > 1:
        number = number * 3 + 1 if number % 2 else number / 2
        steps.append(number)
    return steps[:-1], time.monotonic() - began


def arg_clean(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """Return the arguments that it was given, without what Salt adds itself."""
    return {"args": list(args), "kwargs": options_of(kwargs)}


def cross_test(func: str, args: Any = None) -> Any:
    """Call another function; its answer."""
    return here.call(func, *(args or []))


def try_(module: str, return_try_exception: bool = False, **kwargs: Any) -> Any:
    """Call another function; its answer; None when it cannot, or with `return_try_exception` the
    error.
    """
    try:
        return here.call(module, **kwargs)
    except (RunnerError, StateFailed, LookupError, TypeError, ValueError, OSError) as problem:
        return problem if return_try_exception else None


def raise_exception(name: str, *args: Any, **kwargs: Any) -> None:
    """Raise an exception of Python's (`ValueError`), or RunnerError for any other name."""
    kind = getattr(builtins, name.rpartition(".")[2], None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise RunnerError(f"test.raise_exception: {name}: {', '.join(map(str, args))}")
    raise kind(*args, **kwargs)


def rand_str(size: int = 9999999999, hash_type: str = "sha512") -> str:
    """The same as test.random_hash."""
    return random_hash(size, hash_type)


def attr_call() -> dict[str, Any]:
    """The grains."""
    return dict(here.grains)


def conf_test() -> Any:
    """The value of `test.foo` in the configuration; `unconfigured` without it."""
    return here.opts.get("test.foo", "unconfigured")


def providers() -> dict[str, str]:
    """The provider of each module that has several, by module."""
    return {module: provider(module) for module in ("pkg", "service", *_NAMES)}
