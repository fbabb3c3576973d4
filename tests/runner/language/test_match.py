# SPDX-License-Identifier: Apache-2.0
"""Targets; the answers are those of a real Salt unless a comment says otherwise."""

from typing import Any

import pytest

from runner.language.targeting.match import matches, mistake
from runner.model.errors import RunnerError

GRAINS = {
    "id": "web1.example.com",
    "os": "Debian",
    "roles": ["web", "db"],
    "loud": ["WEB"],
    "os2": {"family": "Debian", "list": ["a", {"b": {"c": "d"}}]},
    "num": 5,
    "flag": True,
    "none": None,
    "deep": {"a": {"b": {"c": "x"}}},
    "colon": "a:b:c",
    "url": "http://x",
    "empty": [],
    "D": {"Key": "X"},
    "dictlist": {"web": {"port": 80}},
    "saltversioninfo": [3008, 3],
    "ipv4": ["127.0.0.1", "192.0.2.2"],
    "ipv6": ["::1", "fd00::2", "fe80::1%eth0"],
}
PILLAR = {"role": {"a": "webby", "l": ["x", "y"], "n": 5}}
NODEGROUPS = {
    "webs": "web*",
    "comp": "G@roles:web and N@webs",
    "bylist": ["web1.example.com", "other"],
    "words": ["G@roles:web", "and", "web*"],
    "loop1": "N@loop2",
    "loop2": "N@loop1",
    "lst": "L@web1.example.com,b",
}

YES: dict[str, list[str]] = {
    "glob": ["web*", "web1.example.com", "web[12].*", "web?.*"],
    "pcre": ["web", r"web1\.example.com$", ".*"],
    "list": ["web1.example.com,b"],
    "grain": """
        roles:web roles:we* roles:* os2:family:Debian os2:family:debian os2:list:a
        os2:list:b:c:d os2:list:b num:5 num:* flag:True flag:true none:* none:None deep:a:b:c:x
        deep:a:b:* deep:a:* deep:*:b:c:x deep:a:b colon:a:b:c colon:a* url:http://x url:http*
        dictlist:web dictlist:web:port:80 dictlist:web:* dictlist:w* id:web1*
        saltversioninfo:3008 ipv4:127.0.0.1 os:D?bian os:DEBIAN loud:web loud:WEB D:Key:x
    """.split(),
    "grain_pcre": """
        os2:*:Deb.* roles:we roles:^web$ roles:(web|x) os2:family:deb num:[0-9] deep:a:b:c:.
        loud:W os:(Debian|Ubuntu) loud:web
    """.split(),
    "pillar": "role:a:webby role:a:web* role:l:x role:n:5 role:* role:l *:a:webby".split(),
    "pillar_pcre": ["role:a:web.*", "*:a:^webby$"],
    "pillar_exact": ["role:a:webby"],
    "ipcidr": "127.0.0.0/8 127.0.0.1 192.0.2.2 192.0.2.0/24 fd00::/64 ::1 fe80::/10".split(),
    "nodegroup": ["webs", "comp"],
    "compound": [
        "web*",
        "G@roles:web",
        "G@roles:web and web*",
        "G@roles:nope or web*",
        "not db*",
        "( db* or web* ) and G@roles:web",
        "P@roles:we",
        r"E@web\d",
        "L@a,web1.example.com",
        "I@role:a:webby",
        "J@role:a:web",
        "S@127.0.0.0/8",
        "N@webs",
        "N@comp",
        "N@words",
        "N@lst",
        "not ( db* )",
        "G@roles:web and ( not db* )",
        "not (db* or web*)",
        "web* not db*",
        "G;@os2;family;Debian",
        "G|@os2|family|Debian",
        "P%@os2%family%Deb.*",
        "I|@role|a|webby",
        "web* or db* and db*",
        "db* or G@roles:web and not G@roles:nope",
        "db* and web* or web*",
        "G@flag:True and G@num:5",
        "E@web1.* and not E@db.*",
        "I@role:l:x or G@x:y",
        "not G@roles:web or web*",
        "web1.example.com or ( db* and ( G@x:y or not I@a:b ) )",
    ],
}
NO: dict[str, list[str]] = {
    "glob": ["WEB*", "db*", "{web,db}*", ""],
    "pcre": ["eb1"],
    "list": ["a, web1.example.com", "web1.example.com b", "a,b"],
    "grain": ["roles:WEB", "roles", "empty:*", "nope:*", "deep:b", "D:key:X", "D:KEY:*"],
    "grain_pcre": ["roles:eb"],
    "pillar": ["role:a:webb", "nope:x"],
    "pillar_pcre": ["role:a:ebb", "role:a:web$"],
    "pillar_exact": ["role:a:web*"],
    "ipcidr": ["10.0.0.0/8", "bogus", "192.0.2.2/24"],
    "nodegroup": ["nope", "loop1"],
    "range": ["%web"],
    "compound": [
        "not web*",
        "web* and not G@roles:db",
        "(db* or web*) and G@roles:web",
        "L@a,b",
        "N@loop1",
        "X@foo",
        "G@roles:web or",
        "and web*",
        "web* and and web*",
        "G@roles:web AND db*",
        "not not web*",
        "N@unknown",
        "",
        "( web*",
        "web* )",
        "G@roles:web and not N@webs",
        "web* web*",
        "R@foo",
        "D@x:y",
        "G@roles:web web*",
        "( )",
    ],
}


