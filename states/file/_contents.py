# SPDX-License-Identifier: Apache-2.0
"""The contents that a managed file is to have, from the arguments that can say them."""

from __future__ import annotations

import codecs
from collections.abc import Mapping

from modules import file
from modules.file import differences
from runner.api import Record, RunnerError, StateFailed, here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from states.file._sources import LocatedSource

_MALFORMED = (
    "Contents specified by contents/contents_pillar/contents_grains is not a string or list of"
    " strings, and is not binary data. SLS is likely malformed."
)
TEMPLATES = ("jinja", "mako", "py")


class Encoding(Record):
    """The encoding of text to bytes."""

    name: str | None = None
    errors: str = "strict"

    def encode(self, text: str) -> bytes:
        """Encode a text. Raises StateFailed for an unknown encoding or a character that it does
        not have.
        """
        try:
            return text.encode(
                self.name or "utf-8", self.errors if self.name else "surrogateescape"
            )
        except UnicodeEncodeError as problem:
            raise StateFailed(f"Unable to manage file: {problem}") from problem
        except LookupError as problem:  # the encoding or the way to treat errors
            raise StateFailed(f"Unable to manage file: {problem.args[0]}") from None


class Inline(Record):
    """The contents of the arguments contents, contents_pillar and contents_grains, of which one may
    be given.
    """

    contents: Any = None
    pillar: Sequence[str] | None = None
    grains: Sequence[str] | None = None
    delimiter: str = ":"
    newline: bool = True
    allow_empty: bool = True

    @property
    def given(self) -> list[str]:
        """The arguments that say something."""
        names = []
        if self.contents is not None:
            names.append("contents")
        if self.pillar is not None:
            names.append("contents_pillar")
        if self.grains is not None:
            names.append("contents_grains")
        return names

    def text(self) -> str | bytes | None:
        """The contents, newline at the end included; None where a key of the pillar or the grains
        has no value. Raises StateFailed where they are empty and may not be.
        """
        value, named = self.contents, "'contents'"
        if self.pillar is not None:
            value = [_looked_up(here.pillar, key, self.delimiter, "Pillar") for key in self.pillar]
            named = f"contents_pillar {' '.join(self.pillar)}"
        elif self.grains is not None:
            value = [_looked_up(here.grains, key, self.delimiter, "Grain") for key in self.grains]
            named = f"contents_grains {' '.join(self.grains)}"
        if self.contents is None and len(value) == 1:
            value = value[0]
        if value is None:
            return None
        text = _joined(value, self.newline) if value or self.allow_empty else ""
        if not text and not self.allow_empty:
            raise StateFailed(
                f"{named} value would result in empty contents. Set allow_empty to True"
                " to allow the managed file to be empty."
            )
        return text


def _looked_up(data: Mapping[str, Any], key: str, delimiter: str, kind: str) -> Any:
    value: Any = data
    if key in data:
        return data[key]
    for part in key.split(delimiter):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise StateFailed(f"{kind} {key} does not exist")
    return value


def _joined(value: Any, newline: bool) -> str | bytes:
    if isinstance(value, bytes):
        data: bytes = value
        try:
            value = data.decode()
        except UnicodeDecodeError:
            return data
    if not isinstance(value, str) and isinstance(value, list | tuple):
        flat = [
            line for item in value for line in (item if isinstance(item, list | tuple) else [item])
        ]
        if not flat or any(isinstance(line, list | tuple) for line in flat):
            raise StateFailed(_MALFORMED)
        text = "\n".join(_as_text(line).removesuffix("\n") for line in flat)
    else:
        text = _as_text(value)
    if not newline:
        return text.rstrip("\n")
    return f"{text}\n" if text and not text.endswith("\n") else text


