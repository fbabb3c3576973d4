# SPDX-License-Identifier: Apache-2.0
"""The drivers of sdb: where values are. Each is a class with what it can do of get, set, delete."""

from __future__ import annotations

import importlib
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Protocol
from urllib.parse import quote

from modules import _paths, environ, file, gpg
from modules._texts.yaml import load
from modules.secrets import vault
from modules.secrets.sdb import _msgpack
from modules.slsutil import merge_all
from modules.slsutil.merging import traverse
from runner.api import StateFailed, changer, here

_MESSAGE = "-----BEGIN PGP MESSAGE-----"


class Driver(Protocol):
    """The values of one profile."""

    def __init__(self, profile: Mapping[str, Any]) -> None: ...
    def get(self, key: str) -> Any: ...


class Environment:
    """`driver: env`: the variables that runner was started with."""

    def __init__(self, profile: Mapping[str, Any]) -> None:
        """There is nothing to configure."""

    def get(self, key: str) -> Any:
        return os.environ.get(key)

    def set(self, key: str, value: Any) -> Any:
        return environ.setval(key, value)

    def delete(self, key: str) -> bool:
        environ.setval(key, False, false_unsets=True)
        return True


class Files:
    """`driver: file`: the files of a `directory`, such as those that systemd and container engines
    hand credentials over in; the line end behind the last line is no part of a value.
    """

    def __init__(self, profile: Mapping[str, Any]) -> None:
        """Raises StateFailed for a profile without a directory."""
        self._directory = str(profile.get("directory") or "")
        if not os.path.isabs(self._directory):
            raise StateFailed("sdb: the driver file needs `directory: /PATH` in the profile")

    def get(self, key: str) -> str | None:
        """Raises StateFailed for a file that cannot be read."""
        if any(part in ("", ".", "..") for part in key.split("/")):
            raise StateFailed(f"sdb: {key} is not below {self._directory}")
        path = f"{self._directory}/{key}"
        if not file.exists(path):
            return None
        try:
            return file.read_bytes(path).decode().removesuffix("\n")
        except UnicodeDecodeError:
            raise StateFailed(f"sdb: {path} is not UTF-8") from None


class Vault:
    """`driver: vault`: PATH/KEY on the server that `vault` of the configuration names; the whole
    secret where PATH/KEY is one itself.
    """

    def __init__(self, profile: Mapping[str, Any]) -> None:
        """There is nothing to configure."""

    def get(self, key: str) -> Any:
        """Raises StateFailed where the server cannot be asked."""
        path, mark, name = key.rpartition("?" if "?" in key else "/")
        value = vault.read_secret(path, name, default=None) if mark else None
        if value is None and mark != "?":
            value = vault.read_secret(key, default=None)
        return value


