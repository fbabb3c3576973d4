# SPDX-License-Identifier: Apache-2.0
"""What runner and its peers are measured with: the same work as an SLS and as a CFEngine policy."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from measure import write_configuration


class Load(NamedTuple):
    """Work of some size for `load.sls` and, where CFEngine knows such work, `load.cf` of a folder.

    sls: writes the text of the SLS. promises: the CFEngine promises of the same work, by their
    type. first: each run is a first one, without caches and records of earlier ones.
    flow: the configuration has a flow mapping. needs: the program without which this machine
    cannot do it.
    """

    name: str
    size: int
    sls: Callable[[int, Path], str]
    promises: Callable[[int, Path], dict[str, str]] | None = None
    first: bool = False
    has_floor: bool = True
    flow: bool = False
    needs: str = "true"

    def prepare(self, folder: Path) -> None:
        """Fill an empty folder."""
        write_configuration(folder, flow=self.flow)
        (folder / "load.sls").write_text(self.sls(self.size, folder))
        if self.promises:
            (folder / "load.cf").write_text(policy(self.promises(self.size, folder)))

    def written(self, folder: Path) -> tuple[str, ...]:
        """Return what a run makes: before a first run it has to be gone."""
        return f"{folder}/out", f"{folder}/cache"


# names of installed packages are looked up once, as runner and Salt do
BODIES = """body common control { bundlesequence => { "main" }; }
body edit_defaults alone { edit_backup => "false"; }
body contain in_shell { useshell => "useshell"; }
body link_from symlink(path) { source => "$(path)"; link_type => "symlink"; }
bundle edit_line insert(line) { insert_lines: "$(line)"; }
bundle edit_line replace(old, new) { replace_patterns: "$(old)" replace_with => put("$(new)"); }
body replace_with put(text) { replace_value => "$(text)"; occurrences => "all"; }
body package_method dpkg {
  package_changes => "individual";
  package_list_command => "/usr/bin/dpkg-query -Wf '${db:Status-Abbrev} ${Package} ${Version}\\n'";
  package_list_name_regex => "ii\\s+(\\S+)\\s.*";
  package_list_version_regex => "ii\\s+\\S+\\s+(\\S+).*";
  package_installed_regex => "ii.*";
  package_add_command => "/bin/false";
}
"""


def policy(promises: dict[str, str]) -> str:
    """A CFEngine policy. promises: for each type of promise."""
    types = "".join(f"{kind}:\n{text}" for kind, text in promises.items())
    return f"{BODIES}bundle agent main {{\n{types}}}\n"


def files(count: int, folder: Path) -> str:
    """Small files with their own contents."""
    return "".join(
        f"{folder}/out/{n}:\n  file.managed:\n    - contents: hello {n}\n    - makedirs: True\n"
        for n in range(count)
    )


def file_promises(count: int, folder: Path) -> dict[str, str]:
    promise = '"{}/out/{}" create => "true", content => "hello {}\n";\n'
    return {"files": "".join(promise.format(folder, n, n) for n in range(count))}


def templates(count: int, folder: Path) -> str:
    """One template with another context each."""
    (folder / "server.jinja").write_text(
        "# {{ name }}\n{% for port in ports %}listen {{ port }};\n{% endfor %}"
        "server_name {{ name }};\n"
    )
    return "".join(
        f"{folder}/out/{n}:\n  file.managed:\n    - source: salt://server.jinja\n"
        "    - template: jinja\n    - makedirs: True\n"
        f"    - context: {{name: site{n}, ports: [80, {8000 + n}]}}\n"
        for n in range(count)
    )


def template_promises(count: int, folder: Path) -> dict[str, str]:
    (folder / "server.mustache").write_text(
        "# {{name}}\n{{#ports}}\nlisten {{.}};\n{{/ports}}\nserver_name {{name}};\n"
    )
    promise = (
        '"{0}/out/{1}" create => "true", template_method => "mustache",\n'
        "  edit_defaults => alone,\n"
        '  edit_template => "{0}/server.mustache",\n'
        '  template_data => \'{{"name": "site{1}", "ports": [80, {2}]}}\';\n'
    )
    text = "".join(promise.format(folder, n, 8000 + n) for n in range(count))
    return {"files": text}


def guarded(count: int, folder: Path) -> str:
    """Commands that their guards skip, each another one."""
    return "".join(
        f"c{n}:\n  cmd.run:\n    - name: 'false'\n    - unless: test {n}\n" for n in range(count)
    )


def command_promises(count: int, folder: Path) -> dict[str, str]:
    promise = (
        '"/bin/false # {0}" contain => in_shell, unless => returnszero("test {0}", "useshell");\n'
    )
    return {"commands": "".join(map(promise.format, range(count)))}


def installed_packages(count: int) -> list[str]:
    """Packages that are installed here."""
    argv = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"]
    listed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    names = {line.split()[0] for line in listed.splitlines() if line.endswith(" installed")}
    return sorted(names)[:count]


def packages(count: int, folder: Path) -> str:
    """Packages that are there already."""
    return "".join(f"{name}:\n  pkg.installed: []\n" for name in installed_packages(count))


def package_promises(count: int, folder: Path) -> dict[str, str]:
    promise = '"{}" package_policy => "add", package_method => dpkg;\n'
    return {"packages": "".join(map(promise.format, installed_packages(count)))}


def graph(count: int, folder: Path) -> str:
    """States that do nothing, with two requires each, declared in reverse order."""
    last = count - 1
    states = "".join(
        f"s{n}:\n  test.nop:\n    - require:\n      - test: s{n + 1}\n"
        f"      - test: s{min(n + 7, last)}\n"
        for n in range(last)
    )
    return f"{states}s{last}:\n  test.nop: []\n"


# one state of each kind; # is a number, @ the folder `out`, % a package
UNIT = """@/d#:
  file.directory:
    - makedirs: True