def _as_text(value: Any) -> str:
    """A value as text; what was typed or pasted with CR LF has LF, as with Salt."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return str(value).replace("\r\n", "\n").replace("\r", "\n")


def engine_of(template: str | bool | None) -> str | None:
    """The renderer that `template` names; null and false name none."""
    return str(template) if template else None


class Template(Record):
    """The engine that renders contents or source, the variables of defaults and context, and those
    beside them.
    """

    engine: str | None = None
    variables: Mapping[str, Any] = {}
    beside: Mapping[str, Any] = {}

    @property
    def known_engine(self) -> str:
        """The engine. Raises StateFailed for one that there is not."""
        if self.engine not in TEMPLATES:
            raise StateFailed(
                f"Specified template format {self.engine} is not supported: expected jinja, mako or"
                " py"
            )
        return self.engine

    def render(
        self, text: str, more: Mapping[str, Any], path: str = "", probably: bytes = b""
    ) -> str:
        """Render a text with the engine. probably: what it may render to. Raises StateFailed for an
        unknown engine and where rendering fails.
        """
        engine = self.known_engine
        variables = {**more, **self.beside, **self.variables}
        # a program is handed them as one mapping; its names stay those of the state
        if engine == "py":
            variables |= {**more, "context": dict(self.variables)}
        try:
            return here.render(
                text, engine, variables, file=path, saltenv=here.saltenv, probably=probably
            )
        except RunnerError as problem:
            failed = f"Unable to manage file: {problem}"
            raise StateFailed(failed, missing=problem.missing) from problem


def accumulated(name: str, template: str | bool | None) -> dict[str, Any]:
    """The texts that file.accumulated has gathered for a file in this run: accumulator -> texts."""
    gathered = here.store("file.accumulated").get(name) if template else None
    return {"accumulator": gathered} if gathered else {}


def blocks(name: str) -> list[str]:
    """The texts that file.accumulated has gathered for a file, for this state."""
    gathered, takers = (
        here.store("file.accumulated").get(name, {}),
        here.store("file.accumulated for").get(name, {}),
    )
    me = here.chunk.id if here.chunk else ""
    return [
        str(text)
        for key, texts in gathered.items()
        if me in takers[key] or not takers[key]
        for text in texts
    ]


def inline_data(
    inline: Inline, template: Template, encoding: Encoding, probably: bytes = b""
) -> bytes | None:
    """The bytes that contents (or pillar, or grains) give, if any. probably: what these may be."""
    text = inline.text()
    if not isinstance(text, str):
        return text
    return encoding.encode(
        template.render(text, {}, probably=probably) if template.engine else text
    )


def source_contents(
    source: LocatedSource,
    template: Template,
    known: Mapping[str, Any],
    encoding: Encoding,
    probably: bytes,
) -> file.Contents:
    """The contents of a source; what is only copied stays on disk until then. known, probably: as
    for `source_data`.
    """
    if not template.engine:
        return file.streamed(source.path)
    try:
        return source_data(source, template, known, encoding, probably)
    except file.TooLarge:
        if not encoding.name and is_its_own_result(source.path, template.engine):
            return file.streamed(source.path)
        raise


def is_its_own_result(path: str, engine: str) -> bool:
    """Return whether a large template has nothing in it to be rendered, or is no text."""
    if engine != "jinja":
        return False
    marks = here.template_marks()
    contents, decode = file.streamed(path), codecs.getincrementaldecoder("utf-8")().decode
    before, is_marked = b"", not marks
    try:
        for piece in contents.pieces():
            decode(piece)
            whole = before + piece  # a mark may begin in the piece before
            is_marked = is_marked or any(mark in whole for mark in marks)
            before = piece[1 - max(map(len, marks), default=0) :]
        decode(b"", True)
    except UnicodeDecodeError:
        return differences.is_binary(contents.head)
    return not is_marked


def source_data(
    source: LocatedSource,
    template: Template,
    known: Mapping[str, Any],
    encoding: Encoding,
    probably: bytes = b"",
) -> bytes:
    """The bytes that a source gives. Raises StateFailed when the template cannot be rendered.
    known: what a template may ask of the state (name, user, mode, ...). probably: the bytes that a
    template may give.
    """
    if not template.engine:
        return file.read_bytes(source.path)
    data = file.read_values(source.path)
    try:
        text = data.decode(encoding.name or "utf-8")
    except UnicodeDecodeError as problem:
        if differences.is_binary(data) and template.known_engine:  # a picture among templates
            return data
        raise StateFailed(
            f"Unable to manage file: the template {source.url} is not text: {problem}"
        ) from problem
    except LookupError as problem:
        raise StateFailed(f"Unable to manage file: {problem.args[0]}") from None
    known = {**known, "source": source.url}
    return encoding.encode(template.render(text, known, source.path, probably))