class YamlFiles:
    """`driver: yaml`: files, merged; `gpg: True` decrypts the messages in them."""

    def __init__(self, profile: Mapping[str, Any]) -> None:
        self._files = profile.get("files") or []
        self._merge = profile.get("merge") or {}
        self._gpg = bool(profile.get("gpg"))

    def get(self, key: str) -> Any:
        """Raises StateFailed for a file that is not there."""
        values = [load(file.read_bytes(path).decode()) or {} for path in self._files]
        merged = merge_all(
            values,
            strategy=self._merge.get("strategy", "smart"),
            merge_lists=bool(self._merge.get("merge_list", False)),
        )
        value = traverse(merged, key, None, ":")
        return self._decrypted(value) if self._gpg else value

    def _decrypted(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._decrypted(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._decrypted(item) for item in value]
        if not isinstance(value, str) or not value.lstrip().startswith(_MESSAGE):
            return value
        home = here.opts.get("gpg_keydir")
        plain = gpg.decrypt(user=None if home else "salt", text=value, gnupghome=home)
        if not plain["res"]:
            raise StateFailed(f"sdb: a value cannot be decrypted: {plain['comment']}")
        return plain["comment"]


class Sqlite:
    """`driver: sqlite3`: a table of a database, as Salt's driver makes it."""

    def __init__(self, profile: Mapping[str, Any]) -> None:
        """Raises StateFailed for a profile without a database."""
        if not profile.get("database"):
            raise StateFailed("sdb: the driver sqlite3 needs `database: PATH` in the profile")
        self._path = str(profile["database"])
        self._table = str(profile.get("table") or "sdb").replace('"', '""')
        self._get = profile.get("get_query") or f'SELECT value FROM "{self._table}" WHERE key=:key'
        self._set = profile.get("set_query") or (
            f'INSERT OR REPLACE INTO "{self._table}" VALUES (:key, :value)'
        )
        self._make = profile.get("create_statements") or (
            f'CREATE TABLE "{self._table}" (key text, value blob)',
            f'CREATE UNIQUE INDEX "{self._table}_idx" ON "{self._table}" (key)',
        )

    def get(self, key: str) -> Any:
        """The value of a key; None where there is none, nor a database. Raises StateFailed for a
        value that Salt did not write.
        """
        if not _paths.exists(self._path):
            return None
        try:
            path = file.real_path(self._path)
            if _paths.planned_among([path]):
                _paths.copy_out(path, path := f"{here.scratch()}/sdb")
            address = f"file:{quote(path)}?mode=ro"
            with closing(sqlite3.connect(address, uri=True)) as database:
                row = database.execute(self._get, {"key": key}).fetchone()
            return None if row is None else _msgpack.unpacked(bytes(row[0]))
        except sqlite3.Error as problem:
            if "no such table" in str(problem):
                return None
            raise StateFailed(f"sdb: {self._path}: {problem}") from None
        except (ValueError, TypeError) as problem:
            raise StateFailed(f"sdb: {self._path}: the value of {key}: {problem}") from None

    def set(self, key: str, value: Any) -> bool:
        """Raises StateFailed for what cannot be stored."""
        try:
            data = _msgpack.packed(value)
        except TypeError as problem:
            raise StateFailed(f"sdb: {problem}") from None
        self._changed(self._set, {"key": key, "value": data})
        return True

    def delete(self, key: str) -> bool:
        self._changed(f'DELETE FROM "{self._table}" WHERE key=:key', {"key": key})
        return True

    def _changed(self, statement: str, values: Mapping[str, Any]) -> None:
        if not _paths.exists(self._path):  # of secrets, which are its owner's alone
            file.write(self._path, b"", mode="0600", private=True)
        try:
            with closing(sqlite3.connect(file.real_path(self._path))) as database, database:
                for command in self._make:
                    try:
                        database.execute(command)
                    except sqlite3.OperationalError:  # it is there
                        break
                database.execute(statement, values)
        except sqlite3.Error as problem:
            raise StateFailed(f"sdb: {self._path}: {problem}") from None


class Keyring:
    """`driver: keyring`: the store of the Python package keyring, below a service."""

    def __init__(self, profile: Mapping[str, Any]) -> None:
        """Raises StateFailed for a profile without a service, and without the package."""
        if not profile.get("service"):
            raise StateFailed("sdb: the driver keyring needs `service: NAME` in the profile")
        self._service = str(profile["service"])
        try:
            self._keyring: Any = importlib.import_module("keyring")
        except ImportError:
            raise StateFailed(
                "sdb: the driver keyring needs the Python package keyring, installed beside runner"
            ) from None

    def get(self, key: str) -> Any:
        return self._done("get_password", key)

    def set(self, key: str, value: Any) -> bool:
        self._done("set_password", key, str(value))
        return True

    def delete(self, key: str) -> bool:
        self._done("delete_password", key)
        return True

    def _done(self, action: str, *words: str) -> Any:
        try:
            return getattr(self._keyring, action)(self._service, *words)
        except self._keyring.errors.KeyringError as problem:
            raise StateFailed(f"sdb: keyring: {problem}") from None


DRIVERS: dict[str, type[Driver]] = {
    "env": Environment,
    "file": Files,
    "yaml": YamlFiles,
    "sqlite3": Sqlite,
    "keyring": Keyring,
    "vault": Vault,
}


def driver_of(profile: Mapping[str, Any]) -> Driver:
    """The driver of a profile. Raises StateFailed for one that runner does not have."""
    name = str(profile["driver"])
    if name not in DRIVERS:
        raise StateFailed(f"sdb: there is no driver {name}; there are {', '.join(sorted(DRIVERS))}")
    return DRIVERS[name](profile)


@changer(touches=[])
def change(action: str, profile: Mapping[str, Any], key: str, *values: Any) -> Any:
    """Set or delete a value. Raises StateFailed where the driver cannot."""
    method = getattr(driver_of(profile), action, None)
    if method is None:
        raise StateFailed(f"sdb: the driver {profile['driver']} cannot {action} values")
    return method(key, *values)
