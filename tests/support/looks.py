# SPDX-License-Identifier: Apache-2.0
"""A look goes through the planned view: states and modules ask `modules/_paths.py` and
`modules/_accounts`, and not the machine.

A place that has to ask the machine says so, where it does: `# os: REASON` on its line, or, for a
file that is the view itself or works on descriptors, `# os in this file: REASON` on a line of its
own. A mark that nothing needs any more is a mistake, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

OF_OS = set(
    """
    stat lstat access readlink scandir listdir walk fwalk statvfs getxattr listxattr open
    getgrouplist path.exists path.lexists path.isfile path.isdir path.islink path.ismount
    path.samefile path.getsize path.getmtime path.getatime path.getctime path.realpath
    """.split()
)
MODULES = {
    "shutil": {"which", "disk_usage", "copy", "copy2", "copyfile", "copytree"},
    "glob": {"glob", "iglob"},
    "pwd": {"getpwnam", "getpwuid", "getpwall"},
    "grp": {"getgrnam", "getgrgid", "getgrall"},
    "io": {"open"},
    "pathlib": {"Path", "PosixPath"},
}
INSTEAD = {f"{module}.{name}" for module, names in MODULES.items() for name in names}
INSTEAD |= {"open", "here.tree.fetch", *(f"os.{name}" for name in OF_OS)}
KERNELS = ("/proc/", "/sys/")
ON_A_LINE = re.compile(r"# os: (\S.*)")
IN_A_FILE = re.compile(r"^# os in this file: (\S.*)", re.MULTILINE)


def asked(text: str) -> Iterator[tuple[ast.expr | ast.alias, str]]:
    """Yield what a file asks the machine with, whatever it calls it."""
    tree = ast.parse(text)
    own = {}  # the names that this file gives to what it imports
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            own.update({alias.asname or alias.name: alias.name for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                own[alias.asname or alias.name] = name
                if name in INSTEAD or name.startswith("os.path."):
                    yield alias, name
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    exempt = {id(call.func) for call in calls if no_look(call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in exempt:
            first, _, rest = dotted(node).partition(".")
            name = f"{own.get(first, first)}.{rest}" if rest else first
            if name.removeprefix("runner.api.") in INSTEAD:
                yield node, name


def dotted(node: ast.expr) -> str:
    """`os.path.exists` of an expression; empty where it is more than names."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join(reversed([*names, node.id])) if isinstance(node, ast.Name) else ""


def no_look(call: ast.Call) -> bool:
    """Return whether a call looks at what the kernel shows, which nobody plans, or only writes."""
    words = [_beginning(argument) for argument in call.args[:2]]
    return words[:1] != [] and (
        f"{words[0]}/".startswith(KERNELS)
        or (dotted(call.func) == "open" and words[1:] != [] and words[1][:1] in ("w", "x"))
    )


def _beginning(node: ast.expr) -> str:
    """The text of a constant, or what an f-string begins with."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def unmarked(text: str) -> list[str]:
    """The lines that ask the machine without a mark, and the marks that nothing needs."""
    lines = text.splitlines()
    places = [(node.lineno, node.end_lineno or node.lineno, name) for node, name in asked(text)]
    if IN_A_FILE.search(text):
        return [] if places else ["0: a mark that nothing needs"]
    marked = {number for number, line in enumerate(lines, 1) if ON_A_LINE.search(line)}
    needed = {number for first, last, _ in places for number in range(first, last + 1)}
    return [
        *(
            f"{first}: {name}"
            for first, last, name in places
            if not marked & {*range(first, last + 1)}
        ),
        *(f"{number}: a mark that nothing needs" for number in sorted(marked - needed)),
    ]
