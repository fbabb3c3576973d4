"""file.managed: a file has the contents, the owner and the mode that it should have."""

from __future__ import annotations

from typing import Any, Literal

from modules import file
from runner.api import AbsolutePath, Leftovers, Mode, OneOrMany, Planned, StateFailed
from states.file import _sources as sources
from states.file._contents import (
    Encoding,
    Inline,
    Template,
    accumulated,
    inline_data,
    source_contents,
)
from states.file._managed import Ignoring, Writing, look_at
from states.file._permissions import permissions
from states.file._signed import Signed

Owner = str | int | None


def managed(
    name: AbsolutePath,
    source: OneOrMany[str | dict[str, Any]] | None = None,
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
    contents: Any = None,
    tmp_dir: str | None = None,
    tmp_ext: str | None = None,
    contents_pillar: OneOrMany[str] | None = None,
    contents_grains: OneOrMany[str] | None = None,
    contents_newline: bool = True,
    contents_delimiter: str = ":",
    encoding: str | None = None,
    encoding_errors: str = "strict",
    allow_empty: bool = True,
    follow_symlinks: bool = True,
    check_cmd: str | None = None,
    skip_verify: bool = False,
    new_file_diff: bool = False,
    use_etag: bool = False,
    signature: bool | OneOrMany[str] | None = None,
    source_hash_sig: bool | OneOrMany[str] | None = None,
    signed_by_any: OneOrMany[str] | None = None,
    signed_by_all: OneOrMany[str] | None = None,
    keyring: str | None = None,
    gnupghome: str | None = None,
    sig_backend: str = "gpg",
    verify_ssl: bool = True,
    ignore_ordering: bool = False,
    ignore_whitespace: bool = False,
    ignore_comment_characters: OneOrMany[str] | None = None,
    **variables: Leftovers,
) -> Planned:
    """Make sure that a file exists with the right contents, owner and mode.

    name: the file. user, group, mode: what is not given stays as it is. attrs: letters for chattr.

    Contents come from one of: source (salt://, /path, file://, http(s)://, ftp://; of a list the
    first that is there; mode `keep` takes the source's mode), contents (text, or a list of lines),
    contents_pillar, contents_grains (keys, nested ones with contents_delimiter). With none of them
    only owner and mode are seen to. contents_newline: end with one newline; false removes those at
    the end. allow_empty: false refuses empty contents. encoding, encoding_errors: of contents and
    rendered templates, instead of UTF-8. template: jinja, mako or py renders the contents with the
    variables of defaults and context, and with any other argument (variables); a py program finds
    those of defaults and context in `context`. false: none renders them. source_hash (digits,
    algorithm=digits or the address of a hash file, in which source_hash_name is looked for),
    skip_verify, keep_source, use_etag, verify_ssl: for remote sources; /path sources are verified
    too, and stay. signature, source_hash_sig: the source, or its hash file, is signed: true for a
    signature in it, or the address of one beside it, or several. signed_by_any, signed_by_all:
    fingerprints of the keys. keyring, gnupghome: where gpg finds them. sig_backend: gpg, or
    asymmetric: signatures by the public keys that signed_by_any and signed_by_all are (paths,
    addresses or the keys themselves). makedirs: create missing folders above, with dir_mode or the
    file's mode and x for r. replace: false leaves the contents of a file that is there. create:
    false leaves a missing file missing. follow_symlinks: false replaces a link by a file instead of
    writing what it points to. check_cmd: a command that must accept the new contents, before they
    replace the old ones; it gets the path of a temporary file in tmp_dir whose name ends with
    tmp_ext. backup: minion keeps the old file. show_changes: false hides the diff; new_file_diff:
    shows it for a new file too. ignore_ordering, ignore_whitespace (at both ends of a line),
    ignore_comment_characters (what follows them): a change that is nothing but this is made and
    reported, and sets off no watch, onchanges or prereq. Each ignores the order.

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
    _refuse_combinations(source, inline, mode)
    target = look_at(name, follow_symlinks)
    if target.present is None and not create:
        return f"File {name} is not present and is not set for creation"
    empty = not (source or inline.given) or (target.present is not None and not replace)
    located = None
    if source and not (empty and mode != "keep"):
        signed = Signed(
            signature,
            source_hash_sig,
            signed_by_any,
            signed_by_all,
            keyring,
            gnupghome,
            sig_backend,
        )
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
    rendering = Template(str(template) if template else None, handed, variables)
    coding = Encoding(encoding, encoding_errors)
    if located:
        _refuse_itself(located.path if template else None, target.path)
        known = {"name": name, "user": user, "group": group, "mode": wanted, "attrs": attrs}
        data: file.Contents = source_contents(located, rendering, known, coding)
    else:
        data = inline_data(inline, rendering, coding)
    ignoring = Ignoring(ignore_ordering, ignore_whitespace, tuple(ignore_comment_characters or ()))
    old = target.data()
    changes = writing.difference(old, data, show_changes, new_file_diff)
    changes |= writing.permission_changes(private=located is not None)
    return (yield from writing.write(data, changes, ignoring.result_keys(old, data)))


def _refuse_itself(rendered: str | None, path: str) -> None:
    """Refuse a template that is rendered into itself."""
    if rendered == path:
        raise StateFailed("Unable to manage file: Source file cannot be the same as destination")


def _refuse_combinations(source: Any, inline: Inline, mode: str | None) -> None:
    given = inline.given
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
