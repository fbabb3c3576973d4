# SPDX-License-Identifier: Apache-2.0
"""dnsutil.* and dig.*: with a dig that says what the test wants."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere
from starting import PATIENCE

from modules import dig, dnsutil
from modules._machine import resolver
from runner.api import CommandFailed, running

DIG = """#!/bin/sh
case "$*" in
  *@192.0.2.53*www.example.com*"-t A") echo 10.9.9.9 ;;
  *@broken*) echo "couldn't get address for 'broken'" >&2; exit 10 ;;
  *@silent*) echo ";; no servers could be reached"; exit 9 ;;
  *www.example.com*"-t AAAA") echo fd00::1 ;;
  *www.example.com*"-t A") printf 'alias.example.com.\\n10.0.0.1\\n10.0.0.2\\n' ;;
  *www.example.com*CNAME) echo alias.example.com. ;;
  *"-x 10.0.0.1") echo www.example.com. ;;
  *ns?.example.com*"-t A") echo 10.0.0.53 ;;
  *mx.example.com*"-t A") echo 10.0.0.25 ;;
  *example.com*NS) printf 'ns1.example.com.\\nns2.example.com.\\n' ;;
  *example.com*MX) echo "10 mx.example.com." ;;
  *example.com*TXT) printf '"other"\\n"v=spf1 ip4:10.0.0.0/8 ~ip6:fd00::/8 include:x -all"\\n' ;;
  *slow*) exec sleep 1000 ;;
esac
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HarnessHere]:
    (tmp_path / "dig").write_text(DIG)
    (tmp_path / "dig").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    current = HarnessHere()
    with running(current):
        yield current


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (lambda: dnsutil.A("www.example.com"), ["10.0.0.1", "10.0.0.2"]),
        (lambda: dnsutil.A("www.example.com", nameserver="192.0.2.53"), ["10.9.9.9"]),
        (lambda: dnsutil.A("www.example.com", nameserver="silent"), []),
        (lambda: dnsutil.A("nope.example.com"), []),
        (lambda: dnsutil.A("10.1.1.1"), ["10.1.1.1"]),
        (lambda: dnsutil.A("::1"), []),
        (lambda: dnsutil.AAAA("www.example.com"), ["fd00::1"]),
        (lambda: dnsutil.AAAA("::1"), ["::1"]),
        (lambda: dnsutil.NS("example.com"), ["10.0.0.53", "10.0.0.53"]),
        (
            lambda: dnsutil.NS("example.com", resolve=False),
            ["ns1.example.com.", "ns2.example.com."],
        ),
        (lambda: dnsutil.MX("example.com"), [["10", "mx.example.com."]]),
        (lambda: dnsutil.MX("example.com", resolve=True), [["10", "10.0.0.25"]]),
        (lambda: dnsutil.SPF("example.com"), ["10.0.0.0/8", "fd00::/8"]),
        (lambda: dnsutil.SPF("nope"), []),
        (
            lambda: [
                dnsutil.check_ip(each) for each in ("127.0.0.1", "::1", "127.1", "10.0.0.0/8", "")
            ],
            [True, True] + [False] * 3,
        ),
        (
            lambda: [dig.check_ip(each) for each in ("10.0.0.0/8", "10.0.0.0/33", "::/33", "x/8")],
            [True, False, True, False],
        ),
        (lambda: dig.A("www.example.com"), ["10.0.0.1", "10.0.0.2"]),
        (lambda: dig.AAAA("www.example.com"), ["fd00::1"]),
        (lambda: dig.CNAME("www.example.com"), ["alias.example.com."]),
        (lambda: dig.PTR("10.0.0.1"), ["www.example.com."]),
        (lambda: dig.NS("example.com"), ["10.0.0.53", "10.0.0.53"]),
        (lambda: dig.NS("example.com", resolve=False), ["ns1.example.com.", "ns2.example.com."]),
        (lambda: dig.MX("example.com"), [["10", "mx.example.com."]]),
        (lambda: dig.SPF("example.com", record="TXT"), ["10.0.0.0/8", "fd00::/8"]),
        (lambda: dig.TXT("example.com")[0], '"other"'),
        (lambda: dig.CAA("example.com"), []),
    ],
)
def test_answers(found: Any, wanted: Any) -> None:
    assert found() == wanted


def test_without_dig_the_resolver_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dnsutil.cmd, "has_exec", lambda name: False)  # type: ignore[attr-defined]
    assert dnsutil.A("localhost") == ["127.0.0.1"]
    assert not [each for each in dnsutil.AAAA("localhost") if "127." in each]
    monkeypatch.setenv("PATH", "/no/such/folder")
    with pytest.raises(CommandFailed, match="dig"):
        dnsutil.NS("example.com")


def test_names_are_found_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the loopback interface has an address, getent needs to be told not to mind."""
    answer = 'case "$*" in --no-addrconfig*) echo 127.0.0.1 STREAM localhost ;; *) exit 2 ;; esac'
    (tmp_path / "getent").write_text(f"#!/bin/sh\n{answer}\n")
    (tmp_path / "getent").chmod(0o755)
    monkeypatch.setattr(dnsutil.cmd, "has_exec", lambda name: False)  # type: ignore[attr-defined]
    assert dnsutil.A("localhost") == ["127.0.0.1"]


def test_nobody_waits_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "SECONDS", 0.05)
    began = time.monotonic()
    assert dnsutil.A("slow") == []
    assert time.monotonic() - began < PATIENCE
    with pytest.raises(CommandFailed, match="couldn't get address"):
        dnsutil.A("www.example.com", nameserver="broken")


def test_serial(here: HarnessHere) -> None:
    today = time.strftime("%Y%m%d")
    assert [dnsutil.serial("a"), dnsutil.serial("a", update=True)] == [f"{today}01"] * 2
    assert [dnsutil.serial("a", update=True), dnsutil.serial("a"), dnsutil.serial("b")] == [
        f"{today}02",
        f"{today}02",
        f"{today}01",
    ]
    here.dry = True
    assert [dnsutil.serial("a", update=True), dnsutil.serial("a")] == [f"{today}03", f"{today}02"]
    Path(here.cache_dir, "dnsutil.serial.json").write_text("rubbish")
    assert dnsutil.serial("a") == f"{today}01"


def test_parse_hosts(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(
        "127.0.0.1 localhost\n# c\n10.0.0.1 a b # note\n10.0.0.1 c\n\n::1 six\n"
    )
    found = dnsutil.parse_hosts(str(tmp_path / "hosts"))
    assert found == {"127.0.0.1": ["localhost"], "10.0.0.1": ["a", "b", "c"], "::1": ["six"]}
    assert dnsutil.parse_hosts(hosts="10.0.0.1 a\n") == {"10.0.0.1": ["a"]}
    assert dnsutil.parse_hosts("/no/such") == "Error: hosts data was not found"
