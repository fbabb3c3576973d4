# SPDX-License-Identifier: Apache-2.0
"""How rules of the packet filter are written."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere

from modules.firewalls import iptables
from runner.api import ChangeNotAllowed, CommandFailed, StateFailed, changes_allowed, running

RULES: list[tuple[dict[str, Any], str]] = [
    ({"jump": "ACCEPT", "dport": 22, "proto": "tcp"}, "-p tcp --dport 22 --jump ACCEPT"),
    ({"protocol": "! tcp", "if": "not lo", "of": "eth1"}, "! -i lo -o eth1 ! -p tcp"),
    (
        {"in-interface": "! lo", "source": "not 10.0.0.0/8"},
        "! --in-interface lo ! --source 10.0.0.0/8",
    ),
    (
        {"connstate": "NEW", "match": "state,limit", "limit": "1/s"},
        "-m state -m limit --state NEW --limit 1/s",
    ),
    ({"state": "! NEW"}, "-m state ! --state NEW"),
    ({"ctstate": "NEW", "jump": "DROP"}, "-m conntrack --ctstate NEW --jump DROP"),
    ({"comment": "a b", "dport": 1, "s": "x"}, '--dport 1 -m comment --comment "a b" -s x'),
    ({"match": ["comment"], "comment": 'say "x"'}, '-m comment --comment "say \\"x\\""'),
    ({"dports": [80, 443], "sports": "1,2"}, "-m multiport --dports 80,443 --sports 1,2"),
    (
        {"match": "multiport", "dports": ["! 80", "not 443"], "in-interface": "br-+"},
        "-m multiport ! --dports 80,443 --in-interface br-+",
    ),
    ({"match-set": ["a src", "! b dst"]}, "-m set --match-set a src -m set ! --match-set b dst"),
    (
        {"match": "recent", "name_": "q", "rcheck": "", "seconds": 3},
        "-m recent --name q --rcheck --seconds 3",
    ),
    ({"tcp-flags": "FIN,SYN SYN", "syn": ""}, "--tcp-flags FIN,SYN SYN --syn"),
    (
        {"log-prefix": "in: ", "jump": "LOG", "log-level": 4},
        '--jump LOG --log-level 4 --log-prefix "in: "',
    ),
    (
        {"jump": "DNAT", "random": "", "to-destination": "1.2.3.4"},
        "--jump DNAT --random --to-destination 1.2.3.4",
    ),
    ({"goto": "web"}, "--goto web"),
    (
        {"match": "string", "string": '! "GET /a"', "algo": "bm"},
        '-m string ! --string "GET /a" --algo bm',
    ),
    (
        {"jump": "SET", "add-set": "seen src,dst", "exist": "", "timeout": 60},
        "--jump SET --add-set seen src,dst --exist --timeout 60",
    ),
]


@pytest.mark.parametrize(("given", "rule"), RULES)
def test_rules(given: dict[str, Any], rule: str) -> None:
    assert iptables.rule(given) == rule


@pytest.mark.parametrize("text", ["it's", 'a "b" c', "back\\slash", "-j DROP", "$(true)"])
def test_a_comment_is_one_word_whatever_it_says(text: str) -> None:
    words = shlex.split(iptables.rule({"comment": text, "jump": "ACCEPT"}))
    assert words == ["-m", "comment", "--comment", text, "--jump", "ACCEPT"]


SAVED = """# Generated
*filter
:INPUT DROP [5:300]
:knock - [0:0]
-A INPUT -i lo -j ACCEPT
-A INPUT -p tcp -m tcp ! --dport 22 -m comment --comment "let in, please" -j ACCEPT
-A INPUT -m recent --rcheck --seconds 3 --name q -m set ! --match-set b src,dst -g knock
COMMIT
"""
RECORDED = """#!/bin/sh
case "$0 $*" in
*-save*) cat "$(dirname "$0")/saved" ;;
*--version) echo 'iptables v1.8.9 (nf_tables)' ;;
*"-rules INPUT") printf '%s\\n' '-P INPUT DROP' '-A INPUT -i lo' '-A INPUT -i eth0' ;;
*nope*) echo "iptables: No chain/target/match by that name." >&2; exit 1 ;;
*) echo "$*" >>"$(dirname "$0")/did" ;;
esac
"""


def test_salts_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Salt 3008.3's own functions answer to the same programs, and tell them to do."""
    for name in ("iptables", "iptables-save"):
        (tmp_path / name).write_text(RECORDED)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "saved").write_text(SAVED)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with running(HarnessHere()):
        chains = iptables.get_rules()["filter"]
        assert iptables.get_saved_rules(str(tmp_path / "saved"))["filter"] == chains
        plain, commented, other = chains["INPUT"].pop("rules")
        assert plain == {"in-interface": ["lo"], "jump": ["ACCEPT"]}
        assert commented == chains["INPUT"].pop("rules_comment")["let in, please"]
        assert commented["destination_port"] == ["! 22"]
        assert commented["match"] == ["tcp", "comment"]
        assert (other["rcheck"], other["match-set"]) == ([""], ["! b src,dst"])
        assert (other["goto"], other["name"]) == (["knock"], ["q"])
        assert chains["INPUT"] == {"policy": "DROP", "packet count": "5", "byte count": "300"}
        assert [iptables.get_policy("filter", chain) for chain in ("INPUT", "knock", "no")] == [
            "DROP",
            "-",
            None,
        ]
        assert iptables.version() == "v1.8.9"
        assert not iptables.check_chain("filter", "nope")
        assert not iptables.check("filter", "nope", "-j ACCEPT")
        assert iptables.build_rule(proto="tcp", save=True) == "-p tcp"
        whole = iptables.build_rule("nat", "X", "I", 3, True, jump="DROP")
        assert whole == f"{tmp_path}/iptables --wait -t nat -I X 3 --jump DROP"
        with pytest.raises(StateFailed, match="Command needs"):
            iptables.build_rule("nat", "X", full=True)
        with pytest.raises(ChangeNotAllowed):
            iptables.flush()
        with changes_allowed():
            assert iptables.new_chain("filter", "x") and iptables.delete_chain("filter", "x")
            assert iptables.append("filter", "INPUT", '-m comment --comment "a b"')
            assert iptables.insert("filter", "INPUT", -1, "-j ACCEPT") == ""
            assert iptables.delete("filter", "INPUT", 2) == iptables.flush("filter", "x") == ""
            assert iptables.set_policy("filter", "INPUT", "DROP") == ""
            with pytest.raises(CommandFailed, match="No chain/target"):
                iptables.append("filter", "nope", "-j ACCEPT")
            with pytest.raises(StateFailed, match="not both"):
                iptables.delete("filter", "INPUT", 1, "-j ACCEPT")
            with pytest.raises(StateFailed, match="cannot be read"):
                iptables.append("filter", "INPUT", 'a "b')
    assert (tmp_path / "did").read_text().splitlines() == [
        "--wait --table filter " + words
        for words in (
            "--new-chain x",
            "--delete-chain x",
            "--append INPUT -m comment --comment a b",
            "--insert INPUT 2 -j ACCEPT",
            "--delete INPUT 2",
            "--flush x",
            "--policy INPUT DROP",
        )
    ]
