# SPDX-License-Identifier: Apache-2.0
"""Files, folders and links: how to look at them and how to change them.

What states use comes first; `salt['file.…']` of templates finds Salt's functions by Salt's names,
some of them through `__func_alias__`, where Salt's arguments are not ours.
"""

from __future__ import annotations

from functools import partial, wraps

from modules.file._validation import judge
from runner.api import Added, Planned, for_states, on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:  # what is all or most of a file is not said again: tests hold the table below
    from collections.abc import Callable
    from typing import Any, ParamSpec

    from modules.file._backed_up import backed_up
    from modules.file._capabilities import *
    from modules.file._change import (
        chown,
        discard,
        link,
        makedirs,
        mkdir,
        mknod,
        put_symlink,
        remove,
        remove_folder,
        set_attributes,
        set_mode,
        symlink,
        utime,
    )
    from modules.file._contents.copy import copy, rename
    from modules.file._contents.download import cached_path, download, keep_download, redacted
    from modules.file._contents.hash import *
    from modules.file._contents.streamed import *
    from modules.file._contents.write import default_folder_mode, default_mode, write
    from modules.file._entries import count_below, entries_below, same
    from modules.file._find import find
    from modules.file._look import *
    from modules.file._owners import *
    from modules.file._patching import apply_patch, in_little_memory, own_temporary_files
    from modules.file._paths.walk import real_path
    from modules.file._put_back import put_back
    from modules.file._rights import *
    from modules.file._salt.changes import (
        chgrp,
        lchown,
        makedirs_perms,
        move,
        rmdir,
        salt_copy,
        salt_link,
        salt_makedirs,
        salt_mkdir,
        salt_mknod,
        salt_remove,
        salt_rename,
        salt_symlink,
        salt_write,
        touch,
        truncate,
    )
    from modules.file._salt.edits import (
        append,
        blockreplace,
        comment,
        comment_line,
        line,
        prepend,
        psed,
        replace,
        sed,
        uncomment,
    )
    from modules.file._salt.looks import *
    from modules.file._salt.text import *
    from modules.file._unchangeable import unchangeable
    from modules.file._validation.check import try_contents
    from modules.file.abridged import contents_of, is_large, text_to_edit, unforeseen

    P = ParamSpec("P")

# each is imported with the first name of it that is asked for: a file that is as it should be takes
# few of them
_SUBMODULES = {
    submodule: names.split()
    for submodule, names in {
        "_change": (
            "chown discard link makedirs mkdir mknod put_symlink remove remove_folder "
            "set_attributes set_mode symlink utime"
        ),
        "_backed_up": "backed_up",
        "abridged": "contents_of is_large text_to_edit unforeseen",
        "_capabilities": "former_capabilities get_capabilities has_capabilities refuse_capabilities"
        " set_capabilities",
        "_validation.check": "try_contents",
        "_contents.copy": "copy rename",
        "_contents.download": "cached_path download keep_download redacted",
        "_entries": "count_below entries_below same",
        "_find": "find",
        "_contents.limits": "TooLarge",
        "_contents.hash": "check_hash get_hash get_sum hash_of source_hash split_hash",
        "_look": (
            "SMALL Stat device exists fetched get_attributes is_dir is_file is_link lexists"
            " listdir read_bytes read_table read_unless read_values readlink same_contents seen"
            " stat why_no_file"
        ),
        "_owners": "gid_of gid_to_group group_to_gid primary_gid uid_of uid_to_user user_to_uid",
        "_paths.walk": "real_path",
        "_put_back": "put_back",
        "_rights": (
            "refuse_attributes refuse_chmod refuse_mounted refuse_owner refuse_put refuse_removal"
            " refuse_rewrite refuse_touch"
        ),
        "_salt.changes": (
            "chgrp lchown makedirs_perms move rmdir salt_copy salt_link salt_makedirs "
            "salt_mkdir salt_mknod salt_remove salt_rename salt_symlink salt_write touch "
            "truncate"
        ),
        "_salt.edits": (
            "append blockreplace comment comment_line line prepend psed replace sed uncomment"
        ),
        "_salt.looks": (
            "access basename directory_exists dirname diskusage file_exists get_gid get_group "
            "get_mode get_uid get_user is_blkdev is_chrdev is_fifo is_hardlink join lstat "
            "normpath pardir path_exists_glob read readdir salt_readlink stats statvfs"
        ),
        "_salt.text": "contains contains_glob contains_regex get_diff grep search",
        "_contents.streamed": ("Contents Edited Streamed at_hand head_of size_of streamed whole"),
        "_unchangeable": "unchangeable",
        "_contents.write": "default_folder_mode default_mode write",
        "_salt.backups": (
            "delete_backup list_backup list_backups list_backups_dir remove_backup restore_backup"
        ),
        "_salt.attributes": "chattr check_perms get_selinux_context lsattr",
        "_salt.devices": "get_devmm mknod_blkdev mknod_chrdev mknod_fifo",
        "_patching": "apply_patch in_little_memory own_temporary_files",
        "_salt.patching": "patch seek_read seek_write",
        "_salt.sources": "apply_template_on_contents extract_hash get_source_sum source_list",
    }.items()
}
_SUBMODULE_OF = {name: submodule for submodule, names in _SUBMODULES.items() for name in names}

__load__ = [*_SUBMODULE_OF]  # what `runner call` and templates find


__getattr__, __dir__ = on_demand(globals(), _SUBMODULE_OF)


__func_alias__ = {
    "salt_copy": "copy",
    "salt_link": "link",
    "salt_makedirs": "makedirs",
    "salt_mkdir": "mkdir",
    "salt_mknod": "mknod",
    "salt_readlink": "readlink",
    "salt_remove": "remove",
    "salt_rename": "rename",
    "salt_symlink": "symlink",
    "salt_write": "write",
}


# ---------------------------------------------------------------- the argument `validate`

VALIDATE = Added(
    "NonEmptyLine | None",
    None,
    "A command that must accept the new contents before they take their place, in a dry run too;"
    " where it refuses, nothing changes. The path of a private copy with the name of the file is"
    " added to it, or stands for `%s`.",
)


@for_states
def validated(function: Callable[P, Planned]) -> Callable[P, Planned]:
    """Give a state function that writes files the argument `validate`.

    >>> @validated
    ... def append(name: str, text: str) -> Planned: ...
    """

    @wraps(function)
    def call(*args: Any, validate: str | None = None, **kwargs: Any) -> Planned:
        look = partial(function, *args, **kwargs)
        if not validate:
            return look()
        return judge.judged(validate, look)

    call.__dict__["adds"] = {"validate": VALIDATE}
    return call  # type: ignore[return-value]  # with the argument more
