# SPDX-License-Identifier: Apache-2.0
"""Pages of docs/ as tests: their files are written, their commands run, their outputs compared.

How to write a page so that it is run:

- **A file:** a block whose first line is a comment with its path (`# states/top.sls`,
  `{# states/map.jinja #}`). It is written as it stands, that line included, when the page comes to
  it; a later block of the same name replaces it. Where the line would be part of the example,
  `<!-- file: PATH -->` on the line before the block names it instead.
- **A command:** a line that begins with `$ ` in a block of the language `console`; lines that begin
  with `> ` continue it. What follows is its output, standard error included, as in a terminal of
  80 columns without colours. A command that ends with another code than 0 is followed by
  `$ echo $?` and the code.
- **An SLS without a name** (language `sls`): `runner check` finds no mistake in it.
- **Configuration** without a name (`yaml`): is read as runner.yaml, without a warning.
- **A picture:** `![...](NAME.svg)` is what a command of the page left as NAME.svg in its folder.
- **What cannot be run:** `<!-- not run: REASON -->` on the line before the block, or the picture.
- **Other command lines** that begin with `runner ` (indented, or in backquotes) are parsed.

A page is run from its top to its end in a folder of its own, for which it says `/tmp/learn`: the
test has one with a name of the same length. Where the page has no runner.yaml, there is one with
`states` and `pillar` as roots; `cachedir` is added, so that nothing is written outside of the
folder.

What differs from run to run is compared only by its kind (times, dates, process numbers, durations)
or not at all (which states were slow). `...` in an output stands for anything, on a line of its own
for any number of lines. The line `info: using /tmp/learn/runner.yaml` is left out.

`RUNNER_GUIDES=write pytest tests/test_guides.py -k PAGE` writes what is really printed into the
page.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from command import ROOT, prestarted_server
from prestarted import open_terminal, read_terminal
from starting import PATIENCE

from runner.model.errors import RunnerError
from runner.sources.config import load

FOLDER = "/tmp/learn"  # what a page calls its folder
CONFIGURATION = "file_roots: {base: [states]}\npillar_roots: {base: [pillar]}\n"
OWN_LANGUAGES = ("console", "jinja", "python", "sh", "sls", "yaml")
FENCE = re.compile(r"^(`{3,}|~{3,})[ ]*([\w-]*)[^\n]*\n(.*?)^\1[ ]*$\n?", re.M | re.S)
MARKER = re.compile(r"<!-- (file|not run): ([^\n]+?) -->\n+\Z")
NAMED = re.compile(r"\A(?:#|//|\{#|;|--) ?([\w.-]+(?:/[\w.-]+)*\.\w+|[\w.-]+/[\w./-]+)(?: #\})?\n")
# a command line without anything that only a shell understands
PLAIN = re.compile(r"""runner(?: +(?:[\w@%+=:,./{}\[\]-]+|'[^']*'|"[^"$`\\]*"))*""")
ONLY_BY_KIND = (
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?=\d{4}-)", ""),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "TIME"),
    (r"\d\d:\d\d:\d\d(\.\d+)?", "TIME"),
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (r"^Slowest: [^\n]*(\n +[^\n]*)*\n", ""),
    (r"  \[\d+(\.\d+)? ?(ms|s|min)\]", ""),
    (r"\b\d+(\.\d+)? ?(ms|s|min)\b", "DURATION"),
    (r"\bpid: \d+", "pid: NUMBER"),
    (r"[ \t]+$", ""),
)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int  # of its first line in the page
    span: tuple[int, int]  # of its text in the page
    file: str = ""
    not_run: str = ""


@dataclass(frozen=True)
class Step:
    """A command and what the page says that it prints."""

    command: str
    output: str
    line: int
    span: tuple[int, int]  # of the output in the page


