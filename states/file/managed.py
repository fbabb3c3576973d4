# SPDX-License-Identifier: Apache-2.0
"""file.managed: a file has the contents, the owner and the mode that it should have."""

from __future__ import annotations

from modules import file
from runner.api import (
    AsText,
    FilePath,
    Leftovers,
    Mode,
    OneOrMany,
    Planned,
    StateFailed,
    TextEncoding,
)
from states.file import _sources as sources
from states.file._contents import (
    Encoding,
    Inline,
    Template,
    accumulated,
    engine_of,
    inline_data,
    source_contents,
)
from states.file._managed import Ignoring, Writing, look_at
from states.file._permissions import permissions
from states.file._signed import Signatures, Signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

Owner = str | int | None


@file.validated
def managed(
    name: FilePath,
    source: OneOrMany[sources.Source] | None = None,
    source_hash: str | None = None,
    source_hash_name: str | None = None,
    keep_source: bool = True,
    user: Owner = None,
    group: Owner = None,
    mode: Literal["keep"] | Mode | None = None,
    attrs: str | None = None,
    template: str | bool | None = None,
    makedirs: bool = False,
    dir_mode: Mode | None = None,
    context: dict[str, Any] | None = None,
    replace: bool = True,
    defaults: dict[str, Any] | None = None,
    backup: str | bool | None = None,
    show_changes: bool = True,
    create: bool = True,
    contents: AsText[Any] = None,
    tmp_dir: str | None = None,
    tmp_ext: str | None = None,
    contents_pillar: OneOrMany[str] | None = None,
    contents_grains: OneOrMany[str] | None = None,
    contents_newline: bool = True,
    contents_delimiter: str = ":",
    encoding: TextEncoding | None = None,
    encoding_errors: str = "strict",
    allow_empty: bool = True,
    follow_symlinks: bool = True,
    check_cmd: str | None = None,
    skip_verify: bool = False,
    new_file_diff: bool = False,
    use_etag: bool = False,
    signed: Signatures = Signed(),
    verify_ssl: bool = True,
    ignore_ordering: bool = False,
    ignore_whitespace: bool = False,
    ignore_comment_characters: OneOrMany[str] | None = None,
    **variables: Leftovers,
) -> Planned:
    """Make sure that a file exists with the right contents, owner and mode.

    Contents come from one of source, contents, contents_pillar and contents_grains. With none of
    them only owner and mode are managed. Any other argument is a variable of the template.

    name: The file.
    source: Where the contents come from: salt://, /path, file://, http(s)://, ftp://; of a list the
      first that is there.
    source_hash: What the source has to be: digits, `algorithm=digits` or the address of a hash
      file; what has it already is not downloaded again.
    source_hash_name: The name to look for in the hash file, instead of the last part of the source
      or of the target.
    keep_source: False does not keep a downloaded source in the cache; files on this machine always
      stay.
    user: The owner; without it as it is, or for a new file the caller.
    group: The group; without it as it is, or for a new file the caller's.
    mode: The rights; without it as they are. `keep` takes those of the source.
    attrs: The letters that lsattr is to show, such as `i`, set with chattr.
    template: `jinja`, `mako` or `py` renders the contents with the variables of `defaults` and
      `context` and with any argument that is none of these; a `py` program finds those of the two
      in `context`. False renders nothing.
    makedirs: Create missing parent folders.
    dir_mode: The rights of the folders that makedirs creates; without it those of the file, with x
      wherever it has r.
    context: Variables of the template.
    replace: False leaves the contents of a file that is there.
    defaults: Variables of the template that `context` does not have.
    backup: Keep the old file in the folder of backups: `minion` or true; `master` keeps none.
    show_changes: False hides the diff.
    create: False leaves a missing file missing.
    contents: The contents, instead of a source: a text or a list of lines. `!!binary` counts as a
      text where it is UTF-8, and is written as it is elsewhere.
    tmp_dir: The folder of the temporary file that `check_cmd` gets.
    tmp_ext: What the name of the temporary file that `check_cmd` gets ends with, such as `.conf`.
    contents_pillar: The pillar's key that has the contents, or several keys, whose values become
      one text.
    contents_grains: The grain that has the contents, or several, whose values become one text.
    contents_newline: End the contents with a newline; false removes those at the end.
    contents_delimiter: What stands between the parts of a nested key of contents_pillar or
      contents_grains.
    encoding: The encoding of inline contents and rendered templates, instead of UTF-8.
    encoding_errors: What becomes of a character that the encoding does not have: strict (fail),
      ignore, replace and what else Python knows.
    allow_empty: False fails where contents, contents_pillar or contents_grains give an empty text.
    follow_symlinks: False replaces a link by a file instead of writing what it points to.
    check_cmd: A command that must accept the new contents before they replace the old ones; the
      path of a temporary file is added to it.
    skip_verify: Take a remote source without a source_hash, or in spite of it.
    new_file_diff: Show the contents of a new file as a diff, too.
    use_etag: Take a remote source without a source_hash, and ask its server whether it has changed
      since the last download.
    verify_ssl: False downloads from servers whose certificate is not valid, too.
    ignore_ordering: A change of nothing but the order of lines is made and reported, but sets off
      no watch, onchanges or prereq.
    ignore_whitespace: A change of nothing but white space at both ends of lines, and of their
      order, sets off nothing either.
    ignore_comment_characters: A change of nothing but what follows these characters in lines, and
      of their order, sets off nothing either.

        /etc/motd:
          file.managed:
            - source: salt://motd.jinja
            - template: jinja
            - mode: '0644'

    Behaviour: Salt 3008's file.managed; a missing parent folder or owner fails in a dry run too,
    and a dangling link is written through.
    """
    inline = Inline(
        contents,
        contents_pillar,
        contents_grains,
        contents_delimiter,
        contents_newline,
        allow_empty,
    )
    source = source if any(source or ()) else None  # a template left an empty text
    given = inline.given
    _refuse_combinations(source, given, mode)
    target = look_at(name, follow_symlinks)
    if target.present is None and not create:
        return f"File {name} is not present and is not set for creation"
    empty = not (source or given) or (target.present is not None and not replace)
    located = None
    if source and not (empty and mode != "keep"):
        verify = sources.Verify(
            source_hash, source_hash_name, skip_verify, use_etag, verify_ssl, keep_source, signed
        )
        located = sources.locate(source, name, verify, reuse=not template)
    wanted = None if mode == "keep" else mode
    if mode == "keep":
        mode = file.stat(located.path).mode if located and located.path else None
    writing = Writing(
        target,
        permissions(user, group, mode),
        makedirs,
        dir_mode,
        attrs,
        "minion" if backup and backup != "master" else None,
        check_cmd,
        tmp_dir,
        tmp_ext or "",
    )
    if empty or (located and not located.path):
        return (yield from writing.permissions_only())
    handed = {**(defaults or {}), **(context or {}), **accumulated(name, template)}
    rendering = Template(engine_of(template), handed, variables)
    coding = Encoding(encoding, encoding_errors)
    probably = target.contents() if template else b""
    if located:
        _refuse_itself(located.path if template else None, target.path)
        known = {"name": name, "user": user, "group": group, "mode": wanted, "attrs": attrs}
        data: file.Contents | None = source_contents(located, rendering, known, coding, probably)
    else:
        data = inline_data(inline, rendering, coding, probably)
    if data is None:
        return (yield from writing.permissions_only())
    ignoring = Ignoring(ignore_ordering, ignore_whitespace, tuple(ignore_comment_characters or ()))
    changes: dict[str, Any] = {}
    keys: dict[str, Any] = {}
    if not probably or data != probably:
        changes, keys = writing.difference(data, show_changes, new_file_diff, ignoring)
    changes |= writing.permission_changes(private=located is not None)
    return (yield from writing.write(data, changes, keys))


def _refuse_itself(rendered: str | None, path: str) -> None:
    """Refuse a template that is rendered into itself."""
    if rendered == path:
        raise StateFailed("Unable to manage file: Source file cannot be the same as destination")


def _refuse_combinations(source: Any, given: list[str], mode: str | None) -> None:
    if len(given) > 1:
        raise StateFailed(
            "Only one of 'contents', 'contents_pillar', and 'contents_grains' is permitted"
        )
    if given and source:
        raise StateFailed(
            "'source' cannot be used in combination with 'contents', 'contents_pillar', or"
            " 'contents_grains'"
        )
    if given and mode == "keep":
        raise StateFailed(
            "Mode preservation cannot be used in combination with 'contents', 'contents_pillar', or"
            " 'contents_grains'"
        )
