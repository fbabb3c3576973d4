# SPDX-License-Identifier: Apache-2.0
"""What an SLS, a pillar or a template gives as an argument is data: never an option of a program,
never further lines.

Both tests look at every function that there is: a new one with a text that nothing checks is
noticed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from command import ROOT, Machine
from hostile import converted, takes

from runner.engine.loader.builtin import library
from runner.engine.loader.registry import Registry
from runner.language.arguments.scalars import Shape
from runner.language.arguments.schema import schema_of

LINES = "one\nHOSTILE"
OPTION = "-oHOSTILE"

# ---------------------------------------------------- states: refused when arguments are bound

# Texts of state functions that may have several lines; of a whole module where it writes none by
# itself.
SEVERAL_LINES = {
    "cmd": "what a shell gets is a program",
    "environ": "variables of this process, which may have any value",
    "event": "nobody is listening",
    "file": (
        "the contents of files are what the tree says; file.keyvalue, whose settings are lines, is"
        " not exempt"
    ),
    "grains": "written as YAML, which quotes",
    "http": "sent as parts of a request, where Python's own client refuses line ends",
    "module": "the functions that are called check their arguments",
    "saltutil": "done nothing with",
    "stateconf": "values for other states",
    "test": "shown",
    # what a shell gets is a program
    "at.absent": {"job"},
    "at.present": {"job", "name"},
    "gpg.present": {"text"},  # gpg reads it as a file
    "dconf.set": {"value"},  # dconf's texts escape them
    "archive.extracted": {
        "options",
        "list_options",
        # as of file.managed: opened, compared, and keys in PEM
        "source",
        "source_hash",
        "source_hash_name",
        "source_hash_sig",
        "signature",
        "keyring",
        "signed_by_any",
        "signed_by_all",
        "gnupghome",
        "sig_backend",
        "user",
        "group",
    },
    "cron.present": {"comment"},  # each of its lines is written as a comment
    "cron.absent": {"comment"},
    "pkg.installed": {"pkg_verify", "ignore_types"},  # not used
    "pkgrepo.managed": {"key_text"},
    "ssh_auth.present": {"source"},
    "ssh_auth.absent": {"source"},
    "ssh_auth.manage": {"source"},
    "mysql_query.run": {"query"},
    "redis.string": {"value"},  # sent with its length
    "mysql_grants.present": {"ssl_option"},  # quoted
    "xml.value_present": {"value"},  # escaped
    "schedule.present": {"job_args", "metadata"},  # JSON on the line of a job; not used
    "systemd.unit": {"contents", "timer"},  # texts of unit files
    # keys and certificates, which may be texts, and what is checked by itself
    "x509": set(
        """
        private_key public_key signing_private_key signing_cert csr append_certs text check_cmd
        subject not_before not_after
        """.split()
    ),
    **dict.fromkeys(
        ("docker_container", "docker_network", "docker_volume", "docker_image"),
        "the engine takes JSON, where a line end is a character of a value",
    ),
    "iptables": {"rules", "rule"},  # words for iptables, where a line end only separates two
}
PLAIN_NAMES = """
    acl.present(acl_name) alternatives.auto(name) alternatives.install(name)
    alternatives.remove(name) alternatives.set(name) apache_conf.enabled(name)
    apache_module.enabled(name) apache_site.enabled(name) cron.present(user) debconf.set(name)
    group.absent(name) group.present(members) group.present(name) iptables.append(chain)
    kmod.present(mods) kmod.present(name) pip.installed(name) pip.installed(pkgs)
    pip.removed(pkgs) pkg.downloaded(pkgs) pkg.held(name) pkg.installed(fromrepo)
    pkg.installed(name) pkg.installed(pkgs) pkg.installed(sources) pkg.latest(name)
    pkg.latest(pkgs) pkg.purged(pkgs) pkg.removed(name) pkg.removed(pkgs) pkg.uptodate(pkgs)
    selinux.module_remove(name) service.dead(name) service.running(name)
    ssh_known_hosts.present(name) sysctl.present(name) user.absent(name) user.present(groups)
    user.present(name)