def blocks(page: str) -> Iterator[Block]:
    """Return the fenced blocks of a page."""
    for match in FENCE.finditer(page):
        marker = MARKER.search(page, 0, match.start())
        named = NAMED.match(match[3])
        marked = {marker[1]: marker[2]} if marker else {}
        yield Block(
            language=match[2],
            text=match[3],
            line=page.count("\n", 0, match.start(3)) + 1,
            span=match.span(3),
            file=marked.get("file") or (named[1] if named else ""),
            not_run=marked.get("not run", ""),
        )


def steps(block: Block) -> list[Step]:
    """Return the commands of a block, each with its output."""
    found: list[Step] = []
    position = block.span[0]
    command, first, start = "", 0, position
    for number, line in enumerate([*block.text.splitlines(keepends=True), "$ "]):
        if line.startswith("> ") and start == position and command:
            command += "\n" + line[2:].rstrip("\n")
            start = position + len(line)
        elif line.startswith("$ "):
            if command:
                output = block.text[start - block.span[0] : position - block.span[0]]
                found.append(Step(command, output, block.line + first, (start, position)))
            command, first, start = line[2:].rstrip("\n"), number, position + len(line)
        assert command or line == "$ ", f"line {block.line}: begins with no command"
        position += len(line)
    return found


def matches(expected: str, printed: str) -> bool:
    """Return whether a page's output stands for what was printed."""
    expected, printed = _by_kind(expected), _by_kind(printed)
    lines = [
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n"
        for line in expected.splitlines()
    ]
    return re.fullmatch("".join(lines), printed) is not None


def _by_kind(text: str) -> str:
    for pattern, kind in ONLY_BY_KIND:
        text = re.sub(pattern, kind, text, flags=re.M)
    return text.strip("\n") + "\n" if text.strip() else ""


class Session:
    """A folder in which the steps of a page are done, and the shell in which they are typed."""

    def __init__(self) -> None:
        self.folder = _folder()
        self._directory = self.folder
        self._exit_code = 0
        programs = self.folder / ".programs"
        programs.mkdir()
        start = programs / "runner"  # for pipes, loops and the like
        code = "from runner.cli import main; main()"
        start.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{code}' \"$@\"\n")
        start.chmod(0o755)
        self.environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "TERM": "dumb",  # no colours, no lines that are overwritten
            "USER": "me",
        }
        self.write("runner.yaml", CONFIGURATION)

    def __enter__(self) -> Session:
        self._umask = os.umask(0o022)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        os.umask(self._umask)
        shutil.rmtree(self.folder)

    def write(self, path: str, text: str) -> None:
        """Write a file of the page."""
        text = self._real(text)
        if Path(path).name == "runner.yaml" and "cachedir:" not in text:
            text += f"cachedir: {self.folder}/.cache\n"
        target = self.folder / path
        assert target.is_relative_to(self.folder), path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def run(self, command: str) -> str:
        """Return what a command prints."""
        real = self._real(command)
        if PLAIN.fullmatch(real):
            done = prestarted_server().run(
                shlex.split(real)[1:],
                self.environment,
                60,
                folder=str(self._directory),
                terminal=True,
            )
            printed, code = done.stdout, done.returncode
        else:
            printed, code = self._shell(real)
        if command != "echo $?":
            self._exit_code = code
        printed = printed.replace(str(self.folder), FOLDER)
        printed = re.sub(rf"^info: using {FOLDER}/\S*runner.yaml\n", "", printed, flags=re.M)
        assert "Traceback" not in printed, printed
        return printed

    def read(self, path: str) -> str:
        """Return a file of the page's folder, as the page has it."""
        return (self.folder / path).read_text().replace(str(self.folder), FOLDER)

    def checked(self, text: str) -> str:
        """Return what is wrong with an SLS."""
        self.write(".fragments/states/fragment.sls", text)
        self.write(".fragments/runner.yaml", CONFIGURATION)
        answer = self.run(f"runner check fragment --config {FOLDER}/.fragments/runner.yaml")
        return "" if "No mistakes found." in answer else answer

    @property
    def exit_code(self) -> int:
        """The code of the last command that was no question for it."""
        return self._exit_code

    def _real(self, text: str) -> str:
        return text.replace(FOLDER, str(self.folder))

    def _shell(self, command: str) -> tuple[str, int]:
        """Run a command in bash, which leaves its directory and variables to the next one."""
        left = self.folder / ".programs/left"
        script = (
            f'(exit {self._exit_code})\n{command}\ncode=$?\n(pwd; env -0) > "{left}"\nexit $code'
        )
        ours, theirs = open_terminal()
        with subprocess.Popen(
            ["bash", "-c", script],
            cwd=self._directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        ) as shell:
            os.close(theirs)
            printed = read_terminal(ours, PATIENCE)
            code = shell.wait(PATIENCE)
        if left.exists():
            directory, _, variables = left.read_text().partition("\n")
            self._directory = Path(directory)
            pairs = (pair.partition("=") for pair in variables.split("\0") if pair)
            shells_own = ("PWD", "OLDPWD", "SHLVL", "_")
            self.environment = {key: value for key, _, value in pairs if key not in shells_own}
            left.unlink()
        return printed, code


