# SPDX-License-Identifier: Apache-2.0
"""Delivery into a folder of this machine, such as one that a file server exports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runner.history.outbox.sending import NotDelivered, Send
from runner.model.errors import RunnerError
from runner.sources.config.report import Destination
from runner.support.files.shared_folder import SharedFolder


@contextmanager
def opened(destination: Destination) -> Iterator[Send]:
    """Write reports into the folder. Raises NotDelivered."""
    path = destination.path
    try:
        folder = SharedFolder(path)
    except RunnerError as error:
        raise NotDelivered(error.message, error.hint) from None
    except FileNotFoundError:
        raise NotDelivered(f"the folder {path} does not exist", "is it mounted?") from None
    except OSError as error:
        raise NotDelivered(f"the folder {path} cannot be opened: {error.strerror}") from None

    def send(name: str, data: bytes, report: dict[str, Any]) -> None:
        try:
            folder.write(name, data)
        except OSError as error:
            raise NotDelivered(f"{path}: {error.strerror}") from None

    try:
        yield send
    finally:
        folder.close()
