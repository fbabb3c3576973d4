"""Disks and configuration files for real: what their tools say at the end."""

from __future__ import annotations

from debian import Debian

LAYER = "volumes"
EDITS = """
hosts:
  augeas.change:
    - changes:
      - set /files/etc/hosts/*[canonical='localhost']/alias me
      - defvar new /files/etc/hosts/seven
      - ins 05 after "/files/etc/hosts/*[canonical='localhost']"
      - set /files/etc/hosts/05/ipaddr 10.0.0.7
      - set /files/etc/hosts/05/canonical "seven"
    - unless: grep seven /etc/hosts
new:
  augeas.change:
    - context: /files/etc/new.conf
    - lens: Simplevars.lns
    - changes: [set a "it's", clear nothing/here, rm nothing]
"""
REFUSED = """
no lens:
  augeas.change:
    - context: /files/usr/local/plain
    - changes: [set a 1]
both at once:
  augeas.change:
    - changes: [set /files/etc/hosts/1/alias x, set /files/etc/hosts/1/canonical "a b"]
save:
  augeas.change:
    - changes: [set /augeas/save newfile]
"""


def test_augeas(debian: Debian) -> None:
    debian.write("/usr/local/plain", "a=1\n")
    debian.tree(edits=EDITS, refused=REFUSED)
    dry = debian.results("sls", "edits", "--test")
    assert "+10.0.0.7\tseven\n" in dry["hosts"]["changes"]["diff"]
    assert debian.read("cat /etc/hosts; ls /etc/new.conf 2>&1 || true").startswith("127.0.0.1 loc")
    real = debian.results("sls", "edits")
    assert [result["changes"] for result in real.values()] == [
        result["changes"] for result in dry.values()
    ]
    lines = ["127.0.0.1 localhost me", "10.0.0.7\tseven", "127.0.1.1 machine", "a = it's"]
    assert debian.read("cat /etc/hosts /etc/new.conf").splitlines() == lines
    assert not any(result["changes"] for result in debian.results("sls", "edits").values())

    refused = debian.results("sls", "refused", code=2)
    assert "no lens reads /usr/local/plain" in refused["no lens"]["comment"]
    assert "Failed to match tree under /files/etc/hosts/1" in refused["both at once"]["comment"]
    assert "/augeas/save is not to be set" in refused["save"]["comment"]
    assert debian.read("cat /etc/hosts").splitlines() == lines[:3]
    found = debian.read("runner", "call", "augeas.match", "/files/etc/hosts/*/ipaddr")
    assert "/files/etc/hosts/2/ipaddr: 10.0.0.7" in found
