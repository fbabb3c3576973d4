# SPDX-License-Identifier: Apache-2.0
"""The tree below a folder as the machine of this process (`--root`).

This process goes on as a child in namespaces of its own (mounts, processes, name, messages; for a
plain user a user namespace, too), with that folder as its root: no link and no `..` leads out of
it. All that is mounted there, and all that runs there, ends with the child, however that ends:
nothing is left in the folder.

Python itself, runner and the trees stay visible below `SEEN`, read-only, by their paths here. What
Python loads later finds its libraries loaded; programs of the image get nothing of it.
"""

from __future__ import annotations

import errno
import os
import posix
import pwd
import re
import shutil
import signal
import socket
import stat
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from runner.api.own_program import own_python
from runner.engine.rehearsal import file_systems, namespaces, python_of_host, sandbox
from runner.engine.rehearsal.holder import ENVIRONMENT
from runner.engine.rehearsal.namespaces import (
    BIND,
    MESSAGES,
    MOUNTS,
    NAMES,
    NO_DEVICES,
    NO_PROGRAMS,
    NO_SUID,
    PRIVATE,
    PROCESSES,
    READ_ONLY,
    RECURSIVE,
    REMOUNT,
    mount,
    unshare,
)
from runner.model.errors import RunnerError, UsageError
from runner.model.paths import lies_in
from runner.model.places import SEEN

OWN = os.path.dirname(SEEN)
NEEDED = ("proc", "sys", "dev", "run", "tmp", "etc")
RESOLVER = "/etc/resolv.conf"
# of the one who started it: where that one lives, works and keeps things
OF_CALLER = (
    "HOME USER LOGNAME SHELL MAIL PATH PWD OLDPWD TMPDIR VIRTUAL_ENV DBUS_SESSION_BUS_ADDRESS"
    " SSH_AUTH_SOCK GNUPGHOME SUDO_USER SUDO_UID SUDO_GID SUDO_COMMAND"
).split()
KINDS_OF_CALLER = ("XDG_", "PYTHON", "LD_", "LC_", "LANG", "PIP_")
ASKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
# e_machine of ELF
MACHINES = {
    3: "i386",
    8: "mips",
    20: "ppc",
    21: "ppc64",
    22: "s390x",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
}


def checked(root: str) -> str:
    """The whole path of a folder that can be a machine. Raises UsageError."""
    path = os.path.realpath(root)
    if not os.path.isdir(path):
        why = "is not a directory" if os.path.lexists(path) else "does not exist"
        raise _unusable(root, why, "name the directory that the image's files lie in")
    if os.path.samefile(path, "/"):
        raise _unusable(root, "is this machine itself", "leave --root away")
    for name in NEEDED:
        try:
            at = os.lstat(f"{path}/{name}")
        except OSError as error:
            hint = f"an image has one: mkdir {path}/{name}"
            raise _unusable(root, f"/{name} in it: {error.strerror}", hint) from None
        if not stat.S_ISDIR(at.st_mode):
            hint = f"an image has a directory there, no link: see {path}/{name}"
            raise _unusable(root, f"/{name} in it is not a directory", hint)
    if not os.path.lexists(f"{path}/bin/sh") and not os.path.islink(f"{path}/bin"):
        raise _unusable(root, "there is no /bin/sh in it", NO_SHELL)
    return path


NOT_EXECUTABLE = "is its file system mounted with noexec, or what it links to no program?"
NO_SHELL = "make the image first: mmdebstrap, dnf --installroot, pacstrap, or unpack one there"


def _unusable(root: str, why: str, hint: str) -> UsageError:
    return UsageError(f"--root {root}: {why}", hint=hint)


def enter(root: str, visible: Iterable[str], writable: Iterable[str] = ()) -> None:
    """Go on in a process whose machine is the tree below a folder. Raises RunnerError where the
    kernel, or that folder, does not allow it.

    Streams must have been flushed. visible: what of this machine it reads, below `SEEN`. writable:
    folders in which it writes.
    """
    path = checked(root)
    python = python_of_host.Python()
    shown = dict.fromkeys(outermost([*python.files, *visible]), READ_ONLY)
    shown |= dict.fromkeys(outermost(writable), 0)
    cure = sandbox.cure()  # for this user, who may be root of a namespace by then
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKED)
    try:
        _hand_over()
        if os.geteuid():
            _become_root_of_namespace()
        unshare(PROCESSES)
        _hand_over()
        resolver = _compose(path, shown)
        python.move(SEEN, f"{OWN}/python")  # what tells of an error is imported late
        file_systems.make_locks("/run")
        _offer_resolver(resolver)
        socket.sethostname(_host_name())
        _hand_over()
    except OSError as error:
        raise RunnerError(f"--root {root}: {_told(error)}", hint=cure, code="no-root") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    for number in (namespaces.CAPABILITIES | namespaces.NETWORK_CAPABILITIES).values():
        namespaces.drop_capability(number)
    _settle()
    _try_shell(root)