""".split()


def texts_of_states() -> Iterator[tuple[str, str, Shape]]:
    """The arguments of state functions that take a text."""
    registry = Registry({})
    for module in sorted(library("states")):
        for function in registry.state_functions(module):
            for name, parameter in schema_of(
                registry.state(f"{module}.{function}").function
            ).parameters.items():
                if takes(parameter.shape, "/plain"):
                    yield f"{module}.{function}", name, parameter.shape


def may_have_lines(function: str, argument: str, shape: Shape) -> bool:
    if "path" in shape.title or shape.title == "salt:// folder" or function == "file.keyvalue":
        return function != "file.keyvalue" or "path" in shape.title
    exempt = SEVERAL_LINES.get(function, SEVERAL_LINES.get(function.partition(".")[0], ()))
    return isinstance(exempt, str) or argument in exempt


def test_a_text_of_a_state_is_one_line_unless_it_may_be_more() -> None:
    found = {
        f"{function}({name})"
        for function, name, shape in texts_of_states()
        if takes(shape, f"/{LINES}") and not may_have_lines(function, name, shape)
    }
    assert not sorted(found), "annotate these as Line or Name, or name them in SEVERAL_LINES"


def test_names_for_programs_are_no_options() -> None:
    shapes = {f"{function}({name})": shape for function, name, shape in texts_of_states()}
    assert not [name for name in PLAIN_NAMES if takes(shapes[name], OPTION)]
    named = ("user", "group", "groups", "pkgs", "runas")
    where = {
        name: shape
        for name, shape in shapes.items()
        if not name.startswith(("file.", "cmd.", "archive.", "sudo."))  # sudo: words of a file
    }
    assert not [
        name
        for name, shape in where.items()
        if name.split("(")[1][:-1] in named and takes(shape, OPTION)
    ]


DURATION = re.compile(
    r"(?:.*_)?(?:timeout|delay|interval|wait_for|splay|seconds|minutes|hours|days)"
)


def test_a_duration_is_one() -> None:
    """Below zero it is none, nor is what YAML writes .nan and .inf."""
    registry = Registry({})
    shapes = {
        f"{module}.{function}({name})": parameter.shape
        for module in registry.state_modules()
        for function in registry.state_functions(module)
        for name, parameter in schema_of(
            registry.state(f"{module}.{function}").function
        ).parameters.items()
        if DURATION.fullmatch(name)
    }
    numbers = {name: shape for name, shape in shapes.items() if converted(shape, 7) == 7}
    assert len(numbers) > 20 and "process.absent(timeout)" in numbers
    wrong = (-1, float("nan"), float("inf"))
    taken = {
        f"{name} {value}"
        for name, shape in numbers.items()
        for value in wrong
        if converted(shape, value) is not None
    }
    assert not sorted(taken), "annotate these as Duration"


ATTACKS = {
    "user.present: password": 'root2:\n  user.present:\n    - password: "$6$x\\nroot:$6$evil"',
    "pkg.installed: pkgs[0]": 'p:\n  pkg.installed:\n    - pkgs: ["-oDPkg::Pre-Invoke::=cmd"]',
    "pkg.installed: name": '"-oAPT::Solver=x":\n  pkg.installed: []',
    "cron.present: name": 'c:\n  cron.present:\n    - name: "true\\n* * * * * evil"',
    "cron.present: identifier": 'c2:\n  cron.present:\n    - identifier: "a\\n* * * * * evil"',
    "host.present: ip[0]": 'h:\n  host.present:\n    - ip: "192.0.2.1\\n192.0.2.6 bank"',
    "mount.fstab_present: fs_vfstype": (
        'm:\n  mount.fstab_present:\n    - {fs_file: /m, fs_vfstype: "a\\n/e"}'
    ),
    "alias.present: target": 'a:\n  alias.present:\n    - target: "a\\nroot: evil@example.com"',
    "ini.options_present: sections": (
        '/i:\n  ini.options_present:\n    - sections: {a: {b: "1\\n[evil]"}}'
    ),
    "ssh_auth.present: comment": (
        'AAAA:\n  ssh_auth.present:\n    - {user: root, comment: "a\\nssh-rsa AAAA"}'
    ),
    "ssh_auth.present: options[0]": (
        'AAAB:\n  ssh_auth.present:\n    - {user: root, options: ["a\\nb"]}'
    ),
    "debconf.set: data": (
        'd:\n  debconf.set:\n    - data: {a/b: {type: string, value: "x\\nother a/b string y"}}'
    ),
    "locale.system: name": 'l:\n  locale.system:\n    - name: "C.UTF-8\\nPATH=/evil"',
    "file.keyvalue: key_values": '/k:\n  file.keyvalue:\n    - key_values: {a: "1\\nb=2"}',
    "group.present: name": "'-h':\n  group.present: []",
    "alternatives.install: name": (
        "'--help':\n  alternatives.install:\n    - {link: /a, path: /b, priority: 1}"
    ),
    "pkgrepo.managed: comments[0]": (
        'deb http://e x y:\n  pkgrepo.managed:\n    - comments: ["a\\ndeb http://e x y"]'
    ),
    "service.running: name": '"-H":\n  service.running: []',
    "service.dead: name": '"-.service":\n  service.dead: []',
    "user.present: fullname": 'zoe:\n  user.present:\n    - fullname: "a\\0b"',
}


def test_the_attacks_are_mistakes_of_the_sls(machine: Machine) -> None:
    """Each is found before anything runs, in a dry run and in a real one."""
    machine.write(attacks="\n".join(ATTACKS.values()))
    said = machine("check", "attacks", code=1)
    found = said.stdout + said.stderr
    assert not [attack for attack in ATTACKS if f"error: {attack}: " not in found], found
    assert "$6$" not in found
    assert machine("sls", "attacks", code=1).returncode == 1


def test_what_yaml_adds_to_a_line_is_no_second_one(machine: Machine) -> None:
    """`|` ends a text with a line end; several lines of an ini file's value begin with a space."""
    path = machine.folder / "a.ini"
    machine.write(
        a=f"""{path}:
  ini.options_present:
    - sections:
        s:
          several: "one\\n  two\\n\\tthree"
          block: |
            text
"""
    )
    assert machine.results("sls", "a")
    assert path.read_text() == "[s]\nseveral = one\n  two\n\tthree\nblock = text\n"
    assert [each["changes"] for each in machine.results("sls", "a").values()] == [{}]


