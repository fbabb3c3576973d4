# SPDX-License-Identifier: Apache-2.0
"""Configuration files as trees, through augtool and the lenses of Augeas.

augtool works in a copy of the files that a command names, below the scratch folder, so that the
same run of it tells a dry run what would be written; `file.write` then writes it. The Python
bindings would have to be installed beside runner itself, and a fault in the library's C code would
end runner.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from modules import _paths, cmd, file
from modules._machine.processes import needs
from modules._texts.lines import one_line
from runner.api import Record, StateFailed, changer, fetcher, for_states, here

NEEDS_PROGRAM = "augtool"  # without it templates find no function of this module
PACKAGE = "augeas-tools"
# commands by the names that they may have, and which of their words are paths
COMMANDS = {
    "set": (0,),
    "setm": (0,),
    "clear": (0,),
    "clearm": (0,),
    "touch": (0,),
    "rm": (0,),
    "mv": (0, 1),
    "ins": (2,),
    "rename": (0,),
    "defvar": (1,),
    "defnode": (1,),
}
ALIASES = {"move": "mv", "insert": "ins", "remove": "rm"}
ERRORS = "print /augeas//error"
MOST_FILES, MOST_BYTES = 2000, 1 << 20  # of a path with wildcards; of each file
_LENS = re.compile(r"@?[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)?")
_WORD = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\[[^\]]*\]|\\.|[^\s"'])+""")


class AugeasEdit(Record):
    """A file before and after; None where there is none."""

    path: str
    old: bytes | None
    new: bytes | None


class _Command(Record):
    """A command of augtool, and the paths that it names."""

    line: str
    paths: tuple[str, ...]


class _Session(Record):
    """What augtool works on. root: its own root folder. files: those that are copied there. words:
    its options.
    """

    root: str
    files: tuple[str, ...]
    words: tuple[str, ...]


# ---------------------------------------------------------------- looks


def get(path: str, value: str = "", load_path: str | None = None) -> dict[str, str | None]:
    """The value of a node; None where it has none, or there is no such node.

    value: a node below the path. load_path: folders with more lenses, separated by colons.

        {{ salt['augeas.get']('/files/etc/hosts/1', 'ipaddr') }}
    """
    node = f"{path.rstrip('/')}/{value.strip('/')}" if value else path.rstrip("/")
    return {node: _matches(node, load_path).get(node)}


def match(path: str, value: str = "", load_path: str | None = None) -> dict[str, str | None]:
    """The nodes that an expression matches, with their values. value: only those that have it.

    {{ salt['augeas.match']('/files/etc/hosts/*/ipaddr') }}
    """
    nodes = _matches(path, load_path)
    return {node: text for node, text in nodes.items() if not value or text == value}


def ls(path: str, load_path: str | None = None) -> dict[str, str | None]:
    """The nodes directly below a node: their labels with their values.

    {{ salt['augeas.ls']('/files/etc/hosts/1') }}
    """
    nodes = _matches(f"{path.rstrip('/')}/*", load_path)
    return {node.rpartition("/")[2]: text for node, text in nodes.items()}


def tree(path: str, load_path: str | None = None) -> dict[str, str | None]:
    """A node and all below it, with their values.

    {{ salt['augeas.tree']('/files/etc/fstab') | json }}
    """
    base = path.rstrip("/")
    return _matches(base, load_path) | _matches(f"{base}//*", load_path)


def _matches(expression: str, load_path: str | None) -> dict[str, str | None]:
    line = f"match {one_line(expression, 'the path')}"
    session = _session([expression], None, None, _folders(load_path))
    status, output, errors = _augtool(session, [line])
    if status:
        raise StateFailed(_reason(errors))
    nodes: dict[str, str | None] = {}
    last = ""
    for text in output.splitlines():
        if text.startswith("/"):
            last, separator, content = text.partition(" = ")
            nodes[last] = None if not separator or content == "(none)" else content
        elif last and nodes[last] is not None:  # the value has several lines
            nodes[last] = f"{nodes[last]}\n{text}"
    return nodes


# ---------------------------------------------------------------- changes


