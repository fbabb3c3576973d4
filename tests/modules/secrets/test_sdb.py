# SPDX-License-Identifier: Apache-2.0
"""Values at `sdb://PROFILE/KEY`: the drivers, and where such addresses are resolved."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from command import Machine
from harness import HarnessHere

from modules.secrets import sdb
from modules.secrets.sdb import _drivers, _msgpack
from runner.api import StateFailed, changes_allowed, running

PYTHON = """import errors
store = {}
def get_password(service, key): return store.get((service, key))
def set_password(service, key, value): store[service, key] = value
def delete_password(service, key):
    if (service, key) not in store: raise errors.KeyringError("no such password")
    del store[service, key]
"""


# the bytes are what msgpack, which Salt's driver uses, makes of the values
@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"a": [1, True, None]}, "81a1619301c3c0"),
        ([-1, -33, 127, 128, 70000], "95ffd0df7fcc80ce00011170"),
        ("x" * 40, "d928" + "78" * 40),
        (1.5, "cb3ff8000000000000"),
        (b"\x00", "c40100"),
        ({str(number): number for number in range(20)}, None),
        ([[0] * 300, "y" * 70000, 2**40, -(2**40), -200], None),
    ],
)
def test_values_are_stored_as_salt_stores_them(value: object, data: str | None) -> None:
    packed = _msgpack.packed(value)
    assert data is None or packed.hex() == data
    assert _msgpack.unpacked(packed) == value


@pytest.mark.parametrize("data", [b"", b"\xa5ab", b"\xc1", b"\x92\x01", b"\x01\x01", b"\xa1\xff"])
def test_what_is_no_value_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"no MessagePack|too early|behind|not a form"):
        _msgpack.unpacked(data)


def test_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text("a: {b: [x, {c: 1}]}\nn: 5")
    (tmp_path / "b.yaml").write_text("a: {d: 2}")
    (tmp_path / "keyring").mkdir()
    (tmp_path / "keyring/errors.py").write_text("class KeyringError(Exception): pass\n")
    (tmp_path / "keyring/__init__.py").write_text(PYTHON.replace("import", "from . import"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SDB_WORD", "hunter2")
    database = str(tmp_path / "q.db")
    profiles = {
        "env": {"driver": "env"},
        "y": {"driver": "yaml", "files": [f"{tmp_path}/a.yaml", f"{tmp_path}/b.yaml"]},
        "q": {"driver": "sqlite3", "database": database, "table": "t"},
        "k": {"driver": "keyring", "service": "system"},
        "f": {"driver": "file", "directory": str(tmp_path)},
        "none": {"driver": "nope"},
    }
    here = HarnessHere(opts=profiles, pillar={"p": {"driver": "env"}})
    with running(here), changes_allowed():
        assert (sdb.get("sdb://env/SDB_WORD"), sdb.get("sdb://p/SDB_WORD")) == ("hunter2",) * 2
        assert "hunter2" in here.secrets
        assert (sdb.get("sdb://y/a:b:1:c"), sdb.get("sdb://y/a:d"), sdb.get("sdb://y/z")) == (
            1,
            2,
            None,
        )
        assert (sdb.get("sdb://f/b.yaml"), sdb.get("sdb://f/none")) == ("a: {d: 2}", None)
        for outside in ("sdb://f/../b", "sdb://f//etc/passwd"):
            with pytest.raises(StateFailed, match="is not below"):
                sdb.get(outside)
        for other in ("plain", "sdb://env", "sdb://unknown/x", 5):
            assert sdb.get(other) == other
        with pytest.raises(StateFailed, match="SDB profile"):
            sdb.get("sdb://unknown/x", strict=True)
        with pytest.raises(StateFailed, match="there are env, file, keyring, sqlite3, vault, yaml"):
            sdb.get("sdb://none/x")
        with pytest.raises(StateFailed, match="yaml cannot set"):
            sdb.set_("sdb://y/a", 1)
        for store in ("q", "k"):
            uri = f"sdb://{store}/key"
            assert sdb.get(uri) is None and sdb.set_(uri, "one") and sdb.set_(uri, "two")
            assert sdb.get(uri) == "two" and sdb.delete(uri) and sdb.get(uri) is None
        assert "one" in here.secrets and Path(database).stat().st_mode & 0o777 == 0o600
        drawn = sdb.get_or_set_hash("sdb://q/h", 12, "ab")
        assert len(drawn) == 12 and set(drawn) <= {*"ab"} and drawn in here.secrets
        assert sdb.get_or_set_hash("sdb://q/h") == drawn
        with pytest.raises(StateFailed, match="no such password"):
            sdb.delete("sdb://k/none")
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE t SET value = x'c1'")
        with pytest.raises(StateFailed, match="not a form"):
            sdb.get("sdb://q/h")
    assert set(_drivers.DRIVERS) == {"env", "file", "yaml", "sqlite3", "keyring", "vault"}


def test_addresses_in_the_configuration_and_reports(machine: Machine) -> None:
    (machine.folder / "s.yaml").write_text("db: {password: hunter2 of sdb, user: ann}\n")
    machine.config |= {  # type: ignore[assignment]
        "secrets": {"driver": "yaml", "files": [str(machine.folder / "s.yaml")]},
        "mysql.pass": "sdb://secrets/db:password",
        "app.settings": {"list": ["sdb://secrets/db:password"]},
    }
    target = machine.folder / "f"
    lines = (
        "{{ salt['sdb.get']('sdb://secrets/db:password') }}",
        "{{ opts['mysql.pass'] }}",
        "{{ opts['app.settings'].list[0] }}",
        "{{ salt['config.get']('mysql.pass') }}",
    )
    machine.write(a=f"echo '{'|'.join(lines)}' >{target}:\n  cmd.run: []\n")
    done = machine("sls", "a", "-v")
    assert target.read_text() == "|".join(["hunter2 of sdb"] * 4) + "\n"
    assert "hunter2" not in done.stdout and "**********" in done.stdout
    assert "unknown configuration key" not in done.stderr
    shown = machine("call", "sdb.get", "sdb://secrets/db:user", "--out", "json").stdout
    assert json.loads(shown)["local"] == "ann"
    (machine.folder / "s.yaml").unlink()
    problem = machine("sls", "a", code=1).stderr
    assert "s.yaml" in problem and "Traceback" not in problem