ODD = """#!py
def run():
    found = {}
    for number, text in enumerate(["x\\0y", "x\\ud800y", "x" * 70000, "x\\u202ey", "x\\udcffy"]):
        found[f"a{number}"] = {"module.run": [{"file.stats": [{"path": "/" + text}]}]}
        found[f"b{number}"] = {"cmd.run": [{"name": "true " + text}]}
        found[f"c{number}"] = {"file.managed": [{"name": "{tmp}/%d" % number}, {"contents": text}]}
        found[f"d{number}"] = {"environ.setenv": [{"name": "ODD"}, {"value": text}]}
        serialized = [{"name": "{tmp}/s%d" % number}, {"dataset": {"k": text}}]
        found[f"e{number}"] = {"file.serialize": serialized}
        query = [{"name": "http://127.0.0.1:1/" + text}, {"status": 200}]
        found[f"f{number}"] = {"http.query": query}
        found[f"g{number}"] = {"file.absent": [{"name": "{tmp}/" + text}]}
    return {key: value for key, value in found.items() if key not in LEFT_OUT}
"""
# half a character is refused where a text is expected, and a NUL character in a path or a command,
# before anything runs
REFUSED = ["cmd.run: name", "http.query: name", "file.absent: name"]


def test_odd_texts_are_told_by_whoever_cannot_take_them(machine: Machine) -> None:
    machine.write(
        all=ODD.replace("LEFT_OUT", "()"),
        most=ODD.replace("LEFT_OUT", '("b0", "b1", "f1", "g0", "g1")'),
    )
    refused = machine("sls", "all", code=1).stderr
    assert all(f"error: {each}: " in refused for each in REFUSED), refused
    results = machine.results("sls", "most", code=2)
    assert len(results) == 30
    said = " ".join(result["comment"] for result in results.values())
    assert "Traceback" not in said and "An exception occurred" not in said
    assert all(results[f"b{number}"]["result"] for number in (2, 3, 4))
    assert results["d1"]["comment"].startswith(
        r"A path or an argument contains '\ud800', half a character"
    )