@for_states
def edits(
    commands: Sequence[str],
    context: str | None = None,
    lens: str | None = None,
    load_path: Sequence[str] = (),
) -> list[AugeasEdit]:
    """Return what commands make of files, without writing any of them.

    commands: as in an SLS, "set 1/canonical name". context: what paths that do not begin with a
    slash are below. lens: reads the files, "Hosts.lns". load_path: folders with more lenses. Raises
    StateFailed for what augtool refuses.
    """
    context = one_line(context.rstrip("/"), "context") if context else None
    parsed = [_command(command, context) for command in commands]
    paths = [path for command in parsed for path in command.paths]
    session = _session(paths, context, lens, load_path)
    before = {path: file.read_bytes(path) for path in session.files}
    checks = [*(f"match /augeas/files{_quoted(path)}/path" for path in before), ERRORS]
    status, output, errors = _augtool(
        session, [*checks, *(command.line for command in parsed), "save", ERRORS]
    )
    if "Can not find lens" not in errors:
        _refuse_unread(session, output)
    if status:
        raise StateFailed(_put_failure(output) or _reason(errors))
    after = dict(_written(session.root))
    paths = sorted(before.keys() | after.keys())
    return [
        AugeasEdit(path, before.get(path), after.get(path))
        for path in paths
        if before.get(path) != after.get(path)
    ]


@changer(touches=[], planned=True)
def write(changes: Sequence[AugeasEdit]) -> None:
    """Write files as `edits` returned them. Raises StateFailed for one that has changed since."""
    for edit in changes:
        present = file.read_bytes(edit.path) if file.is_file(edit.path) else None
        if present != edit.old:
            raise StateFailed(f"{edit.path} was changed meanwhile by somebody else")
        if edit.new is None:
            file.remove(edit.path)
        else:
            file.write(edit.path, edit.new)


@changer(touches=[])
def execute(
    context: str | None = None,
    lens: str | None = None,
    commands: Sequence[str] = (),
    load_path: str | None = None,
) -> dict[str, bool | str]:
    """Carry out commands: whether that worked (retval), and why not (error).

    context: what paths that do not begin with a slash are below. lens: reads the files. load_path:
    folders with more lenses, separated by colons.
    """
    try:
        write(edits(commands, context, lens, _folders(load_path)))
    except StateFailed as failure:
        return {"retval": False, "error": failure.message}
    return {"retval": True}


def setvalue(*args: str, prefix: str | None = None) -> dict[str, bool | str]:
    """Set values: a path, its value, a path, its value, ...; whether that worked (retval).

    prefix: what the paths are below.
    """
    base = f"{prefix.rstrip('/')}/" if prefix else ""
    pairs = zip(args[::2], args[1::2], strict=False)
    commands = [f"set {base}{path.lstrip('/') if base else path} {_text(v)}" for path, v in pairs]
    return execute(commands=commands)


def remove(path: str) -> dict[str, bool | str]:
    """Remove the nodes that an expression matches; whether that worked (retval)."""
    return execute(commands=[f"rm {path}"])


def _text(value: object) -> str:
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _command(text: str, context: str | None) -> _Command:
    """A command, whose paths begin at the root: augtool takes what begins with a digit for a
    number.
    """
    line = one_line(text, "a command of changes").strip()
    word, _, rest = line.partition(" ")
    name = ALIASES.get(word, word)
    if name not in COMMANDS or not rest.strip():
        known = ", ".join((*COMMANDS, *ALIASES))
        raise StateFailed(f"Command {word} is not supported (these are: {known})")
    paths = []
    for index, place in reversed(list(enumerate(_WORD.finditer(rest)))):
        if index not in COMMANDS[name]:
            continue
        path = place[0].strip("\"'")
        if path.startswith("/augeas/save"):
            raise StateFailed("/augeas/save is not to be set: runner writes the files")
        if context and not path.startswith(("/", "$")):
            whole = place[0].replace(path, f"{context}/{path}", 1)
            rest = rest[: place.start()] + whole + rest[place.end() :]
            path = f"{context}/{path}"
        paths.append(path)
    return _Command(f"{name} {rest.strip()}", tuple(paths))


# ---------------------------------------------------------------- augtool and its copy of files


@fetcher
def _session(
    paths: Sequence[str], context: str | None, lens: str | None, load_path: Sequence[str]
) -> _Session:
    """Copy the files that paths name, for augtool."""
    needs("augtool", PACKAGE)
    root = f"{here.scratch()}/augeas"
    os.makedirs(root, exist_ok=True)
    files: dict[str, None] = {}
    new = []
    for path in [*paths, *([context] if context else [])]:
        if path.startswith("/files/"):
            named = list(_files_of(path.removeprefix("/files"), root))
            files |= dict.fromkeys(named)
            new += [] if named else [path.removeprefix("/files").rstrip("/")]
    for path in files:
        _copy(path, root)
    words = [word for folder in load_path for word in ("-I", folder)]
    if lens is not None:
        words += _transforms(lens, list(files) or new[-1:])
    return _Session(root, tuple(files), tuple(words))


