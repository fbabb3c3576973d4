"""What is added in one place is there everywhere: a form of answers, a command.

Each is added to a copy of runner, by the files that `docs/architecture.md` names and no others.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command import ROOT, Machine

FORM = """    Form(
        "count", "how many there are", data=lambda data, indent: f"{len(data['local'])}\\n"
    ),
"""
COMMAND = '''"""The command `greet`: a word for somebody."""

from __future__ import annotations

from typing import Annotated

from runner.cli.option_spec import argument, option
from runner.cli.options import READING, Common, options_of, with_common, write_value


@with_common(READING)
def greet(
    *,
    name: Annotated[str, argument(metavar="NAME", help="Who.", complete=(("world", "sls"),))],
    loud: Annotated[bool, option("--loud", help="In capitals.")] = False,
    common: Common,
) -> int:
    """Greet somebody.

    Example: runner greet world
    """
    text = f"{options_of(common).id} greets {name}"
    write_value(common, text.upper() if loud else text)
    return 0
'''


class Copy(Machine):
    """A machine with a runner of its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name in ("runner", "states", "modules"):
            shutil.copytree(
                ROOT / name, folder / "copy" / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        self.environment["PYTHONPATH"] = str(folder / "copy")
        self.environment["PYTHONSAFEPATH"] = "1"  # not the folder that the tests were started in
        self.write(top="base:\n  '*': [a]\n", a="x: test.nop\ny: test.nop\n")

    def alter(self, path: str, before: str, after: str) -> None:
        file = self.folder / "copy" / path
        text = file.read_text()
        assert text.count(before) == 1, f"{path}: {before}"
        file.write_text(text.replace(before, after))

    def python(self, program: str, *words: str) -> str:
        """The stdout of a program."""
        argv = [self.argv()[0], "-c", program, *words]
        return subprocess.run(argv, env=self.environment, capture_output=True, text=True).stdout

    def plain(self, *words: str) -> str:
        """The stdout of a line without a configuration."""
        return self.python("from runner.cli import main; main()", *words)

    def offered(self, *typed: str) -> str:
        """The words that the Tab key of fish shows."""
        return self.plain("completion", "candidates", "--", "fish", *typed)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_a_form_is_one_entry_of_one_file(copy: Copy) -> None:
    copy.alter("runner/output/formats.py", '    Form("json"', FORM + '    Form("json"')
    assert copy("show", "lowstate", "--out", "count").stdout == "2\n"
    assert copy("sls", "a", "--out=count", "--test").stdout == "2\n"
    for command in ("show", "highstate", "history"):
        assert "pretty, count, json" in copy(command, "--help").stdout
    error = copy("check", "--out", "nosuch", code=1).stderr
    assert "one of pretty, count, json, yaml, sarif, github" in error
    assert copy.offered("why", "--out", "c") == "count\thow many there are\n"
    folder = copy.folder / "manual"
    copy("doc", "--reference", str(folder))
    assert "| `count` | how many there are | all commands |" in (folder / "forms.md").read_text()
    help_of_salt = copy.python("from runner.cli.salt_call import main; main()", "--help")
    assert "pretty, count, json" in " ".join(help_of_salt.split())


def test_a_command_is_a_file_and_a_line(copy: Copy) -> None:
    (copy.folder / "copy/runner/cli/greet.py").write_text(COMMAND)
    copy.alter("runner/cli/option_spec.py", '    "history",\n', '    "greet",\n    "history",\n')
    assert copy("greet", "you", "--loud").stdout == "M1 GREETS YOU\n"
    assert copy("greet", "you", "--out", "json").stdout == '{\n    "local": "m1 greets you"\n}\n'
    assert re.search(r"^  greet +Greet somebody.$", copy.plain("--help"), re.M)
    assert "In capitals." in copy("greet", "--help").stdout
    assert "Missing argument 'NAME'" in copy("greet", code=1).stderr
    assert copy.offered("gr").startswith("greet\tGreet somebody.")
    assert copy.offered("greet", "w") == "world\n"
    assert "--loud\tIn capitals.\n" in copy.offered("greet", "--lo")
    program = (
        "import sys\nfrom runner.cli.fast_parser import command\n"
        "print(command('greet', ['you']) is not None, 'typer' in sys.modules)"
    )
    assert copy.python(program) == "True False\n"