def argv_in(root: str, code: str, visible: Iterable[str] = ()) -> list[str]:
    """The command line that runs code of runner's in an image."""
    enter_it = f"image.enter({root!r}, {[*visible]!r})"
    return own_python(f"import os; from runner.engine.rehearsal import image; {enter_it}; {code}")


def _settle() -> None:
    """Have the environment of who is root in the image."""
    for name in [*os.environ]:
        if name in OF_CALLER or name.startswith(KINDS_OF_CALLER):
            del os.environ[name]
    os.environ.update(ENVIRONMENT, USER="root", LOGNAME="root", SHELL="/bin/sh")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a look by a program of the image leaves nothing
    os.chdir("/")


def _told(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}"


def outermost(paths: Iterable[str]) -> list[str]:
    """What there is of some paths, without those that lie in another one."""
    kept: list[str] = []
    for path in sorted({os.path.normpath(path) for path in paths if path.startswith("/")}):
        if not os.path.exists(path):
            continue
        inside = (
            f"{os.path.realpath(other)}{path.removeprefix(other.rstrip('/'))}"
            for other in kept
            if lies_in(path, other)
        )
        if os.path.realpath(path) not in inside:
            kept.append(path)
    return kept


# ---------------------------------------------------------------- processes


def _hand_over() -> None:
    """Go on in a child. This process stands for it: it hands signals on, and ends as it ends."""
    child = os.fork()
    if child:
        _stand_for(child)
    namespaces.die_with_parent(signal.SIGKILL)


def _stand_for(child: int) -> NoReturn:
    while True:
        heard = signal.sigwaitinfo(ASKED)
        if heard.si_signo == signal.SIGCHLD:
            _reap(child)
        elif heard.si_code <= 0:  # of a process; the child has heard of the terminal's itself
            os.kill(child, heard.si_signo)


def _reap(child: int) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                code = os.waitstatus_to_exitcode(ended[1])
                posix._exit(code if code >= 0 else 128 - code)


def _become_root_of_namespace() -> None:
    """Enter a user namespace in which this user is root, and the ranges of /etc/subuid and
    /etc/subgid are the others. Raises RunnerError and OSError.
    """
    own = str(os.getpid())
    maps = [
        [_program(f"new{kind}map"), own, "0", str(number), "1", "1", *_range(f"/etc/sub{kind}")]
        for kind, number in (("uid", os.geteuid()), ("gid", os.getegid()))
    ]
    ready, tell = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(tell)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ASKED)
        os.read(ready, 1)
        done = [subprocess.run(words, stdin=subprocess.DEVNULL, check=False) for words in maps]
        posix._exit(int(any(one.returncode for one in done)))
    os.close(ready)
    try:
        unshare(namespaces.USERS)
    finally:
        os.close(tell)
        failed = os.waitpid(helper, 0)[1]
    if failed:
        raise RunnerError("--root: newuidmap and newgidmap did not do it", hint=sandbox.cure())
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    namespaces.die_with_parent(signal.SIGKILL)  # which another user ends


def _program(name: str) -> str:
    """A program that this machine must have. Raises RunnerError."""
    found = shutil.which(name)
    if found is None:
        hint = "run it as root (sudo), or install uidmap (elsewhere shadow-utils)"
        raise RunnerError(f"--root: {name} is not installed", hint=hint, code="no-root")
    return found


def _range(path: str) -> tuple[str, str]:
    """The first range of numbers that this user may give away. Raises RunnerError."""
    own = {str(os.getuid())}
    with suppress(KeyError):
        own.add(pwd.getpwuid(os.getuid()).pw_name)
    with suppress(OSError):
        for line in Path(path).read_text(errors="replace").splitlines():
            name, _, numbers = line.partition(":")
            first, _, size = numbers.partition(":")
            if name in own and first.isdigit() and size.isdigit():
                return first, size
    name = min(own - {str(os.getuid())} or own)
    flags = "--add-subuids 100000-165535 --add-subgids 100000-165535"
    raise RunnerError(
        f"--root: {path} gives this user no numbers for the users of the image",
        hint=f"run it as root (sudo), or once: sudo usermod {flags} {name}",
        code="no-root",
    )