def pictures(page: str) -> list[str]:
    """Return the files of the pictures of a page that its commands draw."""
    return re.findall(r"(?<!-->\n)!\[[^\]]*\]\(([\w-]+\.svg)\)", page)


def configuration_mistakes(text: str) -> list[str]:
    """Return what is wrong with a configuration."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runner.yaml"
        path.write_text(text)
        try:
            _, warnings = load.load(str(path), {"cachedir": folder}, {})
        except RunnerError as error:
            return [str(mistake) for mistake in error.diagnostics]
    return [str(mistake) for mistake in warnings if mistake.severity != "info"]


def _folder() -> Path:
    """Make a folder whose name is as long as the one of the pages, so that lines are."""
    while True:
        name = os.urandom(8).hex()[: len(Path(FOLDER).name)]
        folder = Path(FOLDER).parent / name
        try:
            folder.mkdir(0o755)
        except FileExistsError:
            continue
        return folder


def run_page(page: str, session: Session) -> tuple[list[str], str]:
    """Return what is not as the page says, and the page as it is right."""
    wrong: list[str] = []
    files: list[str] = []
    commands = 0
    corrected: list[tuple[tuple[int, int], str]] = []
    for block in blocks(page):
        if block.not_run:
            continue
        if block.file:
            session.write(block.file, block.text)
            files.append(block.file)
        elif block.language == "console":
            todo = steps(block)
            commands += len(todo)
            for step, following in zip(todo, [*todo[1:], None], strict=True):
                printed = session.run(step.command)
                asked = following is not None and following.command == "echo $?"
                if not matches(step.output, printed):
                    text = f"line {step.line}: $ {step.command}\nprinted:\n{printed}"
                    wrong.append(text + f"expected:\n{step.output}")
                    corrected.append((step.span, printed))
                if session.exit_code and not asked and step.command != "echo $?":
                    code = f"line {step.line}: $ {step.command}\nexits with {session.exit_code}:"
                    wrong.append(f"{code} `$ echo $?` has to follow; it printed\n{printed}")
        elif block.language == "sls":
            answer = session.checked(block.text)
            wrong += [f"line {block.line}: {answer}"] if answer else []
        elif block.language == "yaml":
            mistakes = configuration_mistakes(block.text)
            wrong += [f"line {block.line}: {mistake}" for mistake in mistakes]
        elif block.language in OWN_LANGUAGES:
            wrong.append(f"line {block.line}: neither a file nor a command, and not marked why")
    if files and not commands:
        wrong.append(f"no command uses {', '.join(files)}")
    for (start, end), printed in reversed(corrected):
        page = page[:start] + printed + page[end:]
    return wrong, page
