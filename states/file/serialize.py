# SPDX-License-Identifier: Apache-2.0
"""file.serialize: data written as YAML, JSON, TOML and the like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modules import file, pillar
from modules.slsutil import serializers as kinds
from modules.slsutil.merging import merged
from runner.api import Done, FilePath, Mode, Plan, Planned, StateFailed, TextEncoding, here
from states.file.managed import managed

LACKING = object()
COMMENTS = {"yaml": ("#",), "toml": ("#",), "configparser": ("#", ";"), "ini": ("#", ";")}


@file.validated
def serialize(
    name: FilePath,
    dataset: Any = None,
    dataset_pillar: str | None = None,
    user: str | int | None = None,
    group: str | int | None = None,
    mode: Mode | None = None,
    backup: str | bool | None = None,
    makedirs: bool = False,
    dir_mode: Mode | None = None,
    show_changes: bool = True,
    create: bool = True,
    merge_if_exists: bool = False,
    encoding: TextEncoding | None = None,
    encoding_errors: str = "strict",
    serializer: str | None = None,
    formatter: str | None = None,
    serializer_opts: list[dict[str, Any]] | dict[str, Any] | None = None,
    deserializer_opts: list[dict[str, Any]] | dict[str, Any] | None = None,
    check_cmd: str | None = None,
    tmp_dir: str | None = None,
    tmp_ext: str | None = None,
) -> Planned:
    """Write data to a file in some format.

    name: The file.
    dataset: The data to write.
    dataset_pillar: The pillar's key that has the data.
    user, group, mode, backup, makedirs, dir_mode, show_changes, create, encoding, encoding_errors,
      check_cmd, tmp_dir, tmp_ext: As of file.managed.
    merge_if_exists: Merge the data into those of a file that is there (not its comments); both have
      to be mappings. An empty file has none.
    serializer: The format: `yaml`, `json`, `toml`, `configparser` (or `ini`), `plist` or `python`;
      without it YAML.
    formatter: An older name of serializer.
    serializer_opts: Options of the format's library for writing, such as `indent: 2`.
    deserializer_opts: Options of the format's library for reading the present file, with
      merge_if_exists.

        /etc/app.json:
          file.serialize:
            - dataset: {port: 80}
            - serializer: json
            - mode: '0640'
    """
    if dataset is not None and dataset_pillar:
        raise StateFailed("Only one of 'dataset' and 'dataset_pillar' is permitted")
    if dataset_pillar:
        dataset = pillar.get(dataset_pillar, LACKING)
        if dataset is LACKING:
            raise StateFailed(f"Pillar {dataset_pillar} does not exist")
    if dataset is None and not dataset_pillar:
        raise StateFailed("Neither 'dataset' nor 'dataset_pillar' was defined")
    if serializer and formatter:
        raise StateFailed("Only one of serializer and formatter are allowed")
    if deserializer_opts and not merge_if_exists:
        here.warn(
            "The 'deserializer_opts' option is ignored unless merge_if_exists is set to True."
        )
    kind = (serializer or formatter or "yaml").lower()
    if not create and not file.exists(name):
        return f"File {name} is not present and is not set for creation"
    old = None
    if merge_if_exists and file.exists(name):
        old, comments = _present(name, kind, encoding or "utf-8", deserializer_opts)
        dataset = _merged(old, dataset)
        if dataset == old:
            rights = managed(name, user=user, group=group, mode=mode, replace=False, create=False)
            done = yield from rights
            return f"The file {name} is in the correct state" if isinstance(done, str) else done
        if comments:
            here.warn(f"the comments in {name} are lost ({comments} lines): it is written anew")
    text = kinds.serialize(kind, dataset, _options(serializer_opts))
    written = managed(
        name,
        user=user,
        group=group,
        mode=mode,
        backup=backup,
        makedirs=makedirs,
        dir_mode=dir_mode,
        show_changes=show_changes,
        contents=text,
        encoding=encoding,
        encoding_errors=encoding_errors,
        check_cmd=check_cmd,
        tmp_dir=tmp_dir,
        tmp_ext=tmp_ext,
    )
    return (yield from _as_data(name, written, old, dataset if show_changes else None))


def _present(
    name: str, kind: str, encoding: str, options: list[dict[str, Any]] | dict[str, Any] | None
) -> tuple[Any, int]:
    """The data that the file has now, and its number of lines that are comments."""
    try:
        data = (file.read_table if kind == "json" else file.read_values)(name)
        if not data.strip():
            return None, 0
        text = data if kind == "plist" else data.decode(encoding).removeprefix("\ufeff")
        marks = COMMENTS.get(kind)
        lines = text.splitlines() if isinstance(text, str) and marks else []
        comments = sum(line.lstrip().startswith(marks or ()) for line in lines)
        return kinds.deserialize(kind, text, _options(options)), comments
    except (StateFailed, ValueError, LookupError) as problem:
        raise StateFailed(
            f"Failed to deserialize existing data: {problem.__cause__ or problem}"
        ) from problem


def _merged(old: Any, new: Any) -> Any:
    if old is None:
        return new
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        raise StateFailed(
            "merge_if_exists merges mappings only; the file or the dataset holds something else"
        )
    return merged(old, new)


def _as_data(name: str, written: Planned, old: Any, new: Any) -> Planned:
    """The plan of file.managed, its diff by keys where data was merged."""
    changes: dict[str, Any] = {}
    try:
        plan = next(written)
        changes = dict(plan.changes)
        if isinstance(old, Mapping) and isinstance(new, Mapping) and "diff" in changes:
            changes["diff"] = kinds.difference(old, new)
        comment = f"Dataset will be serialized and stored into {name}"
        yield Plan(changes, comment, plan.exact, plan.why, plan.provides)
        next(written)
    except StopIteration as stop:
        done = stop.value
        return Done(done if isinstance(done, str) else done.comment, changes)
    raise RuntimeError("file.managed yields twice")


def _options(options: list[dict[str, Any]] | dict[str, Any] | None) -> dict[str, Any]:
    if isinstance(options, dict):
        return options
    return {key: value for entry in options or () for key, value in entry.items()}