def _transforms(lens: str, files: Sequence[str]) -> list[str]:
    if not _LENS.fullmatch(lens):
        raise StateFailed(f"{lens!r} is no name of a lens; one is written as Hosts.lns")
    if not files:
        raise StateFailed("lens: the context has to name the file that it reads")
    words = ["-A"]
    for path in files:
        if re.search(r"\s", path):
            raise StateFailed(f"lens: a file whose name has a space cannot be read by one: {path}")
        words += ["-t", f"{lens} incl {path}"]
    return words


def _files_of(path: str, root: str) -> Iterator[str]:
    """The files that the beginning of a path names, which may have wildcards and names nodes from
    some place on. The folders on the way are made below the root.
    """
    at = ""
    for part in re.split(r"(?<!\\)/", path.lstrip("/")):
        if part in ("", ".") or re.search(r"(?<!\\)[*\[(]", part):
            yield from _below(at or "/", root)
            return
        if part == "..":
            raise StateFailed(f"a path of Augeas has no ..: {path}")
        at += "/" + re.sub(r"\\(.)", r"\1", part)
        if file.is_file(at):
            yield at
            return
        if not file.is_dir(at):
            return
        os.makedirs(root + at, exist_ok=True)
    yield from _below(at, root)


def _below(folder: str, root: str) -> Iterator[str]:
    count = 0
    for above, folders, names in _paths.walk(folder):
        folders.sort()
        os.makedirs(root + above, exist_ok=True)
        for name in sorted(names):
            path = os.path.join(above, name)
            if _paths.isfile(path) and _paths.stat(path).st_size <= MOST_BYTES:
                count += 1
                if count > MOST_FILES:
                    raise StateFailed(
                        f"below {folder} are more than {MOST_FILES} files: name the one that is"
                        " meant, /files/etc/hosts"
                    )
                yield path


def _copy(path: str, root: str) -> None:
    copy = root + path
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    with open(copy, "wb") as stream:
        stream.write(file.read_bytes(path))


def _augtool(session: _Session, lines: Sequence[str]) -> tuple[int, str, str]:
    """(exit code, output, errors) of commands."""
    argv = ["augtool", "--root", session.root, *session.words]
    done = cmd.probe(argv, stdin="\n".join([*lines, ""]), env={"AUGEAS_ROOT": session.root})
    errors = "\n".join(line for line in done.stderr.splitlines() if line)
    return done.retcode, done.stdout, errors


def _written(root: str) -> Iterator[tuple[str, bytes]]:
    for above, _, names in _paths.walk(root):
        for name in names:
            path = os.path.join(above, name)
            with _paths.open_bytes(path) as stream:
                yield path.removeprefix(root), stream.read()


def _refuse_unread(session: _Session, output: str) -> None:
    """Raise StateFailed where the only file that is named has no lens, or its lens cannot read
    it.
    """
    if len(session.files) != 1:
        return
    (path,) = session.files
    error = f"/augeas/files{path}/error"
    if f'{error} = "parse_failed"' in output:
        line = re.search(rf'^{re.escape(error)}/line = "(\d+)"', output, re.MULTILINE)
        where = f", line {line[1]}" if line else ""
        raise StateFailed(f"{path}{where}: its lens cannot read it: {_message(output)}")
    if f"/augeas/files{_quoted(path)}/path = " not in output:
        raise StateFailed(
            f"no lens reads {path}: name the one that does with `lens`, for example Shellvars.lns"
        )


def _quoted(path: str) -> str:
    return re.sub(r"([\s\[\]|=()!,*\\])", r"\\\1", path)


def _put_failure(output: str) -> str:
    """The reason why a tree cannot be written as its file, in one line."""
    failed = re.search(r'^/augeas/files(.*)/error = "(?!parse_failed)', output, re.MULTILINE)
    return f"{failed[1]} cannot be written: {_message(output)}" if failed else ""


def _message(output: str) -> str:
    text = re.search(r'/error/message = "(.*)"$', output, re.MULTILINE)
    return " ".join(text[1].replace("\\n", " ").replace("\\t", " ").split()) if text else ""


def _reason(errors: str) -> str:
    lines = [line for line in errors.splitlines() if not line.startswith("error: Failed to exec")]
    return "; ".join(lines) or "augtool failed"


def _folders(load_path: str | None) -> list[str]:
    return [folder for folder in (load_path or "").split(":") if folder]