@/d#/f:
  file.managed:
    - contents: hello #
    - require:
      - file: @/d#
@/d#/l:
  file.symlink:
    - target: @/d#/f
    - require:
      - file: @/d#/f
@/d#/a:
  file.append:
    - text: hello #
    - require:
      - file: @/d#
replace #:
  file.replace:
    - name: @/d#/a
    - pattern: good bye #
    - repl: hello #
    - require:
      - file: @/d#
command #:
  cmd.run:
    - name: 'false'
    - unless: test #
%:
  pkg.installed: []
account #:
  user.present:
    - name: root
"""
UNIT_PROMISES = (
    ("files", '"@/d#/." create => "true";\n'),
    ("files", '"@/d#/f" create => "true", content => "hello #\n";\n'),
    ("files", '"@/d#/l" link_from => symlink("@/d#/f");\n'),
    (
        "files",
        '"@/d#/a" create => "true", edit_line => insert("hello #"),\n  edit_defaults => alone;\n',
    ),
    (
        "files",
        '"@/d#/a" edit_line => replace("good bye #", "hello #"),\n  edit_defaults => alone;\n',
    ),
    ("commands", '"/bin/false #" unless => returnszero("test #", "useshell");\n'),
    ("packages", '"%" package_policy => "add", package_method => dpkg;\n'),
    ("users", '"root" policy => "present", comment => "#";\n'),
)


def fill(text: str, folder: Path, number: int, package: str) -> str:
    """A text of a unit with its number."""
    text = text.replace("#", str(number)).replace("%", package)
    return text.replace("@", f"{folder}/out")


def site(count: int, folder: Path) -> str:
    """States of eight kinds, with requisites. count: how many of each kind."""
    names = installed_packages(count)
    return "".join(fill(UNIT, folder, number, name) for number, name in enumerate(names))


def site_promises(count: int, folder: Path) -> dict[str, str]:
    promises: defaultdict[str, str] = defaultdict(str)
    for number, name in enumerate(installed_packages(count)):
        for kind, text in UNIT_PROMISES:
            promises[kind] += fill(text, folder, number, name)
    return promises


START = Load("start, one converged file", 1, files, file_promises)
COMMANDS = Load("100 guarded commands", 100, guarded, command_promises)
PACKAGES = Load("100 packages", 100, packages, package_promises, needs="dpkg-query")
FILES = Load("1,000 files, nothing to do", 1000, files, file_promises)
NEW_FILES = Load("1,000 files, first run", 1000, files, file_promises, first=True)
TEMPLATES = Load("1,000 templates", 1000, templates, template_promises)
GRAPH = Load("graph of 1,000", 1000, graph)
SITE = Load(
    "site, 38 states of each of 8 kinds",
    38,
    site,
    site_promises,
    has_floor=False,
    needs="dpkg-query",
)
LOADS = (
    START,
    COMMANDS,
    PACKAGES,
    FILES,
    NEW_FILES,
    Load("5,000 files, nothing to do", 5000, files, file_promises),
    Load("5,000 files, first run", 5000, files, file_promises, first=True),
    TEMPLATES,
    GRAPH,
    Load("graph of 5,000", 5000, graph),
    SITE,
)
# what instructions are counted of: no larger than needed, for to count them takes long
NEW_300 = Load("300 files, first run", 300, files, file_promises, first=True)
FILES_300 = Load("300 files, nothing to do", 300, files, file_promises)
TEMPLATES_300 = Load("300 templates", 300, templates, template_promises)
COUNTED = (
    Load("start, configuration with a flow mapping", 1, files, file_promises, flow=True),
    START,
    NEW_300,
    FILES_300,
    COMMANDS,
    PACKAGES,
    TEMPLATES_300,
    SITE,
)
