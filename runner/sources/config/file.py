# SPDX-License-Identifier: Apache-2.0
"""Reading and checking the configuration file."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress

from runner.model import diagnostics, ordered_dict, paths, plain_values, said_in
from runner.model.errors import CompileError, Diagnostic, RunnerError, UsageError
from runner.model.places import Document, Source, Untyped, position_in
from runner.sources.config import jinja_options, key_descriptions, report, unused_keys
from runner.sources.config.keys import (
    KINDS,
    NOTIFYING,
    NUMBER,
    SETTINGS,
    TEXT,
    choices,
    entries,
    is_known,
    may_be_odd,
    nearest,
    types,
)
from runner.sources.trees import source
from runner.support.files.text import read_bounded
from runner.support.yaml import errors, limits, simple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

LoadYaml = Callable[[str, Document], "Any"]  # raises RunnerError


def is_minion_config(path: str) -> bool:
    """Return whether this is a Salt minion's own file, whose other folders are Salt's."""
    whole = os.path.abspath(path)
    return os.path.basename(whole) == "minion" or os.path.basename(os.path.dirname(whole)) == "salt"


def read_settings(
    path: str, load_yaml: LoadYaml, warnings: list[Diagnostic], files: list[str], within: str = ""
) -> dict[str, Any]:
    """The keys of the file and of those it includes, a later file's key over an earlier one's,
    checked; below `said_in.KEY` which file said those of included ones. Raises UsageError for one
    mistake in them, CompileError for several.

    files: gets the files that were read. within: a folder that no include may leave.
    """
    problems: list[Diagnostic] = []
    reader = _ConfigurationFiles(load_yaml, warnings, within)
    main = reader.settings(path)
    default = main.get("default_include") or (
        "minion.d/*.conf" if is_minion_config(path) else "runner.d/*.yaml"
    )
    others = reader.included("default_include", default, path)
    others |= reader.included("include", main.get("include") or [], path)
    values = {**main, **others}
    (_, *included), checked = reader.read, reader.read
    folder = os.path.dirname(os.path.abspath(path))
    said = {key: (file, folder) for file, own in included for key in own}
    files += [file for file, _ in checked]
    for file, settings in checked:
        warnings += [
            Diagnostic(
                f"{key} has no effect in runner",
                place_of(file, key),
                instead,
                "unused-key",
                "warning",
                subject=key,
            )
            for key, instead in _unused(settings)
        ]
        for problem in (*_jinja_option_problems(file, settings), *_tree_problems(file, settings)):
            (problems if problem.severity == "error" else warnings).append(problem)
        for find in (_report_problems, _command_problems, _page_problems):
            problems += find(file, settings)
        for key, value in settings.items():
            complaint = _value_problem(key, value) or _range_problem(key, value)
            if complaint:
                message, hint, severity = complaint
                problem = Diagnostic(message, place_of(file, str(key)), hint, "config", severity)
                (problems if severity == "error" else warnings).append(problem)
    if len(problems) == 1:
        raise UsageError(problems[0].message, problems[0].source, problems[0].hint, "config")
    if problems:
        raise CompileError(problems)
    return {**values, said_in.KEY: said} if said else values


def _unused(settings: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """The keys without effect, and what to use: most configurations have none."""
    in_part = ("fileserver_backend", "gitfs_remotes")
    odd = any(key not in SETTINGS or key in in_part for key in settings)
    return unused_keys.unused(settings) if odd else ()


def _jinja_option_problems(file: str, settings: dict[str, Any]) -> Iterator[Diagnostic]:
    """Options of Jinja that it does not have, or that are not what it takes."""
    options = [
        (key, *option)
        for key in ("jinja_env", "jinja_sls_env")
        if isinstance(settings.get(key), dict)
        for option in settings[key].items()
    ]
    for key, name, value in options:
        place = place_of(file, key, str(name))
        if name not in jinja_options.NAMES:
            known = jinja_options.NAMES
            hint = diagnostics.did_you_mean(str(name), known) or f"there are {', '.join(known)}"
            yield Diagnostic(
                f"{key}: Jinja has no option {name!r}", place, hint, "config", "warning"
            )
        elif not isinstance(
            value, (str | None) if name in jinja_options.TEXTS else (bool | int | None)
        ):
            kind = "a text" if name in jinja_options.TEXTS else "true or false"
            yield Diagnostic(
                f"{key}: {name} has to be {kind}, not {value!r}",
                place,
                _remedy(name, value),
                "config",
            )
        elif value == "" and name.endswith("_string"):
            yield Diagnostic(
                f"{key}: {name} is empty", place, "remove it: Jinja has its own", "config"
            )


def _tree_problems(file: str, settings: dict[str, Any]) -> Iterator[Diagnostic]:
    """Mistakes below `tree`."""
    if isinstance(settings.get("tree"), dict):
        for keys, message, hint, severity in source.mistakes(settings["tree"]):
            yield Diagnostic(message, place_of(file, *keys), hint, "config", severity)


def is_within(folder: str, path: str) -> bool:
    """Return whether a path leads to a folder, or to something in it."""
    return paths.lies_in(os.path.realpath(path), os.path.realpath(folder))


def _report_problems(file: str, settings: dict[str, Any]) -> list[Diagnostic]:
    """Return what is wrong with `report:`, without a password."""
    if settings.get("report") is None:
        return []
    problems = []
    for mistake in report.mistakes(settings["report"]):
        place = place_of(file, "report", *([mistake.key] if mistake.key else []))
        # the line may have a password, under a key that was mistyped
        problems.append(
            Diagnostic(mistake.message, place._replace(hidden=True), mistake.hint, "config")
        )
    return problems


def _command_problems(file: str, settings: dict[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the commands that a run calls at its end."""
    for key in NOTIFYING:
        lines = settings.get(key)
        if not isinstance(lines, list | str):  # none, or what the table of types refuses
            continue
        if isinstance(lines, str) and lines.strip():  # for a shell
            continue
        if lines and all(
            isinstance(line, list)
            and line
            and all(isinstance(word, str) and "\0" not in word for word in line)
            for line in lines
        ):
            continue
        yield Diagnostic(
            f"{key} has to be a list of commands, each a list of words, or a text for a shell",
            place_of(file, key),
            f"write `{key}: [[mail, -s, runner failed, root]]`, numbers in quotes,"
            f" or `{key}: 'mail -s \"runner failed\" root'`",
            "config",
        )


