# SPDX-License-Identifier: Apache-2.0
"""What a tree of formulas costs, in millions of instructions: with empty caches, and later.

    python bench/formulas.py [FORMULAS]

Made-up formulas (5 of them, unless told otherwise), each as most public ones are: a map.jinja that
lays defaults, those of the family of systems and pillar over each other, a library of macros, SLS
files that include each other and ask functions what is there, and templates of files. Dry runs with
the same cache: the first compiles all templates, the second learns what they asked for, the third
finds it as it was. Nothing is installed or written but below a temporary folder.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from instructions import UNCOUNTED, countable, instructions
from measure import RUNNER, Program, prepare_environment

RUNS = ("empty caches", "second run", "third run", "fourth run")
OPTIONS = 12  # settings of each formula, each with a branch of its own
FILES = {
    "defaults.yaml": "{name}:\n  enabled: true\n  user: root\n  config:\n    port: {port}\n"
    "    listen: [localhost]\n",
    "osfamilymap.yaml": "Debian:\n  service: {name}d\nRedHat:\n  service: {name}\n",
    "libfiles.jinja": """
{{%- macro line(key, value, indent=0) -%}}
{{{{ ' ' * indent }}}}{{{{ key }}}} = {{% if value is sameas true %}}yes
{{%- elif value is sequence and value is not string %}}
{{{{- value | join(', ') }}}}{{% else %}}{{{{ value }}}}{{% endif %}}
{{%- endmacro %}}
{{%- macro source(path, names=['default']) %}}
{{%- for each in names + [grains.id, grains['os_family']] %}}
  - salt://{name}/files/{{{{ each }}}}/{{{{ path }}}}
{{%- endfor %}}{{%- endmacro %}}
""",
    "map.jinja": """
{{%- set tplroot = tpldir.split('/')[0] %}}
{{%- import_yaml tplroot ~ '/defaults.yaml' as defaults %}}
{{%- import_yaml tplroot ~ '/osfamilymap.yaml' as families %}}
{{%- set family = salt['grains.filter_by'](families, grain='os_family') or {{}} %}}
{{%- set given = salt['pillar.get']('{name}', {{}}) %}}
{{%- do salt['slsutil.update'](defaults.{name}, family) %}}
{{%- set {name} = salt['slsutil.merge'](defaults.{name}, given, strategy='recurse') %}}
""",
    "init.sls": "include:\n  - .install\n  - .config\n  - .accounts\n",
    "install.sls": """
{{%- from tpldir ~ '/map.jinja' import {name} with context %}}
{name}-folder:
  file.directory:
    - name: {folder}/etc/{name}
    - makedirs: true
    {{%- if {name}.enabled and not salt['file.directory_exists']('{folder}/none') %}}
    - user: {{{{ {name}.get('user', 'root') }}}}
    {{%- endif %}}
""",
    "config.sls": """
{{%- from tpldir ~ '/map.jinja' import {name} with context %}}
{{%- from tpldir ~ '/libfiles.jinja' import source with context %}}
include:
  - {name}.install
{{%- for key, value in {name}.config | dictsort %}}
{name}-{{{{ key }}}}:
  file.managed:
    - name: {folder}/etc/{name}/{{{{ key | replace('_', '-') }}}}.conf
    - source: salt://{name}/files/default.conf
    - template: jinja
    - context: {{{{ {{'key': key, 'value': value, 'all': {name}.config}} | json }}}}
    {{%- if loop.first %}}
    - mode: '0640'
    {{%- endif %}}
    - require: [sls: {name}.install]
{{%- endfor %}}
""",
    "accounts.sls": """
{{%- from tpldir ~ '/map.jinja' import {name} with context %}}
{{%- for user, given in salt['pillar.get']('{name}:accounts', {{}}).items() %}}
{{%- set known = salt['user.info'](user) %}}
{{%- set home = given.home if given.home is defined else known.get('home', '/home/' ~ user) %}}
{name}-{{{{ user }}}}:
  file.managed:
    - name: {folder}{{{{ home }}}}/.{name}rc
    - makedirs: true
    - contents: |
        {{{{ given.get('lines', []) | join('\\n') | indent(8) }}}}
{{%- endfor %}}
""",
}
DIGITS = str.maketrans("0123456789", "abcdefghij")
BRANCH = """{{%- if all.get('option_{number}') is not none and all['option_{number}'] is defined %}}
{{{{ line('option_{number}', all.option_{number} | default('{number}', true), {number} % 3) }}}}
{{%- elif key == 'option_{number}' %}}
# {{{{ key | upper }}}}: {{{{ (value if value else 'none') ~ ' of ' ~ all | length }}}}
{{%- endif %}}
"""


def write_tree(folder: Path, formulas: int) -> None:
    """Write a tree of some formulas, with their pillar."""
    # numbers in names of variables would make their templates alike
    names = ["formula_" + str(number).translate(DIGITS) for number in range(formulas)]
    pillar = []
    for number, name in enumerate(names):
        below = folder / "tree" / name
        (below / "files").mkdir(parents=True)
        for file, text in FILES.items():
            text = text.format(name=name, folder=folder, port=1000 + number)
            (below / file).write_text(text.lstrip("\n"))
        head = f"{{%- from '{name}/libfiles.jinja' import line with context %}}\n"
        branches = [BRANCH.format(number=option + number) for option in range(OPTIONS)]
        (below / "files/default.conf").write_text(head + "".join(branches) + "\n")
        options = "".join(f"    option_{option + number}: {option}\n" for option in range(OPTIONS))
        accounts = f"    root: {{lines: [one, two]}}\n    {name}: {{home: /srv/{name}}}\n"
        pillar.append(f"{name}:\n  config:\n{options}  accounts:\n{accounts}")
    (folder / "tree/top.sls").write_text(f"base: {{'*': [{', '.join(names)}]}}\n")
    (folder / "pillar").mkdir()
    (folder / "pillar/top.sls").write_text("base: {'*': [all]}\n")
    (folder / "pillar/all.sls").write_text("".join(pillar))


def main() -> None:
    if "-h" in sys.argv or "--help" in sys.argv:
        print(__doc__)
        return
    if not countable():
        sys.exit(UNCOUNTED)
    prepare_environment()
    with tempfile.TemporaryDirectory(prefix="runner-formulas-") as scratch:
        folder = Path(scratch)
        write_tree(folder, int(sys.argv[1]) if sys.argv[1:] else 5)
        argv = [sys.executable, "-c", RUNNER, "highstate", "--test"]
        argv += ["--state-tree", f"{folder}/tree", "--pillar-tree", f"{folder}/pillar"]
        instructions(Program([*argv, "--cachedir", f"{folder}/other"]))  # Python compiles itself
        for name in RUNS:
            count = instructions(Program([*argv, "--cachedir", f"{folder}/cache"]))
            print(f"{name}: {count / 1e6:.0f}", flush=True)


if __name__ == "__main__":
    main()
