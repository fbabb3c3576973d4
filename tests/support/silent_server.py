# SPDX-License-Identifier: Apache-2.0
"""A file system that can fall silent, as NFS does without its server: FUSE, spoken by hand, in a
mount namespace of its own. `python silent_server.py MOUNT_POINT SILENT PROGRAM...` starts a program
there; as long as a file SILENT exists, nothing is answered. There is one file, `f`.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import subprocess
import sys
import threading
import time

LOOKUP, GETATTR, READ, STATFS, INIT, FORGET, INTERRUPT = 1, 3, 15, 17, 26, 2, 36
ROOT, FILE, TEXT = 1, 2, b"right"


def _attributes(node: int) -> bytes:
    mode, size = (0o40755, 0) if node == ROOT else (0o100644, len(TEXT))
    return struct.pack("<6Q10I", node, size, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def _answer(operation: int, node: int, body: bytes) -> bytes | int:
    """What a request is answered with, or the number of an error."""
    match operation:
        case 26:  # INIT
            return struct.pack("<IIIIHHIIHHI7I", 7, 31, 4096, 0, 8, 6, 4096, 1, *[0] * 10)
        case 1 if body == b"f\0":  # LOOKUP; nothing is kept by the kernel
            return struct.pack("<4QII", FILE, 0, 0, 0, 0, 0) + _attributes(FILE)
        case 1:
            return 2
        case 3:  # GETATTR
            return struct.pack("<QII", 0, 0, 0) + _attributes(node)
        case 15:  # READ
            return TEXT if struct.unpack_from("<Q", body, 8)[0] == 0 else b""
        case 17:  # STATFS
            return struct.pack("<5Q10I", *[0] * 5, 4096, 255, *[0] * 8)
    return 38


def _serve(descriptor: int, silent: str) -> None:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    while True:
        if os.path.exists(silent) or not waiting.poll(1000):
            time.sleep(0.05)  # what was not taken from the kernel ends with who asked
            continue
        request = os.read(descriptor, 1 << 17)
        _, operation, number, node = struct.unpack_from("<IIQQ", request)
        if operation in (FORGET, INTERRUPT, 42):
            continue
        told = _answer(operation, node, request[40:])
        error, data = (-told, b"") if isinstance(told, int) else (0, told)
        os.write(descriptor, struct.pack("<IiQ", 16 + len(data), error, number) + data)


def main(where: str, silent: str, *program: str) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.unshare(0x20000)  # CLONE_NEWNS
    libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None)  # MS_REC | MS_PRIVATE
    descriptor = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={descriptor},rootmode=40000,user_id=0,group_id=0"
    if libc.mount(b"silent", os.fsencode(where), b"fuse", 0, options.encode()):
        print(os.strerror(ctypes.get_errno()), file=sys.stderr)
        return 77
    threading.Thread(target=_serve, args=(descriptor, silent), daemon=True).start()
    return subprocess.run(program).returncode


if __name__ == "__main__":
    os._exit(main(*sys.argv[1:]))
