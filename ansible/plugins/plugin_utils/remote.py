# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on a host: it reads a request, and what belongs to it, from standard input.

It needs no more than the standard library of Python 3.11, and is sent with each request. Archives
are kept below a directory of the user (of root: mode 0700), each unpacked once, in a directory that
is called like its digest; the pillar goes from standard input to runner's, and nowhere else.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import zlib

KEPT = 3  # unpacked archives of a kind: the ones that were used last
ANSWER = "RUNNER-ANSWER "  # begins the line of the answer, whatever else a login prints
SYSTEM, USER = "/var/lib/runner/fleet", "~/.local/state/runner/fleet"
KINDS = ("bundle", "tree")


class Refused(Exception):
    pass


def main(stream):
    request = json.loads(stream.readline())
    try:
        answer = answered(request, stream)
    except Refused as refused:
        answer = {"error": str(refused)}
    except OSError as error:
        answer = {"error": f"{error.filename or 'runner'}: {error.strerror}"}
    sys.stdout.write(f"\n{ANSWER}{json.dumps(answer)}\n")
    sys.stdout.flush()


def answered(request, stream):
    """Unpack what was sent, tell what is missing, or else run runner, or install it."""
    if "link" in request:
        return installed(request, stream)
    top = own_folder(request["folder"] or (SYSTEM if os.geteuid() == 0 else USER))
    for sent in request["sent"]:
        unpack(top, sent["kind"], sent["digest"], exactly(stream, sent["size"]))
    places = {kind: os.path.join(top, kind, request[kind]) for kind in KINDS}
    missing = [kind for kind in KINDS if not os.path.isdir(places[kind])]
    if missing:
        return {"missing": missing}
    held = [hold(places[kind]) for kind in KINDS]
    if request["sent"]:
        remove_old(top)
    argv = [sys.executable, places["bundle"] + "/runner", *request["words"]]
    argv += ["--config", places["tree"] + "/runner.yaml"]
    if request["folder"]:  # everything of this run lies there
        argv += ["--cachedir", top + "/cache"]
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # the next start is four times as fast
    stdin = exactly(stream, request["input"])
    done = subprocess.run(
        argv, input=stdin, capture_output=True, cwd="/", env=environment, check=False
    )
    for descriptor in held:
        os.close(descriptor)
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return {"exit_code": done.returncode, "out": out, "err": err}


def installed(request, stream):
    """Unpack the bundle where everybody can read it, and let a link lead to it."""
    top, link = own_folder(request["folder"], 0o755), request["link"]
    place = os.path.join(top, "bundle", request["bundle"])
    program = place + "/runner"
    if os.path.lexists(link) and not os.path.islink(link):
        raise Refused(f"{link} is no link, and is left as it is")
    if os.path.isdir(place) and os.path.islink(link) and os.readlink(link) == program:
        return {"changed": False, "program": program}
    if request["test"]:
        return {"changed": True, "program": program}
    os.umask(0o022)
    for sent in request["sent"]:
        unpack(top, sent["kind"], sent["digest"], exactly(stream, sent["size"]))
    if not os.path.isdir(place):
        return {"missing": ["bundle"]}
    for folder in (top + "/bundle", place):
        os.chmod(folder, 0o755)
    beside = f"{link}.{os.getpid()}.new"
    os.symlink(program, beside)
    os.replace(beside, link)
    os.utime(place)
    remove_old(top, ("bundle",))
    return {"changed": True, "program": program}


def exactly(stream, size):
    data = stream.read(size)
    if len(data) != size:
        raise Refused("the connection ended in the middle of a request")
    return data


def own_folder(path, mode=0o700):
    """A directory that belongs to this user, and that nobody else can change, or even enter."""
    path = os.path.abspath(os.path.expanduser(path))
    for place in (path, *folders_above(path)):
        if os.path.islink(place) and os.lstat(place).st_uid not in (0, os.geteuid()):
            raise Refused(f"{place} is a link of another user, and is not followed")
    before = os.umask(0o077)
    os.makedirs(path, exist_ok=True)
    os.umask(before)
    path = os.path.realpath(path)
    status = os.stat(path)
    if status.st_uid != os.geteuid():
        raise Refused(f"{path} belongs to user {status.st_uid}, and is not used")
    for above in folders_above(path):
        seen = os.stat(above)
        others = seen.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not seen.st_mode & stat.S_ISVTX
        if others or seen.st_uid not in (0, os.geteuid()):
            raise Refused(f"others can replace what is in {above}: nothing is kept below it")
    if stat.S_IMODE(status.st_mode) != mode:
        os.chmod(path, mode)
    return path


def folders_above(path):
    while path != "/":
        path = os.path.dirname(path)
        yield path


def unpack(top, kind, digest, packed):
    """Unpack an archive into its directory; it is there whole or not at all."""
    data = zlib.decompress(packed, wbits=31)
    if hashlib.sha256(data).hexdigest() != digest:
        raise Refused(f"the {kind} that was sent has another digest than announced")
    place = os.path.join(top, kind, digest)
    if os.path.isdir(place):
        return
    os.makedirs(os.path.dirname(place), exist_ok=True)
    beside = f"{place}.{os.getpid()}.new"
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            safely = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}  # since 3.11.4
            archive.extractall(beside, **safely)
        os.rename(beside, place)
    except OSError:
        shutil.rmtree(beside, ignore_errors=True)
        if not os.path.isdir(place):  # another run has unpacked it meanwhile
            raise


def hold(place):
    """Note that it is used now; nobody removes it until the descriptor is closed."""
    os.utime(place)
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def remove_old(top, kinds=KINDS):
    """Remove what was not used for the longest time, and what a killed run has left."""
    for kind in kinds:
        folder = os.path.join(top, kind)
        places = [os.path.join(folder, name) for name in os.listdir(folder)]
        left = [place for place in places if place.endswith(".new")]
        whole = sorted((place for place in places if place not in left), key=os.path.getmtime)
        for place in [*whole[:-KEPT], *(name for name in left if not alive(name))]:
            descriptor = os.open(place, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(place, ignore_errors=True)
            except BlockingIOError:
                pass
            finally:
                os.close(descriptor)


def alive(place):
    return os.path.exists(f"/proc/{place.split('.')[-2]}")


if __name__ == "runner_remote":
    main(sys.stdin.buffer)
