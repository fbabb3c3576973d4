# SPDX-License-Identifier: Apache-2.0
"""Connections to PostgreSQL, and delivery straight into its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from runner.api.extras import how_to_install
from runner.history.outbox.sending import NotDelivered, Refused, Send
from runner.history.outbox.tables import store
from runner.sources.config.report import Destination

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[Any]

LOCAL = ("localhost", "127.0.0.1", "::1")
OF_VALUES = ("22", "23", "54")  # classes of errors: of data, of constraints, of limits


@contextmanager
def connected(destination: Destination) -> Iterator[Connection]:
    """A connection that commits each statement, or each transaction. Raises NotDelivered."""
    try:
        import psycopg
    except ImportError as error:
        hint = how_to_install("collect")
        raise NotDelivered(f"PostgreSQL needs the package psycopg: {error}", hint) from None
    try:
        connection = psycopg.connect(**_settings(destination), autocommit=True)
    except psycopg.Error as error:
        raise NotDelivered(f"{destination.address}: {error}", _hint(str(error))) from None
    with connection:
        connection.autocommit = True
        yield connection


def _settings(destination: Destination) -> dict[str, Any]:
    """Return libpq's settings. A server elsewhere has to prove who it is, unless told otherwise."""
    host = destination.parameters.get("host") or destination.host
    settings: dict[str, Any] = {
        "host": destination.host,
        "port": destination.port,
        "user": destination.user,
        "dbname": destination.path,
        "password": destination.password,
        "passfile": destination.passfile,
    }
    settings = {name: value for name, value in settings.items() if value}
    milliseconds = math.ceil(destination.timeout * 1000)
    settings |= {
        "connect_timeout": max(2, math.ceil(destination.timeout)),
        "tcp_user_timeout": milliseconds,
        "application_name": "runner",
        "options": f"-c statement_timeout={milliseconds}",
        **destination.parameters,
    }
    is_remote = not host.startswith(("/", "@")) and host not in LOCAL
    if is_remote and "sslmode" not in settings:
        settings["sslmode"] = "verify-full"
    if settings.get("sslmode") in ("verify-ca", "verify-full"):
        if "sslrootcert" not in settings and settings["sslmode"] == "verify-full":
            settings["sslrootcert"] = "system"
    return settings


def _hint(message: str) -> str | None:
    if "does not support SSL" in message:
        return "?sslmode=disable sends the reports unencrypted"
    if "certificate" in message:
        return "?sslrootcert=FILE names the certificate of who signed the server's"
    if "password" in message:
        return "`password` or `passfile` below `report` has it, or ~/.pgpass"
    return None


@contextmanager
def opened(destination: Destination) -> Iterator[Send]:
    """Write reports into the tables of a database. Raises NotDelivered."""
    with connected(destination) as connection:

        def send(name: str, data: bytes, report: dict[str, Any]) -> None:
            keep(connection, [report], destination.address)

        yield send


def keep(connection: Connection, reports: Sequence[Mapping[str, Any]], address: str) -> list[bool]:
    """Write reports, all or none; of each, whether it was not there before. Raises NotDelivered."""
    with failures(address):
        return store(connection, reports)


@contextmanager
def failures(address: str) -> Iterator[None]:
    """Turn what the server or libpq says into NotDelivered, or Refused where a value is wrong."""
    import psycopg

    try:
        yield
    except psycopg.errors.UndefinedTable:
        hint = "runner collect --init --to ADDRESS makes them, with a role that may"
        raise NotDelivered(f"{address}: the tables are not there", hint) from None
    except psycopg.errors.InsufficientPrivilege as error:
        hint = "docs/reports.md says which rights this needs"
        raise NotDelivered(f"{address}: {_summary(error)}", hint) from None
    except psycopg.Error as error:
        if (error.sqlstate or "")[:2] in OF_VALUES:
            raise Refused(f"{address}: {_summary(error)}", answered=True) from None
        raise NotDelivered(f"{address}: {_summary(error)}") from None


def _summary(error: Exception) -> str:
    """Return what the server says, without the values that it quotes."""
    return str(getattr(getattr(error, "diag", None), "message_primary", None) or error)
