# SPDX-License-Identifier: Apache-2.0
"""Salt's filters and tests: what each makes of a value, as Salt 3008 answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.model.errors import RunnerError
from runner.pipeline.session import Session

CASES = [
    ("[1,2,3]|avg", "2.0"),
    ("[1,2,3]|compare_lists([2,4])", "{'new': [4], 'old': [1, 3]}"),
    ("[1,2]|is_iter", "True"),
    ("'abc'|is_iter", "False"),
    ("'abc'|is_iter(none)", "True"),
    ("'x'|to_bytes(none)", "b'x'"),
    ("[1]|is_list", "True"),
    ("'x'|is_list", "False"),
    ("[True,False,1]|exactly_n_true(2)", "True"),
    ("[True,False]|exactly_one_true", "True"),
    ("'abc'|substring_in_list(['xabcx','y'])", "True"),
    ("'a b'|contains_whitespace", "True"),
    ("'foo'|check_whitelist_blacklist(whitelist=['f*'],blacklist=['b*'])", "True"),
    ("'foo'|check_whitelist_blacklist(blacklist=['f*'])", "False"),
    ("'abc'|method_call('upper')", "ABC"),
    ("'50 GB'|human_to_bytes", "53687091200"),
    ("'5K'|human_to_bytes", "5120"),
    ("'1.5M'|human_to_bytes", "1572864"),
    ("'2 MB'|human_to_bytes(handle_metric=True)", "2000000"),
    ("'abcFooBar'|to_snake_case", "abc_foo_bar"),
    ("'abc_def'|to_camelcase", "abcDef"),
    ("'abc_def'|to_camelcase(uppercamel=True)", "AbcDef"),
    ("{'a':{'b':1}}|set_dict_key_value('a:c',5)", "{'a': {'b': 1, 'c': 5}}"),
    ("{'a':{'b':[1]}}|append_dict_key_value('a:b',5)", "{'a': {'b': [1, 5]}}"),
    ("{'a':{'b':[1]}}|extend_dict_key_value('a:b',[5,6])", "{'a': {'b': [1, 5, 6]}}"),
    ("{'a':{'b':{'x':1}}}|update_dict_key_value('a:b',{'y':2})", "{'a': {'b': {'x': 1, 'y': 2}}}"),
    ("'random'|uuid", "3652b285-26ad-588e-a5dc-c2ee65edc804"),
    ("'192.168.0.1'|ipaddr", "192.168.0.1"),
    ("'nonsense'|ipaddr", "None"),
    ("['192.168.0.1','x','2001:db8::1']|ipaddr", "['192.168.0.1', '2001:db8::1']"),
    ("['192.168.0.1','x','2001:db8::1']|ipv4", "['192.168.0.1']"),
    ("['192.168.0.1','x','2001:db8::1']|ipv6", "['2001:db8::1']"),
    ("'127.0.0.1'|ipaddr(options='loopback')", "127.0.0.1"),
    ("'8.8.8.8'|ipaddr(options='private')", "None"),
    ("'192.168.0.1'|is_ip", "True"),
    ("'192.168.0.1/24'|is_ip", "True"),
    ("'fe80::1'|is_ipv6", "True"),
    ("'192.168.0.0/30'|network_hosts", "['192.168.0.1', '192.168.0.2']"),
    ("'192.168.0.0/28'|network_size", "16"),
    ("'192.168.0.12/28'|ip_host", "192.168.0.12/28"),
    ("'192.168.0.1'|ipwrap", "192.168.0.1"),
    ("'fe80::1'|ipwrap", "[fe80::1]"),
    ("'0xabc'|is_hex", "True"),
    ("'xyz'|is_hex", "False"),
    ("'yes'|to_bool", "True"),
    ("'no'|to_bool", "False"),
    ("0|to_bool", "False"),
    ("'5'|to_num", "5"),
    ("'5.5'|to_num", "5.5"),
    ("'x'|to_num", "x"),
    ("'abc'|md5", "900150983cd24fb0d6963f7d28e17f72"),
    ("'abc'|sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ("'abc'|base64_encode", "YWJj"),
    ("'YWJj'|base64_decode", "abc"),
    ("[1,[2,[3]]]|flatten", "[1, 2, 3]"),
    ("[1,[2,[3]]]|flatten(levels=1)", "[1, 2, [3]]"),
    ("[1,2,2]|unique", "[1, 2]"),
    ("[1,2]|union([2,3])", "[1, 2, 3]"),
    ("[1,2]|intersect([2,3])", "[2]"),
    ("[1,2]|difference([2,3])", "[1]"),
    ("[1,2]|symmetric_difference([2,3])", "[1, 3]"),
    ("'a/b'|path_join('c')", "a/b/c"),
    ("{'a':1}|yaml", "{a: 1}"),
    ("{'a':[1,{'b':None}]}|yaml(False)", "a:\n- 1\n- b: null"),
    ("{'a':1}|json", '{"a": 1}'),
    ("{'b':1,'a':2}|json(indent=2)", '{\n  "a": 2,\n  "b": 1\n}'),
    ("'x: 1'|load_yaml", "{'x': 1}"),
    ("'{\"a\":1}'|load_json", "{'a': 1}"),
    ("'a\"b'|yaml_dquote", '"a\\"b"'),
    ('"it\'s"|yaml_squote', "'it''s'"),
    ("7|yaml_encode", "7"),
    ("'x y'|quote", "'x y'"),
    ("'abc'|regex_replace('b','X')", "aXc"),
    ("'abc'|regex_search('(b)(c)')", "('b', 'c')"),
    ("'abc'|regex_match('(b)')", "None"),
    ("'abc'|regex_match('a(b)')", "('b',)"),
    ("{'a':{'b':1}}|traverse('a:b')", "1"),
    ("{'a':{'b':1}}|traverse('a:z','d')", "d"),
    ("[1,2]|zip(['a','b'])|list", "[(1, 'a'), (2, 'b')]"),
    ("[1,2]|zip_longest(['a'],fillvalue='-')|list", "[(1, 'a'), (2, '-')]"),
    ("'abc'|sequence", "['abc']"),
    ("['abc']|sequence", "['abc']"),
    ("'2016/03/08'|strftime('%d.%m.%Y')", "08.03.2016"),
    ("{'a':1,'b':[1,2]}|dict_to_sls_yaml_params", "- a: 1\n- b:\n  - 1\n  - 2"),
    ("'text'|hmac('key','x')", "False"),
    ("'get salted'|hmac('shared secret','eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ=')", "True"),
    (
        "'get salted'|hmac_compute('shared secret')",
        "78159ff5bb2d5e0f8d88fe403b0a690791ccbd989830fcc433d5b960c9bf0264",
    ),
    ("'/etc/passwd'|is_text_file", "True"),
    ("'/bin/ls'|is_bin_file", "True"),
    ("'/etc/passwd'|file_hashsum|length", "64"),
    ("'AC:DE:48:00:11:22'|mac_str_to_bytes", "b'\\xac\\xdeH\\x00\\x11\"'"),
    ("[3,1,2]|max", "3"),
    ("[3,1,2]|min", "1"),
    ("'mydict'|to_bytes", "b'mydict'"),
    ("[1] is list", "True"),
    ("'abc' is match('a.c')", "True"),
    ("'abc' is equalto('abc')", "True"),
    ("'foo bar'|regex_escape", "foo\\ bar"),
    ("'1,2'|yaml", "1,2"),
    ("'a: b'|yaml", "'a: b'"),
    ("none|yaml", "null"),
    ("true|yaml", "true"),
    ("1.5|yaml", "1.5"),
    ("'é'|yaml", "é"),
    ("'é'|json", '"é"'),
    ("'é'|tojson", '"\\u00e9"'),
    ("{'x':none}|tojson", '{"x": null}'),
    ("[1,2]|join('-')", "1-2"),
    ("'%s'|format(3)", "3"),
    ("'abc'|which", "None"),
    ("[[1,2],[3]]|flatten", "[1, 2, 3]"),
    ("'foo.bar'|yaml_encode", '"foo.bar"'),
    ("none|yaml_encode", "null"),
    ("'2002-12-25 00:00:00-06:39'|date_format", "2002-12-25"),
    ("'10-20'|sequence", "['10-20']"),
    ("{'a':1}|dictsort", "[('a', 1)]"),
    ("'a b c'|wordwrap(2)", "a\nb\nc"),
    ("'abc'|sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("range(3)|list", "[0, 1, 2]"),
    ("'abc'|tojson|indent(2)", '"abc"'),
    ("{'b':1,'a':{'z':1,'y':2}}|yaml(False)|indent(4)", "a:\n      y: 2\n      z: 1\n    b: 1"),
    ("'a,b'.split(',')", "['a', 'b']"),
    ("'x'|load_text", "x"),
    ("'abc'|yaml(False)", "abc"),
    ("['a','b']|yaml(False)", "- a\n- b"),
    ("[]|yaml(False)", "[]"),
    ("{}|yaml(False)", "{}"),
    ("'yes'|yaml", "'yes'"),
    ("'on'|yaml", "'on'"),
    ("'012'|yaml", "'012'"),
    ("'1e3'|yaml", "1e3"),
    ("'null'|yaml", "'null'"),
    ("'a\\nb'|yaml", "'a\n\n  b'"),
    ("'a\\nb'|yaml_dquote", '"a\\nb"'),
    ("'a\\nb'|yaml_encode", '"a\\nb"'),
    ("'#x'|yaml", "'#x'"),
    ("'- x'|yaml_encode", '"- x"'),
    ("'{{'|yaml", "'{{'"),
    ("'@x'|yaml", "'@x'"),
    ("'x: y'|yaml_encode", '"x: y"'),
    ("'!x'|yaml", "'!x'"),
    ("123456789012|yaml", "123456789012"),
    ("'2020-01-01'|yaml", "'2020-01-01'"),
    ("'12:30'|yaml", "'12:30'"),
]


@pytest.mark.parametrize(("expression", "wanted"), CASES)
def test_filter(session: Session, expression: str, wanted: str) -> None:
    assert session.template(f"{{{{ {expression} }}}}", "jinja", {}) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ 'x' | nosuchfilter }}", "No filter named 'nosuchfilter'"),
        ("{{ 'x' is nosuchtest }}", "No test named 'nosuchtest'"),
        ("{{ missing }}", "'missing' is undefined"),
        ("{{ 'soon' | strftime }}", "is not a known form of a date"),
        ("{{ '{' | load_json }}", "JSONDecodeError"),
        ("{{ 'xyz' | mac_str_to_bytes }}", "is not a MAC address"),
        ("{{ 'a' | method_call('__class__') }}", "is private"),
        (
            "{{ {} | update_dict_key_value('a', 42) }}",
            "Cannot update <class 'dict'> with a <class 'int'>.",
        ),
        ("{% set p = {} %}{{ p.port | regex_replace('a', 'b') }}", "has no attribute 'port'"),
        ("{% set p = {} %}{{ [{'a': p.port}] | json }}", "has no attribute 'port'"),
        ("{{ salt.nope.x() }}", "'nope.x' is not available"),
        ("{{ salt.nope() }}", "'nope' is not available"),
    ],
)
def test_mistakes_name_what_is_wrong_and_where(session: Session, text: str, message: str) -> None:
    with pytest.raises(RunnerError) as error:
        session.template(f"one\n{text}\n", "jinja", {}, file="/x.jinja")
    told = str(error.value)
    assert message in told
    assert "/x.jinja:2" in told


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("{{ 5 | wordwrap }}", "the filter wordwrap: AttributeError", "it was given: 5 | wordwrap"),
        (
            "{{ ('x' * 99) | strftime }}",
            "the filter strftime",
            "it was given: <str of 101 characters> | strftime",
        ),
        (
            "{{ salt['network.calc_net']('x') }}",
            "network.calc_net: ",
            "it was given: network.calc_net('x', netmask=none)",
        ),
        (
            "{{ salt['random.shadow_hash']('x', 'hunter2', 'no') }}",
            "random.shadow_hash",
            "password=**********",
        ),
        ("{{ salt['file.touch']('/no/x') }}", "file.touch changes the machine", "module.run"),
    ],
)
def test_a_text_that_is_in_no_file_names_them_too(
    session: Session, text: str, message: str, hint: str
) -> None:
    """`contents` with a template, say."""
    with pytest.raises(RunnerError) as error:
        session.template(text, "jinja", {})
    assert error.value.message.startswith(message) and hint in str(error.value.hint)


def test_what_is_wrong_with_arguments_names_the_filter_that_was_typed(
    session: Session, tmp_path: Path
) -> None:
    for text, told in {
        "{{ {}|yaml(nosuch=1) }}": "the filter yaml got an unexpected keyword argument 'nosuch'",
        "{{ 'x' is match }}": "the test match missing 1 required positional argument",
        "{{ raise() }}": "raise missing 1 required positional argument",
        "{{ [1]|exactly_n_true('1') }}": "the filter exactly_n_true: TypeError",
        "{{ none|abs(1) }}": "the filter abs takes exactly one argument",
        "{{ none|to_num }}": "the filter to_num: TypeError",
        "{{ salt['slsutil.serialize']('nosuch', 1) }}": (
            "slsutil.serialize: The nosuch serializer could not be found."
        ),
    }.items():
        (tmp_path / "t").write_text(text)
        with pytest.raises(RunnerError) as error:
            session.template(text, "jinja", {}, file=str(tmp_path / "t"))
        assert error.value.message.startswith((f"Jinja error: TypeError: {told}", told)), text


def test_a_filter_block_that_makes_no_text_is_named(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("a\n{% filter list %}abc{% endfilter %}\n")
    with pytest.raises(RunnerError, match="has to make text") as error:
        session.template(path.read_text(), "jinja", {}, file=str(path))
    assert str(error.value.source).startswith(f"{path}:2")


def test_an_undefined_part_of_a_variable_is_told_not_stumbled_over(session: Session) -> None:
    with pytest.raises(RunnerError, match="Jinja variable 'nosuch' is undefined"):
        session.template("{% set x = [nosuch] %}{{ x }}", "jinja", {})
