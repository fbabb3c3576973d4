# SPDX-License-Identifier: Apache-2.0
"""What people write for options of containers -> what the engine's API takes.

Each form raises ValueError with what is wrong.
"""

from __future__ import annotations

import ipaddress
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from runner.api import line_problem

UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
SECOND = 1_000_000_000  # nanoseconds
TIMES = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}


def text(value: Any) -> str:
    if isinstance(value, dict | list):
        raise ValueError(f"expected a text, not {value!r}")
    return str(value)


def flag(value: Any) -> bool:
    if isinstance(value, str):
        word = value.strip().lower()
        if word not in ("true", "false", "yes", "no", "on", "off", "1", "0"):
            raise ValueError(f"expected true or false, not {value!r}")
        return word in ("true", "yes", "on", "1")
    return bool(value)


def integer(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ValueError(f"expected a whole number, not {value!r}") from None


def size(value: Any) -> int:
    """Bytes: a number, or one with a unit (64m, 1.5GB)."""
    match = re.fullmatch(r"(-?\d+(?:\.\d+)?) *([bkmgt]?)(?:i?b)?", str(value).strip().lower())
    if not match:
        raise ValueError(f"expected a size such as 512m, not {value!r}")
    return int(float(match[1]) * UNITS[match[2]])


def duration(value: Any) -> int:
    """Nanoseconds: a number of them, or one with units (30s, 1m30s)."""
    if isinstance(value, int) or str(value).isdigit():
        return int(value)
    parts = re.findall(r"(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)", str(value))
    if "".join(map("".join, parts)) != str(value) or not parts:
        raise ValueError(f"expected a time such as 30s, not {value!r}")
    return int(sum(float(number) * TIMES[unit] for number, unit in parts))


def command(value: Any) -> list[str]:
    """Words: a list, or a text as a shell splits it."""
    if isinstance(value, list):
        return [str(word) for word in value]
    return shlex.split(text(value))


def texts(value: Any) -> list[str]:
    """Texts: a list, or one text with commas."""
    items = value if isinstance(value, list | tuple) else str(value).split(",")
    result = [text(item).strip() for item in items if str(item).strip()]
    for item in result:  # lines of the container's /etc/resolv.conf, /etc/hosts, ...
        if problem := line_problem(item):
            raise ValueError(problem)
    return result


def pairs(value: Any, delimiter: str = "=") -> dict[str, str]:
    """Keys and values: a mapping, a list of mappings or KEY=VALUE, or such a text with commas."""
    result: dict[str, str] = {}
    for item in _items(value):
        if isinstance(item, Mapping):
            result |= {str(key): _spelled(content) for key, content in item.items()}
            continue
        key, found, content = str(item).partition(delimiter)
        if not found:
            raise ValueError(f"'{item}' is not a key{delimiter}value pair")
        result[key.strip()] = content if delimiter == "=" else content.strip()
    return result


def labels(value: Any) -> dict[str, str]:
    """Labels: as pairs, or names alone."""
    result: dict[str, str] = {}
    for item in _items(value):
        result |= (
            pairs([item]) if isinstance(item, Mapping) or "=" in str(item) else {str(item): ""}
        )
    return result


def _items(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [value]
    return (
        list(value) if isinstance(value, list | tuple) else [i for i in str(value).split(",") if i]
    )


def _spelled(value: Any) -> str:
    return "" if value is None else text(value)


def environment(value: Any) -> list[str]:
    """Variables, as NAME=value."""
    return [f"{name}={content}" for name, content in pairs(value).items()]


def hosts(value: Any) -> list[str]:
    """Further lines of /etc/hosts, as name:address."""
    return [f"{name}:{address(at)}" for name, at in pairs(value, ":").items()]


def links(value: Any) -> list[str]:
    """Other containers, as name:alias."""
    return [f"{name}:{alias}" for name, alias in pairs(value, ":").items()]


def address(value: Any) -> str:
    if value != "host-gateway":
        try:
            ipaddress.ip_address(str(value))
        except ValueError:
            raise ValueError(f"'{value}' is not a valid IP address") from None
    return str(value)


def addresses(value: Any) -> list[str]:
    return [address(item) for item in texts(value)]


def subnet(value: Any) -> str:
    try:
        ipaddress.ip_network(str(value), strict=False)
    except ValueError:
        raise ValueError(f"'{value}' is not a valid subnet") from None
    return str(value)


def path(value: Any) -> str:
    if not str(value).startswith("/"):
        raise ValueError(f"'{value}' is not an absolute path")
    return str(value)


def volumes(value: Any) -> dict[str, dict[str, Any]]:
    return {path(item): {} for item in texts(value)}


def binds(value: Any) -> list[str]:
    """Mounts, as HOST:CONTAINER[:ro]; with commas in one of them, a list is needed."""
    if isinstance(value, Mapping):  # as the Python package takes it
        return [
            f"{source}:{item['bind']}:{item.get('mode', 'rw')}" for source, item in value.items()
        ]
    result = texts(value)
    for item in result:
        if not 1 <= item.count(":") <= 2 or not all(item.split(":")):
            raise ValueError(f"'{item}' is not HOST:CONTAINER or HOST:CONTAINER:OPTIONS")
    return result


def ports(value: Any) -> dict[str, dict[str, Any]]:
    """Ports to expose: 80, 53/udp, 8000-8010."""
    return {port: {} for item in texts(value) for port in _port_range(item)}


def port_bindings(value: Any) -> dict[str, list[dict[str, str]]]:
    """Published ports, as the command line takes them: [[IP:]HOSTPORT:]PORT[/udp], with ranges."""
    result: dict[str, list[dict[str, str]]] = {}
    for item in texts(value):
        outside, _, inside = item.rpartition(":")
        bound, colon, outer = outside.rpartition(":")
        bound = bound if colon else ""
        inner = _port_range(inside)
        outer_ports = (
            [port.partition("/")[0] for port in _port_range(outer)] if outer else [""] * len(inner)
        )
        if len(inner) != len(outer_ports):
            raise ValueError(f"'{item}': the two ranges of ports are not equally long")
        if bound:
            address(bound.strip("[]"))
        for port, outer_port in zip(inner, outer_ports, strict=True):
            binding = {"HostIp": bound.strip("[]"), "HostPort": outer_port}
            result.setdefault(port, []).append(binding)
    return result


def _port_range(item: str) -> list[str]:
    numbers, _, protocol = item.partition("/")
    first, _, last = numbers.partition("-")
    if not first.isdigit() or not (last or first).isdigit():
        raise ValueError(f"'{item}' is non-numeric or an invalid port range")
    if int(first) > int(last or first):
        raise ValueError(
            f"Start of port range ({first}) cannot be greater than end of port range ({last})"
        )
    protocol = protocol.lower() or "tcp"
    if protocol not in ("tcp", "udp", "sctp"):
        raise ValueError(f"'{item}': the protocol is tcp, udp or sctp")
    return [f"{number}/{protocol}" for number in range(int(first), int(last or first) + 1)]


def restart_policy(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        name, count = value.get("Name", ""), value.get("MaximumRetryCount", 0)
    else:
        name, _, count = str(value).partition(":")
    policies = ("no", "always", "unless-stopped", "on-failure")
    name = "no" if value is False or not name else name  # YAML reads `no` as false
    if name not in policies:
        raise ValueError(f"'{value}' is none of {', '.join(policies)} (on-failure:5)")
    return {"Name": name, "MaximumRetryCount": integer(count or 0) if name == "on-failure" else 0}


def ulimits(value: Any) -> list[dict[str, Any]]:
    """Limits, as NAME=SOFT[:HARD]."""
    if isinstance(value, list) and all(
        isinstance(item, Mapping) and "Name" in item for item in value
    ):
        return [dict(item) for item in value]
    result = []
    for name, limit in pairs(value).items():
        soft, _, hard = limit.partition(":")
        result.append({"Name": name, "Soft": integer(soft), "Hard": integer(hard or soft)})
    return result


def devices(value: Any) -> list[dict[str, str]]:
    """Devices, as HOST[:CONTAINER[:rwm]]."""
    result = []
    for item in texts(value):
        host, _, rest = item.partition(":")
        inside, _, rights = rest.partition(":")
        if rest and not inside.startswith("/"):
            inside, rights = "", inside
        result.append(
            {
                "PathOnHost": path(host),
                "PathInContainer": inside or host,
                "CgroupPermissions": rights or "rwm",
            }
        )
    return result


def rates(unit: Callable[[Any], int], key: str = "Rate") -> Callable[[Any], list[dict[str, Any]]]:
    """The form of limits of devices, PATH:NUMBER."""

    def form(value: Any) -> list[dict[str, Any]]:
        found = pairs(value, ":")
        return [{"Path": path(device), key: unit(number)} for device, number in found.items()]

    return form


def capabilities(value: Any) -> list[str]:
    return [item.upper().removeprefix("CAP_") for item in texts(value)]


def security(value: Any) -> list[str]:
    return [re.sub("^([a-z]+):", r"\1=", item) for item in texts(value)]


def tmpfs(value: Any) -> dict[str, str]:
    """Folders in memory, and their mount options."""
    result: dict[str, str] = {}
    for item in _items(value) if not isinstance(value, str) else [value]:
        if isinstance(item, Mapping):
            result |= {path(key): _spelled(options) for key, options in item.items()}
        else:
            place, _, options = str(item).partition(":")
            result[path(place)] = options
    return result


def healthcheck(value: Any) -> dict[str, Any]:
    """A check of health: test (a command), interval, timeout, retries, start_period."""
    if not isinstance(value, Mapping | list):
        raise ValueError("expected a mapping: test, interval, timeout, retries, start_period")
    given: dict[Any, Any] = {}
    for item in [value] if isinstance(value, Mapping) else value:
        given |= dict(item)
    result: dict[str, Any] = {}
    for key, content in given.items():
        form = HEALTH.get(str(key).replace("_", "").lower())
        if form is None:
            raise ValueError(f"a healthcheck has no {key!r}; it has: {', '.join(HEALTH)}")
        result[form[0]] = form[1](content)
    return result


def _health_test(value: Any) -> list[str]:
    if isinstance(value, list):
        known = bool(value) and value[0] in ("CMD", "CMD-SHELL", "NONE")
        return [str(word) for word in (value if known else ["CMD", *value])]
    return ["CMD-SHELL", text(value)]


HEALTH: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "test": ("Test", _health_test),
    "interval": ("Interval", duration),
    "timeout": ("Timeout", duration),
    "retries": ("Retries", integer),
    "startperiod": ("StartPeriod", duration),
}


def plain(value: Any) -> Any:
    """A value that is passed on as it is."""
    return value
