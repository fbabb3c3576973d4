# SPDX-License-Identifier: Apache-2.0
"""What states find that is not theirs to change is in their warnings, in a dry run too."""

from __future__ import annotations

from debian import Debian

KNOWN = """
first: {ssh_known_hosts.present: [name: localhost, enc: ed25519, hash_known_hosts: false]}
any: {ssh_known_hosts.present: [name: localhost]}
silent: {ssh_known_hosts.present: [name: localhost, port: 2222, timeout: 1, config: /root/others]}
"""


def warnings(machine: Debian, *words: str) -> dict[str, list[str]]:
    """The warnings of all states, by their IDs; nothing is changed."""
    results = machine.results("sls", "all", *words)
    assert not any(result["changes"] for result in results.values()), results
    return {name: result.get("warnings", []) for name, result in results.items()}


def test_a_host_that_offers_another_key(debian: Debian) -> None:
    key = "/etc/ssh/ssh_host_ed25519_key"
    debian.run("systemctl restart ssh; ssh-keyscan -t ed25519 localhost >/root/one")
    debian.run("sed 's/^localhost/[localhost]:2222/' /root/one >/root/others")
    debian.tree(all=KNOWN)
    debian.results("sls", "all")
    before = debian.read("cat /etc/ssh/ssh_known_hosts")
    for words in (("--test",), ()):
        assert warnings(debian, *words) == {"first": [], "any": [], "silent": []}
    debian.run(f"rm {key}*; ssh-keygen -q -t ed25519 -N '' -f {key}; systemctl restart ssh")
    for words in (("--test",), ()):
        told = warnings(debian, *words)
        for name in ("first", "any"):
            assert told[name][0].startswith(
                "localhost offers another ssh-ed25519 key than /etc/ssh/ssh_known_hosts has: "
            )
        assert told["silent"] == []
    assert debian.read("cat /etc/ssh/ssh_known_hosts") == before


def test_a_locale_that_was_never_generated(debian: Debian) -> None:
    debian.tree(all="de_DE.UTF-8: {locale.system: []}\n")
    told = [
        "the locale de_DE.UTF-8 is not generated: programs use C instead; `locale.present`"
        " generates it"
    ]
    debian.run("rm -f /etc/default/locale /etc/locale.conf")
    for words in (("--test",), (), ("--test",)):
        assert debian.results("sls", "all", *words)["de_DE.UTF-8"]["warnings"] == told
    both = (
        "system: {locale.system: [name: de_DE.UTF-8]}\n"
        "made: {locale.present: [name: de_DE.utf8 UTF-8]}\n"
    )
    debian.tree(all=both)
    assert "warnings" not in debian.results("sls", "all", "--test", code=None)["system"]
    debian.tree(all="C.UTF-8: {locale.system: []}\n")
    assert "warnings" not in debian.results("sls", "all", "--test")["C.UTF-8"]