# ---------------------------------------------------------------- what it sees


def _compose(root: str, shown: Mapping[str, int]) -> str:
    """Make the tree below a folder the root of this process, and return the host's resolv.conf.
    shown: what it sees of the host, and how. Raises OSError.
    """
    unshare(MOUNTS | NAMES | MESSAGES)
    mount("", "/", flags=RECURSIVE | PRIVATE)
    sources = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in shown]
    resolver = _text(RESOLVER)
    mount(root, root, flags=BIND | RECURSIVE)
    with suppress(OSError):  # whose flags nobody may change here
        as_it_is = os.statvfs(root).f_flag & (READ_ONLY | NO_SUID | NO_PROGRAMS)
        mount("", root, flags=BIND | REMOUNT | NO_DEVICES | as_it_is)
    file_systems.make_kernel(root, cgroup=False, own_network=False)
    plain = NO_SUID | NO_DEVICES
    mount("tmpfs", f"{root}/run", "tmpfs", plain, "mode=755")
    mount("tmpfs", f"{root}/tmp", "tmpfs", plain, "mode=1777")
    os.makedirs(f"{root}{OWN}/devices", 0o755)
    file_systems.make_devices(f"{root}/dev", f"{root}{OWN}/devices", usable=False)
    os.mkdir(f"{root}{SEEN}", 0o755)
    for path, descriptor in sources:
        file_systems.share(f"{root}{SEEN}", path, descriptor, shown[path])
        os.close(descriptor)
    namespaces.pivot(root)
    return resolver


def _host_name() -> str:
    """The image's: the first line that is no comment, if that is a name."""
    lines = (line.strip() for line in _text("/etc/hostname").splitlines())
    name = next((line for line in lines if line and line[0] != "#"), "")
    return name if re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name) else "localhost"


def _text(path: str) -> str:
    try:
        return Path(path).read_text(errors="surrogateescape") if os.path.isfile(path) else ""
    except OSError:
        return ""


def _offer_resolver(text: str) -> None:
    """Have names resolved as here, where the image does not say how."""
    target = os.path.realpath(RESOLVER)
    if lies_in(target, "/run"):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).write_text(text, errors="surrogateescape")
    elif os.path.isfile(target) and not _names_servers(_text(target)):
        ours = f"{OWN}/resolv.conf"
        Path(ours).write_text(text, errors="surrogateescape")
        mount(ours, target, flags=BIND)


def _names_servers(text: str) -> bool:
    """Return whether a resolv.conf names a server that is no part of its own machine."""
    words = [line.split() for line in text.splitlines()]
    servers = [line[1] for line in words if line[:1] == ["nameserver"] and len(line) > 1]
    return any(not server.startswith("127.") and server != "::1" for server in servers)


def _try_shell(root: str) -> None:
    """Raise UsageError where programs of the image do not run here."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", ":"], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise _unusable(root, "there is no /bin/sh in it that runs", NO_SHELL) from None
        if error.errno != errno.ENOEXEC:
            why = f"its /bin/sh cannot be run: {error.strerror}"
            raise _unusable(root, why, NOT_EXECUTABLE) from None
        kind = _machine_of(os.path.realpath("/bin/sh"))
        hint = (
            "register an emulator with the kernel (binfmt_misc): install qemu-user-static (Debian:"
            " with binfmt-support), then try again"
        )
        here = os.uname().machine
        raise _unusable(
            root, f"its programs ({kind}) do not run here ({here}): {error.strerror}", hint
        ) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        why = f"its /bin/sh does not work: {said or f'it ended with {done.returncode}'}"
        raise _unusable(root, why, NO_SHELL)


def _machine_of(program: str) -> str:
    """What kind of machine a program is for."""
    with suppress(OSError), open(program, "rb") as file:
        head = file.read(20)
        if head[:4] == b"\x7fELF" and len(head) == 20:
            number = int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")
            return MACHINES.get(number, f"ELF machine {number}")
    return "no ELF files"