# ---------------------------------------------- execution functions: what they start and write

# Arguments that are options by their nature.
OPTIONS = ("options", "opts", "git_opts", "words", "extra_args")
OTHERS = {
    "iptables.has_rule(rule)": "a rule is options",
    "iptables.is_saved(path)": "",
    "service.act(action)": "what an init script is to do",
}
# Options of programs that take the next word as their value, whatever it is.
WITH_VALUE = {
    "blkid": "-t",
    "dig": "-q -t",
    "dmidecode": "-s",
    "git": "-m",
    "gpg": "--homedir --keyring",
    "mount": "-t -o",
    "python3": "--path --index-url --extra-index-url",
    "ssh-keygen": "-F",
    "ssh-keyscan": "-t",
    "supervisorctl": "-c",
    "tar": "-C",
    "useradd": "-G -c -d -g -s",
    "usermod": "-G -c -d -g -l -s",
}


@pytest.fixture(scope="module")
def calls() -> list[dict[str, Any]]:
    """Return what each execution function does with an option, and with two lines, as each of its
    arguments.
    """
    script = ROOT / "tests/support/recorded.py"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{script.parent}"}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(bool(call["did"]) for call in found) > 400  # the calls do get to programs and files
    return found


def test_no_argument_becomes_an_option(calls: list[dict[str, Any]]) -> None:
    found = set()
    for call in calls:
        for argv in (did["argv"] for did in call["did"] if "argv" in did):
            if call["argument"] not in OPTIONS and (place := as_option(argv)):
                found.add(f"{call['function']}({call['argument']}): {' '.join(argv[: place + 1])}")
    assert not [each for each in found if each.split(":")[0] not in OTHERS], (
        "put -- before it, or take plain_name"
    )


def as_option(argv: list[str]) -> int | None:
    """Where a program takes the hostile word for an option."""
    for place, word in enumerate(argv):
        before = argv[:place]
        if place and word.startswith(OPTION) and "--" not in before:
            program = os.path.basename(argv[0])
            if before[-1] not in WITH_VALUE.get(program, "").split():
                return place
    return None


def test_no_argument_becomes_a_line(calls: list[dict[str, Any]]) -> None:
    found = set()
    for call in calls:
        texts = [did.get("data", did.get("stdin", "")) for did in call["did"]]
        if any(line.startswith("HOSTILE") for text in texts for line in text.split("\n")):
            found.add(f"{call['function']}({call['argument']})")
    in_quotes = {
        each for each in found if each.startswith(("postgres.", "mysql.")) and "datadir" not in each
    }
    in_quotes |= {f"gpg.{name}(text)" for name in ("import_key", "read_key", "verify")}
    in_quotes |= {"at.add(job)", "at.at(cmd)"}  # a program, of as many lines as it has
    assert not found - in_quotes, "one_line() or join_lines() of modules/_texts/lines.py is missing"
