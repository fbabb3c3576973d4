"""The file roots, for templates."""

from __future__ import annotations

from runner.api import here


def list_states(saltenv: str = "base") -> list[str]:
    """The names of all SLS files."""
    names = (path.removesuffix(".sls") for path in here.tree.files("", saltenv) if path.endswith(".sls"))
    return sorted(name.removesuffix("/init").replace("/", ".") for name in names)


def list_master(saltenv: str = "base", prefix: str = "") -> list[str]:
    """The paths of all files."""
    return here.tree.files(prefix, saltenv)


def list_master_dirs(saltenv: str = "base", prefix: str = "") -> list[str]:
    """The paths of all folders."""
    return here.tree.folders(prefix, saltenv)


def get_file_str(path: str, saltenv: str = "base") -> str | bool:
    """The text of a file of the tree; False when it is not there."""
    found = here.tree.fetch(path, saltenv)
    if found is None:
        return False
    with open(found, encoding="utf-8") as file:
        return file.read()


def cache_file(path: str, saltenv: str = "base", source_hash: str | None = None) -> str | bool:
    """The local path of a file of the tree; False when it is not there."""
    return here.tree.fetch(path, saltenv) or False
