# SPDX-License-Identifier: Apache-2.0
"""Text editing that several functions of the file state share: reading, searching, diffs, texts
from sources.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from functools import partial
from itertools import chain, repeat

from modules import file
from modules.file.bounded_regex import matches
from modules.file.differences import diff as diff
from modules.file.differences import lines_of as lines_of
from modules.file.differences import not_shown, unified
from modules.file.differences import plain_lines as plain_lines
from modules.file.differences import shown as shown
from modules.file.edits import added, ending
from modules.file.edits import compiled as compiled
from modules.file.large_texts import BlockEdit, LargeText, WholeText, is_by_lines, large_text
from runner.api import OPEN, Annotated, Fact, Group, Plan, Planned, Record, StateFailed, here
from states.file._contents import is_its_own_result
from states.file._permissions import MAKEDIRS
from states.file._sources import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any

SPACES = 64 << 10  # characters of white space between the words of what a large text has
_WORD = re.compile(r"\w+|[^\w\s]")
HIDDEN = "<show_changes=False>"
Value = str | int | float | bool
Text = WholeText | LargeText


def read_text(name: str, encoding: str | None = None) -> str:
    """The text of a file; bytes that are not of the encoding (UTF-8) survive a later `write_text`.
    Raises StateFailed for a folder.
    """
    if file.is_dir(name):
        raise StateFailed(f"{name} is a directory; expected a file")
    return file.read_bytes(name).decode(encoding or "utf-8", "surrogateescape")


def text_at(name: str, encoding: str | None = None) -> Text:
    """The text of a file, a large one as it is on disk. Raises StateFailed for a folder."""
    is_utf8 = (encoding or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8", "ascii")
    return (is_utf8 and large_text(name)) or WholeText(read_text(name, encoding))


def diff_of(old: Text, new: str | file.Edited) -> str:
    """The difference of two texts; of large ones what is said instead."""
    if isinstance(new, file.Edited):
        return not_shown(old.size, new.size)
    whole = old.whole("")
    return diff(whole.mark + whole.text, new)


def provided(name: str, new: str | file.Edited) -> list[Fact]:
    """What an edit makes. Nobody foresees what is then in a large file: it is not held."""
    return [("file", name), *([("altered", name)] if isinstance(new, file.Edited) else [])]


def contents(text: str | file.Edited, encoding: str | None = None) -> file.Contents:
    """What is to be written for a text."""
    return text.encode(encoding or "utf-8", "surrogateescape") if isinstance(text, str) else text


def write_text(name: str, text: str | file.Edited, encoding: str | None = None) -> None:
    """Replace the contents of a file (of what a symlink points to), keeping its mode and owner."""
    file.write(name, contents(text, encoding))


def spaced_diff(old: str, new: str) -> str:
    """The unified diff that file.append reports: an empty line after headings, none at the end."""
    if large := not_shown(len(old), len(new)):
        return large
    return "\n".join(unified(shown(old), shown(new), plain_lines, "\n"))


def parent(name: str) -> str:
    """The folder that holds a path."""
    return name.rstrip("/").rpartition("/")[0] or "/"


def put_to(name: str, source: str) -> str:
    """Return where something goes: into the folder that a path names with a / at its end, unless it
    is a folder itself. What is there already stays as it is named.
    """
    if name[-1:] != "/" or file.lexists(name) or file.is_dir(source):
        return name
    return name + source.rstrip("/").rpartition("/")[2]


def absence(name: str) -> Collection[Any]:
    """The missing path for the engine. A state that may bring anything may bring a folder that is
    not there either, with all in it.
    """
    return [("file", name), *([] if file.is_dir(parent(name)) else [OPEN])]


def parent_lacking(name: str, makedirs: bool) -> Fact | None:
    """The missing folder that keeps a path from being created."""
    folder = parent(name)
    return None if makedirs or file.is_dir(folder) else ("file", folder)


def require_parent(name: str, makedirs: bool, problem: str) -> None:
    """Raise StateFailed where the folder above a path is missing and is not to be made. problem:
    what to say.
    """
    if missing := parent_lacking(name, makedirs):
        raise StateFailed(f"{problem}{MAKEDIRS}", missing=missing)


def make_parent(
    name: str, mode: str | None = None, user: str | None = None, group: str | None = None
) -> None:
    """Create the folders above a path where they are missing."""
    if not file.is_dir(parent(name)):
        file.makedirs(parent(name), mode=mode, user=user, group=group)


def owner(user: str | int | None, group: str | int | None, message: str) -> None:
    """Fail where an owner does not exist. message: with {kind} and {name}."""
    for kind, name, number in (("User", user, file.uid_of), ("Group", group, file.gid_of)):
        if name is not None and number(str(name)) is None:
            raise StateFailed(
                message.format(kind=kind, name=name), missing=(kind.lower(), str(name))
            )


def contains(text: str, chunk: str, ignore_whitespace: bool = True) -> bool:
    """Return whether a text has a chunk as whole lines, whatever white space stands between its
    words.

    Without `ignore_whitespace` the chunk is a regular expression that may match anywhere (a literal
    if it is none); what it calls the end of a line may be CR LF.
    """
    if ignore_whitespace:
        return f"\n{chunk}\n" in f"\n{text}\n" or _has_words(text, chunk)
    text = text if "\r" in chunk else text.replace("\r\n", "\n")
    try:
        return matches(re.compile(chunk, re.MULTILINE), text)
    except re.error:
        return chunk in text


def _has_words(text: str, chunk: str) -> bool:
    """Return whether lines have the words of a chunk and nothing else. An expression of all words
    would take a thousand times the chunk.
    """
    first = _WORD.search(chunk)
    if first is None:
        return re.search(r"^\s*$", text, re.MULTILINE) is not None
    at = text.find(first[0])
    while at >= 0:
        if not text[text.rfind("\n", 0, at) + 1 : at].strip() and _are_words(text, at, chunk):
            return True
        end = text.find("\n", at)
        at = text.find(first[0], end) if end >= 0 else -1
    return False


def _are_words(text: str, at: int, chunk: str) -> bool:
    """Return whether lines that begin somewhere have just the words of a chunk."""
    for word in _WORD.finditer(chunk):
        while text[at : at + 1].isspace():
            at += 1
        if not text.startswith(word[0], at):
            return False
        at += len(word[0])
    end = text.find("\n", at)
    return not text[at : end if end >= 0 else len(text)].strip()


def has_lines(text: Text, chunk: str, ignore_whitespace: bool = True) -> bool:
    """Return whether a text contains a chunk, as `contains` says it."""
    if not ignore_whitespace:
        with suppress(re.error):
            if not is_by_lines(re.compile(chunk, re.MULTILINE)):
                text = text.whole(by_lines(chunk))
    test = partial(contains, chunk=chunk, ignore_whitespace=ignore_whitespace)
    return text.any(test, overlap=len(chunk) + SPACES)


def adding(text: Text, content: str, at_end: bool, with_cr: bool = True) -> BlockEdit:
    """The edit that adds lines to a text, as `added` does: they end as its first one does."""
    end = ending(text.first())

    def edit(part: str, is_first: bool, is_last: bool) -> str:
        is_place = is_last if at_end else is_first
        return added(part, content, at_end, end, with_cr) if is_place else part

    return edit


def by_lines(expression: str) -> str:
    """What needs the whole of a text."""
    return (
        f"the expression {expression!r}, which may match the end of a line (\\s, [^x]) or nothing,"
    )


class SourcesOfTexts(Record):
    """The files whose texts a state puts into another one.

    source: A file (salt://, a path) that holds the text instead.
    source_hash: The digest that the source has to have.
    template: What renders the sources, or null for nothing.
    sources: Several files that hold the texts, each as `source`.
    source_hashes: The digests that the `sources` have to have, in their order.
    defaults: Variables of the sources' templates that `context` does not have.
    context: Variables of the sources' templates.
    """

    source: str | None = None
    source_hash: str | None = None
    template: str | bool | None = "jinja"
    sources: list[Source] | None = None
    source_hashes: list[str] | None = None
    defaults: dict[str, Any] | None = None
    context: dict[str, Any] | None = None

    def texts(self) -> list[str]:
        """The rendered sources."""
        hashes = self.source_hashes or ([self.source_hash] if self.source_hash else [])
        variables = {**(self.defaults or {}), **(self.context or {})}
        return [
            _rendered(url, own or digest, self.template, variables)
            for (url, own), digest in zip(self._named(), chain(hashes, repeat(None)), strict=False)
        ]

    def _named(self) -> Iterator[tuple[str, str | None]]:
        """The sources, each with the digest that stands beside it."""
        for source in self.sources or filter(None, [self.source]):
            yield (source, None) if isinstance(source, str) else next(iter(source.items()))

    def or_given(self, text: Sequence[Value] | None) -> list[str]:
        """The texts to add: the rendered sources, or those given. Raises StateFailed when there is
        neither.
        """
        texts = self.texts()
        if not texts and text is None:
            raise StateFailed("No text to add: give text, source or sources")
        return texts or [str(item) for item in text or ()]


TextSources = Annotated[SourcesOfTexts, Group()]


def _rendered(
    url: str, expected: str | None, template: str | bool | None, variables: Mapping[str, Any]
) -> str:
    path = file.fetched(url)
    if path is None:
        what = file.why_no_file(url.removeprefix("file://"))
        missing = ("file", url) if url.startswith("/") and not what else None
        reason = f": it is {what}" if what else ""
        raise StateFailed(f"Failed to load template file {url}{reason}", missing=missing)
    try:
        data = (file.read_values if template else file.read_table)(path)
    except file.TooLarge:
        if not (template and is_its_own_result(path, str(template))):
            raise
        data, template = file.read_table(path), False
    if expected:
        _check_hash(url, data, expected)
    text = data.decode("utf-8", "surrogateescape")
    if not template:
        return text
    return here.render(text, str(template), variables, file=path, saltenv=here.saltenv)


def _check_hash(url: str, data: bytes, expected: str) -> None:
    algorithms = {32: "md5", 40: "sha1", 56: "sha224", 64: "sha256", 96: "sha384", 128: "sha512"}
    digest = expected.strip().rpartition("=")[2].lower()
    algorithm = algorithms.get(len(digest))
    if algorithm is None:
        raise StateFailed(
            f"source_hash {expected} of {url} is not a digest; expected algorithm=hexadecimal"
            " digits"
        )
    actual = hashlib.new(algorithm, data).hexdigest()
    if actual != digest:
        raise StateFailed(
            f"{url} does not have the expected hash: {algorithm} is {actual}, expected {digest}"
        )


def diff_by(show: Callable[[str, str], str], old: Text, new: str | file.Edited) -> str:
    """The difference as a function shows that of two texts."""
    if isinstance(new, str) and isinstance(old, WholeText):
        return show(old.mark + old.text, new)
    return HIDDEN if show is hidden else diff_of(old, new)


def hidden(_: str, __: str) -> str:
    """The text in place of a difference that is not to be shown."""
    return HIDDEN


def add_lines(
    name: str,
    wanted: Sequence[str],
    makedirs: bool,
    at_end: bool,
    missing_lines: Callable[[Text, str], bool],
    show: Callable[[str, str], str],
) -> Planned:
    """Add the chunks that a file is missing to it, as file.append and file.prepend do.

    at_end: not at the beginning. missing_lines: whether (text, chunk) has to be added. show: the
    diff.
    """
    exists = file.exists(name)
    if not exists and (missing := parent_lacking(name, makedirs)):
        raise StateFailed(f"{name}: file not found", missing=missing)
    old = text_at(name) if exists else WholeText("")
    lines = [line for chunk in wanted if missing_lines(old, chunk) for line in plain_lines(chunk)]
    if not lines:
        return f"File {name} is in correct state"
    new = old.edited(adding(old, "\n".join(lines), at_end)) or ""
    state = "updated" if exists else "created"
    yield Plan(
        {"diff": diff_by(show, old, new)},
        f"File {name} is set to be {state}",
        provides=provided(name, new),
    )
    make_parent(name)
    write_text(name, new)
    return f"{'Appended' if at_end else 'Prepended'} {len(lines)} lines"