def _page_problems(file: str, settings: dict[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is not as its page has it: below `foresee` and `fleet`, and keys of modules."""
    for key, value in settings.items():
        if key in ("foresee", "fleet") and isinstance(value, dict):
            known = [
                name.partition(".")[2]
                for name in key_descriptions.pages()
                if name.startswith(f"{key}.")
            ]
            for name, inner in value.items():
                hint = None
                if name in known:
                    wrong = _unlike(key_descriptions.pages()[f"{key}.{name}"].type, inner)
                else:
                    wrong = "is not known"
                    near = diagnostics.did_you_mean(str(name), known)
                    hint = near or f"there are {', '.join(known)}"
                if wrong:
                    place = place_of(file, key, str(name))
                    yield Diagnostic(f"{key}: {name} {wrong}", place, hint, "config")
        elif "." in str(key) and value is not None and (page := key_descriptions.pages().get(key)):
            kind = page.type
            if isinstance(value, str) and value.isdecimal() and kind == NUMBER:
                continue
            if _unlike(kind, value):  # without the value, which may be a password
                hint = "write it in quotes" if isinstance(value, int | float) else None
                place = place_of(file, key)._replace(hidden=True)
                yield Diagnostic(f"{key} has to be {kind}", place, hint, "config")


def _unlike(kind: str, value: Any) -> str:
    """What is wrong with a value that is to be what its page says ("one of a, b"); empty: nothing.

    A number is not negative, and there is a time or a size of that many.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {
        "a number": is_number,
        NUMBER: is_number and isinstance(value, int),
        TEXT: isinstance(value, str),
        "true": value is True,
        "false": value is False,
        "a list of texts": isinstance(value, list)
        and all(isinstance(each, str) and each for each in value),
    }
    texts = kind.removeprefix("one of ").split(", ") if kind.startswith("one of ") else ()
    if not (value in texts if texts else any(fits[one] for one in kind.split(" or "))):
        return f"has to be {kind}, not {value!r}"
    if is_number and not 0 <= value <= plain_values.LONGEST_TIME:
        return f"has to be from 0 to {plain_values.LONGEST_TIME}, not {value}"
    return ""


def is_store(value: Any) -> bool:
    """Return whether the value of a key configures a store of values (`sdb://KEY/...`)."""
    return isinstance(value, Mapping) and "driver" in value


def _range_problem(key: Any, value: Any) -> tuple[str, str | None, str] | None:
    """The same of a time that no clock can measure."""
    if key not in ("timeout", "render_limit") or value is None:
        return None
    most = plain_values.LONGEST_TIME
    if 0 <= value <= most:
        return None
    return f"{key} has to be seconds, from 0 to {most}, not {value}", None, "error"


def _value_problem(key: Any, value: Any) -> tuple[str, str | None, str] | None:
    """(message, hint, severity) of what is wrong with one key."""
    if not is_known(key) and not is_store(value):
        near = nearest(key)
        hint = diagnostics.odd_space_hint(key) or (diagnostics.suggestion(near) if near else None)
        return f"unknown configuration key {key!r}", hint, "warning"
    if "\0" in str(value):
        return f"{key} contains a NUL character", None, "error"
    wanted = types(key)
    if value is not None and wanted:
        fits = any(isinstance(value, KINDS[kind]) for kind in wanted)
        if not fits and not (key == "id" and isinstance(value, int)):
            return (
                f"{key} has to be {' or '.join(wanted)}, not {value!r}",
                _remedy(key, value) or f"`runner doc config {key}` describes it",
                "error",
            )
    wrong = _entry_problem(key, [value] if isinstance(value, str) else value)
    if wrong:
        return f"{key}: {wrong}", None, "error"
    texts = choices(key)
    if isinstance(value, str) and texts and value not in texts:
        severity = "warning" if may_be_odd(key) else "error"
        return f"{key}: there is no {value!r}", f"one of {', '.join(texts)}", severity
    if key == "nodegroups" and isinstance(value, dict):
        for name, members in value.items():
            if not isinstance(members, str) and not (
                isinstance(members, list) and all(isinstance(member, str) for member in members)
            ):
                hint = f"write\n    nodegroups:\n      {name}: 'web* and G@os:Debian'"
                return (
                    f"nodegroups: {name} has to be a compound target, not {members!r}",
                    hint,
                    "error",
                )
    if key in ("file_roots", "pillar_roots") and isinstance(value, dict):
        for env, folders in value.items():
            if not isinstance(folders, list | str | None) or not all(
                isinstance(folder, str) for folder in folders or ()
            ):
                return (
                    f"{key}: {env} has to be a list of folders, not {folders!r}",
                    _remedy(key, None),
                    "error",
                )
    return None


def _entry_problem(key: str, values: Any) -> str | None:
    """The first mistake in the entries of a list; None without one."""
    wanted = entries(key)
    for value in values if isinstance(values, list) else ():
        if wanted and not any(isinstance(value, KINDS[kind]) for kind in wanted):
            return f"{value!r} is not {' or '.join(wanted)}"
        if key == "file_ignore_regex" and (problem := _expression_problem(value)):
            return problem
    return None


def _expression_problem(value: str) -> str | None:
    try:
        re.compile(value)
    except re.error as error:
        return f"{value!r} is not a regular expression: {error}"
    return None


def _remedy(key: str, value: Any) -> str | None:
    if key in ("file_roots", "pillar_roots"):
        folder = (
            value
            if isinstance(value, str)
            else f"/srv/{'salt' if key == 'file_roots' else 'pillar'}"
        )
        return f"write\n    {key}:\n      base:\n        - {folder}"
    if FLAGS.get(str(value).lower()) is not None:
        return f"write {FLAGS[str(value).lower()]}, without quotes"
    return None


FLAGS = {
    "true": "true",
    "yes": "true",
    "on": "true",
    "1": "true",
    "false": "false",
    "no": "false",
    "0": "false",
}


class _ConfigurationFiles:
    """Reads the file and those that it includes, each with its settings."""

    def __init__(self, load_yaml: LoadYaml, warnings: list[Diagnostic], within: str) -> None:
        self._load_yaml, self._warnings, self._within = load_yaml, warnings, within
        self.read: list[tuple[str, dict[str, Any]]] = []

    def settings(self, path: str, named: tuple[str, str] | None = None) -> dict[str, Any]:
        """The settings of one. named: the file and the key that include it."""
        self.read.append((path, _read(path, self._load_yaml, named, self._warnings)))
        return self.read[-1][1]

    def included(
        self, key: str, patterns: Any, file: str, above: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """The settings of the files that a key names; those of several are laid over each other at
        every depth, as with Salt. above: those that include it.
        """
        merged: dict[str, Any] = {}
        folder = os.path.dirname(os.path.abspath(file))
        for pattern in patterns if isinstance(patterns, list) else [patterns]:
            for more in expand(os.path.join(folder, str(pattern))):
                if self._within and not is_within(self._within, more):
                    message = f"{key} leads out of the tree, to {more}"
                    raise UsageError(message, place_of(file, key), "name its files")
                if more in above:
                    raise UsageError(f"{more} includes itself", place_of(file, key))
                if not os.path.lexists(more):
                    told = f"{key}: there is no file {more}", place_of(file, key), None
                    self._warnings.append(Diagnostic(*told, "config", "warning"))
                    continue
                own = self.settings(more, (file, key))
                inner = self.included("include", own.get("include") or [], more, (*above, more))
                merged = ordered_dict.recurse(merged, {**own, **inner}, lists=True)
        return merged


def _read(
    path: str,
    load_yaml: LoadYaml,
    named: tuple[str, str] | None = None,
    warnings: list[Diagnostic] | None = None,
) -> dict[str, Any]:
    """The settings of a file. named: the file and the key that include it. warnings: gets those of
    its text.
    """

    def by() -> Source | None:
        return place_of(*named) if named else None

    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise UsageError(f"the configuration file {path} is not a regular file", by())
        text = read_bounded(path).decode("utf-8")
    except OSError as error:
        message = f"the configuration file {path} cannot be read: {error.strerror}"
        raise UsageError(message, by()) from None
    except UsageError:
        raise
    except RunnerError as error:
        raise UsageError(f"the configuration file {error.message}", by()) from None
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        last = before.rpartition(b"\n")[2].decode("utf-8", "replace")
        place = Source(path, before.count(b"\n") + 1, len(last) + 1)
        message = f"the configuration file {path} cannot be read: it is not UTF-8"
        raise UsageError(message, place, "save it as UTF-8") from None
    if "\0" in text:
        place = Source(path, *position_in(text, text.index("\0")))
        raise UsageError("the configuration contains a NUL character", place, "remove it")
    value = load_yaml(text, Untyped(path))
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UsageError(
            "the configuration is not a mapping", Source(path, 1, 1), "write `key: value` lines"
        )
    if warnings is not None:
        warnings += _repeated(text, path)
    return value


def _repeated(text: str, path: str) -> Iterator[Diagnostic]:
    """Warnings of keys that stand in a file twice: YAML takes the last value without a word."""
    open_: list[tuple[int, dict[str, int]]] = []  # mappings: their columns, the lines of their keys
    literal = -1  # the column of the key whose text follows
    for number, line in enumerate(text.split("\n"), 1):
        column = len(line) - len(line.lstrip(" -"))
        key, colon, rest = line[column:].partition(":")
        if not colon or not key.isidentifier() or rest[:1].strip() or column > literal >= 0:
            continue
        literal = column if rest.strip()[:1] in ("|", ">") else -1
        begins = "-" in line[:column]
        while open_ and (open_[-1][0] > column or (begins and open_[-1][0] == column)):
            open_.pop()
        if not open_ or open_[-1][0] < column:
            open_.append((column, {}))
        lines = open_[-1][1]
        if key in lines:
            message = f"the key {key!r} is also in line {lines[key]}; this one counts"
            place = Source(path, number, column + 1)
            yield Diagnostic(message, place, "remove one", "config", "warning")
        lines[key] = number


def safe_load(text: str, document: Document) -> Any:
    """The value of a configuration file's text. Raises UsageError when it is not YAML."""
    with suppress(simple.NotSimple):
        return simple.read_plain(text)
    import yaml

    try:
        return limits.plain(text)
    except (yaml.YAMLError, ValueError) as error:
        mistake = (
            errors.explain(error, text, document.source)
            if isinstance(error, yaml.MarkedYAMLError)
            else errors.unreadable(error, text)
        )
        place = document.source(mistake.line, mistake.column) if mistake else document.source(0, 0)
        what = mistake.message if mistake else str(getattr(error, "problem", error))
        raise UsageError(
            f"the configuration is not YAML: {what}", place, mistake and mistake.hint
        ) from None


def place_of(path: str | None, *keys: str) -> Source:
    """The place of a key of the configuration, as far as the file has it."""
    import yaml

    if not path:
        return Source("the configuration")
    with open(path, encoding="utf-8") as file:
        node: yaml.Node | None = yaml.compose(file, Loader=yaml.SafeLoader)
    place = Source(path)
    for key in keys:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        name, node = next(
            ((name, inner) for name, inner in pairs if name.value == str(key)), (None, None)
        )
        if name is None:
            break
        place = Source(path, name.start_mark.line + 1, name.start_mark.column + 1)
    return place


def setting_place(settings: Mapping[str, Any], *keys: str) -> Source:
    """The place of a key, or of a name below it, in the file of the configuration that says it."""
    return place_of(said_in.key_file(settings, keys[0]), *keys)


def expand(pattern: str) -> list[str]:
    """The paths that a glob means, sorted; a path without marks is itself."""
    if "\0" in pattern:
        return []  # told with the key's other mistakes
    if not any(mark in pattern for mark in "*?["):
        return [pattern]
    folder, name = os.path.split(pattern)
    if name.count("*") == 1 and not any(mark in pattern for mark in "?[") and "*" not in folder:
        return _beginning_and_ending(folder, *name.split("*"))
    return sorted(glob.glob(pattern))


def _beginning_and_ending(folder: str, start: str, end: str) -> list[str]:
    """The paths that `folder/start*end` means, as `glob` finds them, sorted."""
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return []
    return sorted(
        os.path.join(folder, name)
        for name in names
        if name.startswith(start)
        and name.endswith(end)
        and len(name) >= len(start) + len(end)
        and (start or name[0] != ".")
    )


def own_grains_of(path: str, load_yaml: LoadYaml) -> dict[str, Any]:
    """The static grains in the file `grains` beside the configuration; the configuration's own win
    over them.
    """
    file = os.path.join(os.path.dirname(os.path.abspath(path)), "grains")
    return _read(file, load_yaml) if os.path.isfile(file) else {}
