# SPDX-License-Identifier: Apache-2.0
"""file.patch: a patch is applied to a file or to the files of a folder."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any

from modules import cmd, file
from runner.api import AbsolutePath, Done, Plan, Planned, ShellWords, StateFailed, here
from states.file import _sources as sources
from states.file._contents import Encoding, Template, engine_of, source_data

# what would work against the state: it looks first, never asks, and says itself what is patched
# with what
REFUSED = {
    "-N": "--forward",
    "-f": "--force",
    "-t": "--batch",
    "-i": "--input",
    "-o": "--output",
    "-d": "--directory",
    "-r": "--reject-file",
    "-s": "--quiet",
}


@file.validated
def patch(
    name: AbsolutePath,
    source: str | None = None,
    source_hash: str | None = None,
    source_hash_name: str | None = None,
    skip_verify: bool = False,
    template: str | bool | None = None,
    context: dict[str, Any] | None = None,
    defaults: dict[str, Any] | None = None,
    options: ShellWords = "",
    reject_file: AbsolutePath | None = None,
    strip: int | None = None,
    saltenv: str | None = None,
) -> Planned:
    """Make sure that a patch is applied.

    name: The file, or the folder for a patch of several files.
    source: The patch (salt://, a path, http(s)://).
    source_hash, source_hash_name, skip_verify, context, defaults: As of file.managed.
    template: What renders the patch first, such as `jinja`.
    options: More options of the patch program.
    reject_file: The file that parts which do not fit are saved in.
    strip: How many leading parts of the paths in a patch for a folder do not count, as `patch -p`.
    saltenv: The environment that a salt:// file comes from.

        /opt/app/config.c:
          file.patch:
            - source: salt://app/config.patch

    Behaviour: Salt 3008's file.patch; a dry run looks at the patch too.
    """
    words, typed = _checked_options(options)
    strip = typed if strip is None else strip
    if not source:
        raise StateFailed("A patch (source) is required")
    if not file.exists(name):
        raise StateFailed(f"{name} does not exist", missing=("file", name))
    if reject_file and not file.is_dir(reject_file.rpartition("/")[0] or "/"):
        raise StateFailed(
            f"Parent directory for reject_file '{reject_file}' either does not exist, or is not a"
            " directory"
        )
    url = (
        f"{source}?saltenv={saltenv}"
        if saltenv and source.startswith("salt://") and "?" not in source
        else source
    )
    try:
        source_file = sources.locate(
            [url], name, sources.Verify(source_hash, source_hash_name, skip_verify), reuse=False
        )
    except StateFailed as failure:
        raise StateFailed(failure.message.replace(url, source), missing=failure.missing) from None
    variables = {**(defaults or {}), **(context or {})}
    rendering = Template(engine_of(template), variables)
    data = source_data(source_file, rendering, {"name": name}, Encoding())
    where = ["--directory", name, f"-p{strip or 0}"] if file.is_dir(name) else []
    return (yield from _Patch(data, name, where, words, reject_file).applied())


class _Patch:
    """A patch and how the program is called."""

    def __init__(
        self,
        data: bytes,
        path: str,
        folder: Sequence[str],
        words: Sequence[str],
        rejects: str | None,
    ) -> None:
        """folder: the options for a patch of its files; empty for one of the file itself."""
        self.text = data.decode("utf-8", "surrogateescape")
        self.path, self.folder, self.rejects = path, folder, rejects
        self.where, self.words = folder or [path], list(words)
        program = cmd.which("patch")
        if program is None:
            raise StateFailed("patch executable not found on minion", missing=("command", "patch"))
        self.program = file.in_little_memory(program, len(data))

    def applied(self) -> Planned:
        """Look whether it fits and is not there yet, then apply it."""
        reverse = not ({"-R", "--reverse"} & set(self.words))
        backwards = [] if not reverse else ["--reverse"]
        forwards = [word for word in self.words if word not in ("-R", "--reverse")]
        if self._look([*backwards, "--force", *forwards]).retcode == 0 and self.text.strip():
            return "Patch was already applied"
        would = self._look(["--forward", *self.words])
        if would.retcode:
            return (yield from self._refused(self._refusal(would)))
        yield Plan(_shown_output(would), "The patch would be applied")
        argv = [*self.program, f"--reject-file={self.rejects or '-'}", "--forward"]
        names = _names(would.stdout) if self.folder else []
        env = file.own_temporary_files()
        done = (
            file.apply_patch(self.path, [*argv, *self.folder[2:]], self.words, self.text, names)
            if names or not self.folder
            else cmd.execute([*argv, *self.words, *self.where], stdin=self.text, env=env)
        )
        if done.retcode:
            raise StateFailed("Failed to apply patch", changes=_shown_output(done))
        return Done("Patch successfully applied", _shown_output(done))

    def _refused(self, message: str) -> Planned:
        """Fail; a real run keeps what does not fit, where that was asked for."""
        if self.rejects is None or "hunk" not in message.lower():
            raise StateFailed(message)

        def refuse() -> None:
            raise StateFailed(f"{message}\n\nThe rejects would be saved to {self.rejects}")

        yield Plan({}, message, in_dry_run=refuse)
        reject_path = f"{here.scratch()}/rejects"
        output = ["--force", f"--reject-file={reject_path}", f"--output={here.scratch()}/patched"]
        argv = [*self.program, *output, "--forward", *self.words, *self.where]
        cmd.probe(argv, stdin=self.text, env=file.own_temporary_files())
        file.write(self.rejects, file.read_bytes(reject_path))
        raise StateFailed(f"{message}\n\nThe rejects are saved to {self.rejects}", changes={})

    def _look(self, words: Sequence[str]) -> cmd.Completed:
        argv = [*self.program, "--reject-file=-", "--dry-run", *words, *self.where]
        return cmd.complete(
            argv, stdin=self.text, env=file.own_temporary_files(), python_shell=False
        )

    def _refusal(self, would: cmd.Completed) -> str:
        output = "\n".join(part for part in (would.stdout, would.stderr) if part)
        if "garbage" in output:
            return output
        more = (
            ""
            if self.rejects
            else (
                " Run state again using the reject_file option to save rejects to a persistent"
                " file."
            )
        )
        return (
            "Patch would not apply cleanly, no changes made. Results of dry-run are"
            f" below.{more}\n\n{output}"
        )


def _names(output: str) -> list[str]:
    """The files that the patch program says it would change; none where it says more of one."""
    start = "checking file "
    names = [line.removeprefix(start) for line in output.split("\n") if line.startswith(start)]
    plain = re.compile(r"(?!/|.*\.\.)[\w./+-]+")
    return names if all(map(plain.fullmatch, names)) else []


def _shown_output(done: cmd.Completed) -> dict[str, Any]:
    stdout = done.stdout.replace("checking file ", "patching file ")
    return {"pid": done.pid, "retcode": done.retcode, "stdout": stdout, "stderr": done.stderr}


def _checked_options(options: str) -> tuple[list[str], int | None]:
    """The options to hand on, and the number of folders that -p or --strip among them takes off."""
    words, strip = _take_strip_level(shlex.split(options))
    long = tuple(REFUSED.values())
    refused = [word for word in words if word[:2] in REFUSED or word.startswith(long)]
    if refused:
        raise StateFailed(f"The following CLI options are not allowed: {', '.join(refused)}")
    return words, strip


def _take_strip_level(words: list[str]) -> tuple[list[str], int | None]:
    rest, level = [], None
    remaining = iter(words)
    for word in remaining:
        if not word.startswith(("-p", "--strip")):
            rest.append(word)
            continue
        digits = word.removeprefix("--strip").removeprefix("-p").removeprefix("=") or next(
            remaining, ""
        )
        if not digits.isdecimal():
            raise StateFailed(
                "Invalid format for '-p' CLI option. Consider using the 'strip' option for this"
                " state."
            )
        level = int(digits)
    return rest, level
