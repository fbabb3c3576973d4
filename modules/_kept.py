"""Small files that modules keep in the cache folder."""

from __future__ import annotations

import os
import threading


def keep(path: str, text: str, mode: int = 0o600) -> None:
    """Write a text whole: nobody sees a half of it, nor do others read it."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    beside = f"{path}.{os.getpid()}.{threading.get_native_id()}"
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with open(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, path)