def match(expression: Any, kind: str, grains: Any = GRAINS) -> bool:
    return matches(
        expression, kind, id="web1.example.com", grains=grains, pillar=PILLAR, nodegroups=NODEGROUPS
    )


@pytest.mark.parametrize(
    ("kind", "expression"), [(kind, text) for kind, texts in YES.items() for text in texts]
)
def test_matches(kind: str, expression: str) -> None:
    assert match(expression, kind) is True


@pytest.mark.parametrize(
    ("kind", "expression"), [(kind, text) for kind, texts in NO.items() for text in texts]
)
def test_matches_not(kind: str, expression: str) -> None:
    assert match(expression, kind) is False


def test_a_node_group_may_be_a_list_of_words() -> None:
    assert match("words", "nodegroup")
    assert not match("bylist", "nodegroup")  # no `or` between: Salt takes the words as a compound


@pytest.mark.parametrize(
    ("kind", "expression", "text"),
    [
        ("bogus", "x", "bogus"),
        ("grains", "x", "did you mean grain"),
        ("pcre", "(", "regular expression"),
        ("grain_pcre", "roles:(", "regular expression"),
    ],
)
def test_mistakes(kind: str, expression: str, text: str) -> None:
    with pytest.raises(RunnerError) as error:
        match(expression, kind)
    assert text in str(error.value)


def test_a_term_that_does_not_matter_is_not_looked_up() -> None:
    class Never(dict[str, Any]):
        def __contains__(self, key: object) -> bool:
            raise AssertionError("a grain was computed")

    assert match("web* or G@os:Debian", "compound", Never())
    assert not match("db* and ( G@os:Debian or web* )", "compound", Never())


def problem(expression: str, kind: str) -> str:
    found = mistake(expression, kind, {**NODEGROUPS, "ring": "N@ring", "odd": "web* and"})
    return f"{found.message}; {found.hint}" if found else ""


@pytest.mark.parametrize(
    ("kind", "expression", "says"),
    [
        ("compound", "web* )", "without its ("),
        ("compound", "( web*", "not closed"),
        ("compound", "web* web*", "missing before 'web*'"),
        ("compound", "web* or", "nothing follows 'or'"),
        ("compound", "and web*", "'and' is in the place of"),
        ("compound", "", "empty"),
        (
            "compound",
            "web* or Z@x",
            "'Z@x': no kind of target has the letter Z; there are G (grain), ",
        ),
        (
            "compound",
            "not G@os",
            "'os' is a grain without a value; write a grain, a colon and the value: `os:VALUE`",
        ),
        (
            "compound",
            "web* or S@10.0.0.1/8",
            "'10.0.0.1/8' is neither an address nor a network; write",
        ),
        ("compound", "N@wbs", "there is no node group 'wbs'; did you mean webs?"),
        ("ipcidr", "10.0.0.0/99", "'10.0.0.0/99' is neither an address nor a network"),
        ("pillar_exact", "a", "'a' is a pillar key without a value"),
        (
            "nodegroup",
            "nope",
            "there is no node group 'nope'; nodegroups of the configuration has: ",
        ),
        (
            "nodegroup",
            "ring",
            "in the node group 'ring': the node group 'ring' contains itself (ring -> ring)",
        ),
        (
            "nodegroup",
            "odd",
            "in the node group 'odd': the compound expression 'web* and' cannot be read",
        ),
    ],
)
def test_what_keeps_a_target_from_being_read(kind: str, expression: str, says: str) -> None:
    assert problem(expression, kind).count(says) == 1


@pytest.mark.parametrize(
    ("kind", "expression"),
    [
        ("compound", "web* and not ( db* or G@a:b )"),
        ("compound", "I|@a|b or R@x or S@10.0.0.0/8 or L@a,b or a@b"),
        ("nodegroup", "webs"),
        ("glob", "["),
    ],
)
def test_nothing_is_wrong(kind: str, expression: str) -> None:
    assert problem(expression, kind) == ""
