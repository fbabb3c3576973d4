"""How rules of the packet filter are written."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from modules import iptables

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
]


@pytest.mark.parametrize(("given", "rule"), RULES)
def test_rules(given: dict[str, Any], rule: str) -> None:
    assert iptables.rule(given) == rule


@pytest.mark.parametrize("text", ["it's", 'a "b" c', "back\\slash", "-j DROP", "$(true)"])
def test_a_comment_is_one_word_whatever_it_says(text: str) -> None:
    words = shlex.split(iptables.rule({"comment": text, "jump": "ACCEPT"}))
    assert words == ["-m", "comment", "--comment", text, "--jump", "ACCEPT"]
