# SPDX-License-Identifier: Apache-2.0
"""Commands of maintainer scripts that ask: each is answered by the planned machine."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import stat as bits
from collections.abc import Callable, Sequence

from modules import _accounts, _paths, cmd, file
from modules._accounts import found, group_of, user_of
from modules._planned.overlay import planned_machine
from modules._texts.shell import Unread
from modules.pkg._scripts import find
from modules.pkg._scripts.calculated import MOST_SECONDS, said
from modules.pkg._scripts.known import HANDLERS, Told, absolute, entry_of, known, options, read
from modules.pkg._scripts.run import Outcome
from modules.pkg._scripts.words import PROGRAM, in_folder, spend, working_folder
from runner.api import Record

FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
# what they do is nothing that states look at: caches, indexes, what runs, a log
QUIET = """
    aa-enabled aa-status apparmor_parser apparmor_status dpkg-trigger fc-cache hash
    dpkg-reconfigure deb-systemd-purge glib-compile-schemas gtk-update-icon-cache gzip ldconfig
    logger mandb py3compile pypy3compile py3clean sleep sync true : ucfr umask
    update-desktop-database update-icon-caches update-initramfs update-menus udevadm
    update-mime-database setcap pam-auth-update restorecon kill killall pkill wait
    journalctl pg_checksystem pg_updatedicts
""".split()
# what they print, or say by their status, is not known here
LOOKS = """
    comm date df dpkg-architecture dpkg-query file hostname locale pam_getenv ps
    runlevel whoami
""".split()


@known(*QUIET, only_looks=True)
def _nothing(words: list[str], text: str | None) -> Told:
    return 0


@known("false", only_looks=True)
def _false(words: list[str], text: str | None) -> Told:
    return 1


@known(*LOOKS, only_looks=True)
def _anything(words: list[str], text: str | None) -> Told:
    return Outcome(None, None)


_ALTERING = re.compile("-(exec|ok|delete|fprint|fls)")  # what find does with what it finds


def _only_finds(words: Sequence[str]) -> bool:
    return not any(map(_ALTERING.match, words))


@known("find", only_looks=_only_finds)
def _find(words: list[str], text: str | None) -> Told:
    """What it finds; with -delete, that it finds nothing."""
    looks = [*words[:-1], "-print"] if words[-1:] == ["-delete"] else words
    folder = working_folder.get()
    if not folder or "-ls" in looks or not _only_finds(looks):
        raise Unread("find")
    if looks is not words and "-prune" in looks:  # which -delete passes over
        raise Unread("find")
    told = find.found(looks, folder)
    if told is None:
        spend(PROGRAM)
        done = cmd.complete(["find", *looks], cwd=folder, python_shell=False, rstrip=False)
        told = Outcome(done.retcode, done.stdout)
    if looks is not words and told.output:
        raise Unread("find")
    return told


@known("pgrep", "pidof", only_looks=True)
def _pgrep(words: list[str], text: str | None) -> Told:
    """Return whether a program runs: none does that neither runs now nor will."""
    name = words[-1] if words else ""
    spend(PROGRAM)
    runs = cmd.probe(["pgrep", "-f", "--", name], timeout=MOST_SECONDS).retcode != 1
    return Outcome(None, None) if runs or any(planned_machine().running.values()) else 1


@known("test", "[", only_looks=True)
def _test(words: list[str], text: str | None) -> Told:
    if words and words[-1] == "]":
        words = words[:-1]
    answer = _answer(words)
    return Outcome(None if answer is None else int(not answer))


def _answer(words: list[str]) -> bool | None:
    """What a test says; None where that is not known."""
    for joint in ("-o", "-a"):
        if joint in words[1:-1] and len(words) > 4:
            at = words.index(joint, 1)
            sides = _answer(words[:at]), _answer(words[at + 1 :])
            if joint == "-a":
                return False if False in sides else None if None in sides else True
            return True if True in sides else None if None in sides else False
    if words[:1] == ["!"] and len(words) > 1:
        answer = _answer(words[1:])
        return None if answer is None else not answer
    match words:
        case []:
            return False
        case [word]:
            return word != ""
        case ["-n" | "-z" as sign, word]:
            return (word != "") == (sign == "-n")
        case [sign, path]:
            return _is_path(sign, path)
        case [left, "=" | "==", right]:
            return left == right
        case [left, "!=", right]:
            return left != right
        case [left, sign, right] if left.lstrip("-").isdigit() and right.lstrip("-").isdigit():
            first, second = int(left), int(right)
            compared = {"-eq": first == second, "-ne": first != second, "-lt": first < second}
            compared |= {"-le": first <= second, "-gt": first > second, "-ge": first >= second}
            return compared.get(sign)
    return None


def _is_path(sign: str, path: str) -> bool | None:
    if path == "":
        return False
    if not (path := in_folder(path)):
        return None
    if sign in ("-L", "-h"):
        return _paths.islink(path)
    if sign == "-e":
        return _paths.exists(path)
    if sign == "-d":
        return _paths.isdir(path)
    if sign in ("-f", "-s"):
        return _paths.isfile(path) and (sign == "-f" or _paths.stat(path).st_size > 0)
    if sign in ("-r", "-w"):
        return _paths.exists(path)
    if sign in ("-u", "-g"):
        bit = {"-u": 0o4000, "-g": 0o2000}[sign]
        return _paths.exists(path) and bool(_paths.stat(path).st_mode & bit)
    if sign == "-x":
        return _paths.isdir(path) or _is_program(path)
    return None


def _is_program(path: str) -> bool:
    return _paths.isfile(path) and bool(_paths.stat(path).st_mode & 0o111)


@known("command", "which", "type", only_looks=True)
def _which(words: list[str], text: str | None) -> Told:
    names = [word for word in words if not word.startswith("-")]
    if len(names) != 1:
        raise Unread("which")
    candidates = names if names[0].startswith("/") else [f"{each}/{names[0]}" for each in FOLDERS]
    found = next(filter(_is_program, candidates), "")
    if not found and names[0] in HANDLERS and names[0] not in ("ucf", "ucfr"):
        return Outcome(None, None)  # of the shell itself, or elsewhere
    return Outcome(0, f"{found}\n") if found else 1


@known("su", "runuser")
def _su(words: list[str], text: str | None) -> Told:
    """As somebody else: tests only look."""
    tests = [shlex.split(each) for each in words[-1].split("&&")] if words[:-1] else []
    if not tests or any(each[:1] not in (["test"], ["["]) for each in tests):
        raise Unread("su")
    users = [entry_of(word) for word in words[:-1] if not word.startswith(("-", "/"))]
    answers = [_owns(users, *each[1:]) for each in tests]
    return Outcome(None if None in answers else int(False in answers))


def _owns(users: Sequence[Sequence[object] | None], *words: str) -> bool | None:
    """What a test of who owns a path says."""
    user = users[0] if len(users) == 1 else None
    if len(words) != 2 or user is None or words[0] not in ("-O", "-G"):
        return None
    if not _paths.exists(words[1]):
        return False
    at = _paths.stat(words[1])
    return (at.st_uid, at.st_gid)[words[0] == "-G"] == user[2 + (words[0] == "-G")]


@known("echo", only_looks=True)
def _echo(words: list[str], text: str | None) -> Told:
    ending = "\n"
    if words[:1] == ["-n"]:
        words, ending = words[1:], ""
    told = " ".join(words)
    return Outcome(0, None if "\\" in told else told + ending)


@known("dirname", only_looks=True)
def _dirname(words: list[str], text: str | None) -> Told:
    return _named_of(words, os.path.dirname)


@known("basename", only_looks=True)
def _basename(words: list[str], text: str | None) -> Told:
    return _named_of(words, os.path.basename)


def _named_of(words: list[str], part: Callable[[str], str]) -> Told:
    """What is said of a path of plain names."""
    names = [word for word in words if word != "--"]
    if len(names) != 1 or not names[0].startswith("/") or names[0].endswith("/"):
        return Outcome(None, None)
    return Outcome(0, f"{part(names[0])}\n")


@known("cat", only_looks=True)
def _cat(words: list[str], text: str | None) -> Told:
    if not words or words == ["-"]:
        return Outcome(0, text)
    texts = [*map(read, absolute([word for word in words if not word.startswith("-")]))]
    if len(texts) < len(words):
        return Outcome(None, None)
    return Outcome(int(None in texts), "".join(each or "" for each in texts))


def _calculates(name: str) -> None:
    @known(name, only_looks=True)
    def calculated(words: list[str], text: str | None) -> Told:
        """What depends on the words alone, as the program says it."""
        return said([name, *words])


for _name in ("expr", "printf", "seq", "uname"):
    _calculates(_name)


class Filter(Record):
    """A program that alters nothing, but prints what it makes of files or its input. flags: the
    letters that it may be given; valued: its options with a value; plain: words before its files.
    safe: words with which it refuses (1) what would write. alters: the pattern of a word with which
    it writes; edit: what it does then. reads: so many files; it writes to another one. by_file:
    whether it prints the names of so many files, or goes by each of them.
    """

    flags: str
    valued: tuple[str, ...] = ()
    plain: int = 0
    safe: tuple[str, ...] = ()
    alters: str = ""
    edit: Callable[[Filter, Sequence[str]], Told] | None = None
    reads: int | None = None
    by_file: Callable[[str, Sequence[str], int], bool] = lambda letters, words, files: False


LONG = {"--quiet": "-q", "--silent": "-q", "--regexp": "-e", "--expression": "-e"}
LONG |= {"--regexp-extended": "-E", "--extended-regexp": "-E", "--invert-match": "-v"}
LONG |= {"--ignore-case": "-i", "--unique": "-u"}


def _parted(kind: Filter, words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the options of a filter, its words, and its files. Raises Unread."""
    given: list[str] = []
    rest: list[str] = []
    pending = [*words]
    while pending:
        word = pending.pop(0)
        name, equals, value = word.partition("=")
        if name in LONG:
            word = LONG[name]
            pending = [value, *pending] if equals else pending
        if word == "--":
            rest += pending
            break
        if word in kind.valued and pending:
            given += [word, pending.pop(0)]
        elif word[:2] in kind.valued:
            given += [word[:2], word[2:]]
        elif word.startswith("-") and word != "-":
            letters = word[1:]
            if letters[-1:] and f"-{letters[-1]}" in kind.valued and pending:  # -ne SCRIPT
                given += [f"-{letters[-1]}", pending.pop(0)]
                letters = letters[:-1]
            if not {*letters} <= {*kind.flags}:
                raise Unread(word)
            given += [f"-{letters}"] if letters else []
        else:
            rest.append(word)
    plain = 0 if "-e" in given else kind.plain
    return given, rest[:plain], rest[plain:]


def _filters(name: str, kind: Filter) -> None:
    def only_looks(words: Sequence[str]) -> bool:
        if kind.alters and any(re.match(kind.alters, word, re.S) for word in words):
            return False
        files = sum(not word.startswith("-") for word in words)
        if kind.reads is not None and files > kind.reads:
            return False
        return not kind.safe or _refuses_nothing(name, kind, words)

    @known(name, only_looks=only_looks)
    def filtered(words: list[str], text: str | None) -> Told:
        if not only_looks(words):
            if kind.edit is None:
                raise Unread(name)
            return kind.edit(kind, words)
        given, plain, files = _parted(kind, words)
        held = [read(path) if path != "-" else text for path in absolute(files)]
        if None in held:
            return 2 if len(held) < 2 else Outcome(None, None)
        read_text = "".join(each or "" for each in held) if files else text
        if read_text is None or not all((each or "\n").endswith("\n") for each in held[:-1]):
            return Outcome(None, None)
        told = said([name, *kind.safe, *given, "--", *plain], read_text)
        letters = "".join(word for word in words if word[:1] == "-")
        return told._replace(output=None) if kind.by_file(letters, words, len(files)) else told


def _refuses_nothing(name: str, kind: Filter, words: Sequence[str]) -> bool:
    """Return whether what a filter is told has no command that writes a file or runs a program."""
    try:
        given, plain, _ = _parted(kind, words)
    except Unread:
        return True
    return said([name, *kind.safe, *given, "--", *plain]).status != 1


def _in_place(kind: Filter, words: Sequence[str]) -> Told:
    """What `sed -i` makes of files: what it would print of each."""
    own = [re.sub(r"^-([nrEsuz]*)i$", r"-\1", word) for word in words if word != "--in-place"]
    given, plain, files = _parted(kind, [word for word in own if word != "-"])
    status = 0
    for path in absolute(files):
        held = read(path)
        if held is None:
            status = max(status, 4 if _paths.isdir(path) else 2)
            continue
        edited = said(["sed", *kind.safe, *given, "--", *plain], held)
        if edited.status != 0 or edited.output is None:
            raise Unread("sed")
        at = _paths.stat(path)
        if _paths.islink(path):  # a file takes its place
            file.remove(path)
        owner, mode = (at.st_uid, at.st_gid), f"{bits.S_IMODE(at.st_mode):04o}"
        data = edited.output.encode("utf-8", "surrogateescape")
        file.write(path, data, mode=mode, user=owner[0], group=owner[1])
    return status


def _by_file_of_grep(letters: str, words: Sequence[str], files: int) -> bool:
    return bool(files) and ("l" in letters or (files > 1 and not {*"hq"} & {*letters}))


def _by_file_of_awk(letters: str, words: Sequence[str], files: int) -> bool:
    return bool(files) and any("FILENAME" in word or "FNR" in word for word in words)


_GREP = Filter("qsxiwcvohlEF", ("-e", "-m", "-A", "-B"), 1, by_file=_by_file_of_grep)
_HEAD = Filter(
    "qv0123456789", ("-n", "-c"), by_file=lambda letters, _, files: files > 1 and "q" not in letters
)
FILTERS = {
    "awk": Filter(
        "",
        ("-F", "-v"),
        1,
        alters=r".*(system|getline|[|]|>>|>\s*[\"$a-zA-Z(]|print.*>)",
        by_file=_by_file_of_awk,
    ),
    "cut": Filter("sz", ("-d", "-f", "-c", "-b")),
    "egrep": _GREP,
    "fgrep": _GREP,
    "grep": _GREP._replace(flags=f"{_GREP.flags}P"),
    "head": _HEAD,
    "sed": Filter(
        "nrEsuz",
        ("-e",),
        1,
        ("--sandbox",),
        r"-[nrEsuz]*i|--in-place",
        _in_place,
        by_file=lambda letters, _, files: files > 1 and "s" in letters,
    ),
    "sort": Filter("unrfbV", ("-k", "-t"), alters=r"-[a-zA-Z]*o|--o"),
    "tail": _HEAD._replace(flags="q0123456789"),
    "tr": Filter("cdsC", (), 9),
    "uniq": Filter("cdui", reads=1),
    "wc": Filter("lcwm", by_file=lambda letters, words, files: bool(files)),
}
for _name, _kind in FILTERS.items():
    _filters(_name, _kind)


_CHECKED = re.compile(r"([0-9a-f]{32,128}) [ *](.+)")


def _sums(kind: str) -> None:
    @known(f"{kind}sum", only_looks=True)
    def sums(words: list[str], text: str | None) -> Told:
        """The digests of files, or whether they have those that a list says."""
        flags = ("-c", "--check", "--status", "--quiet", "--ignore-missing", "-b", "-t")
        given, _, paths = options(words, flags)
        texts = {path: read(absolute([path])[0]) for path in paths} or {"-": text}
        if not paths and text is None:
            raise Unread(f"{kind}sum")
        if not given & {"-c", "--check"}:
            there = {path: text for path, text in texts.items() if text is not None}
            sign = "*" if "-b" in given else " "
            lines = [f"{_digest(kind, text)} {sign}{path}\n" for path, text in there.items()]
            return Outcome(int(len(there) < len(texts)), "".join(lines))
        found = [match for text in texts.values() for match in _CHECKED.finditer(text or "")]
        agree = [
            _agrees(kind, digest, path) for digest, path in (match.groups() for match in found)
        ]
        if "--ignore-missing" in given:
            agree = [each for each in agree if each is not None]
        told = "" if "--status" in given else None
        return Outcome(int(not agree or not all(agree)), told)


def _agrees(kind: str, digest: str, path: str) -> bool | None:
    """Return whether a file has a digest; None where there is none."""
    text = read(absolute([path])[0])
    return None if text is None else _digest(kind, text) == digest


def _digest(kind: str, text: str) -> str:
    return hashlib.new(kind, text.encode("utf-8", "surrogateescape")).hexdigest()


for _digest_kind in ("md5", "sha1", "sha256", "sha512"):
    _sums(_digest_kind)


@known("cmp", "diff", only_looks=True)
def _cmp(words: list[str], text: str | None) -> Told:
    """Return whether two files are the same."""
    rest = options(words, ("-s", "-q", "--silent", "--quiet", "--brief"))[2]
    if len(rest) != 2:
        raise Unread("cmp")
    first, second = map(read, absolute(rest))
    return Outcome(2 if None in (first, second) else int(first != second), None)


@known("ls", only_looks=True)
def _ls(words: list[str], text: str | None) -> Told:
    given, _, rest = options(words, ("-1", "-A", "-a", "-d", "-l", "-n"))
    names, status = [], 0
    if given & {"-l", "-n"} and len(rest) == 1:
        return _long(absolute(rest)[0], by_number="-n" in given)
    for path, shown in zip(absolute(rest or ["."]), rest or ["."], strict=True):
        if not _paths.lexists(path):
            status = 2
        elif _paths.isdir(path) and "-d" not in given:
            inside = sorted(_paths.listdir(path))
            names += [name for name in inside if "-A" in given or not name.startswith(".")]
        else:
            names.append(shown)
    if "-a" in given or (len(rest) > 1 and any(map(_paths.isdir, absolute(rest)))):
        raise Unread("ls")
    return Outcome(status, "".join(f"{name}\n" for name in names))


def _long(path: str, by_number: bool) -> Told:
    """A file as `ls -l` shows it; its time is not the file's: nobody asks for that."""
    if not _paths.lexists(path):
        return 2
    at = _paths.lstat(path)
    user, group = found(user_of, at.st_uid), found(group_of, at.st_gid)
    owner = user.pw_name if user and not by_number else at.st_uid
    of_group = group.gr_name if group and not by_number else at.st_gid
    if bits.S_ISDIR(at.st_mode):
        raise Unread("ls")
    mode = bits.filemode(at.st_mode)
    return Outcome(0, f"{mode} 1 {owner} {of_group} {at.st_size} Jan  1 00:00 {path}\n")


@known("readlink", "realpath", only_looks=True)
def _readlink(words: list[str], text: str | None) -> Told:
    given, _, rest = options(words, ("-f", "-e", "-m", "-q", "-n"))
    [path] = absolute(rest)
    if given & {"-f", "-e", "-m"}:
        return Outcome(0, f"{_paths.realpath(path)}\n")
    return Outcome(0, f"{_paths.readlink(path)}\n") if _paths.islink(path) else 1


_FORMS = re.compile(r"%(.)")


@known("stat", only_looks=True)
def _stat(words: list[str], text: str | None) -> Told:
    _, values, rest = options(words, ("-L",), ("-c", "--format"))
    form = values.get("-c") or values.get("--format") or ""
    if not {*_FORMS.findall(form)} <= {*"UGuga"} or len(rest) != 1 or not form:
        raise Unread("stat")
    [path] = absolute(rest)
    if not _paths.lexists(path):
        return 1
    at = _paths.lstat(path)
    user, group = found(user_of, at.st_uid), found(group_of, at.st_gid)
    told = {"U": user.pw_name if user else "UNKNOWN", "G": group.gr_name if group else "UNKNOWN"}
    told |= {"u": str(at.st_uid), "g": str(at.st_gid), "a": f"{at.st_mode & 0o7777:o}"}
    return Outcome(0, _FORMS.sub(lambda match: told[match[1]], form) + "\n")


@known("getent", only_looks=True)
def _getent(words: list[str], text: str | None) -> Told:
    if len(words) != 2 or words[0] not in ("passwd", "group"):
        return Outcome(None, None)
    entry = entry_of(words[1], is_group=words[0] == "group")
    if entry is None:
        return 2
    fields = [",".join(each) if isinstance(each, list) else str(each) for each in entry]
    return Outcome(0, ":".join(fields) + "\n")


@known("id", only_looks=True)
def _id(words: list[str], text: str | None) -> Told:
    given, _, names = options(words, ("-u", "-g", "-G", "-n"))
    if not names:
        return Outcome(0, "0\n" if words == ["-u"] else None)
    entry = entry_of(names[0])
    if entry is None:
        return 1
    group = found(group_of, int(str(entry[3])))
    primary = group.gr_name if group else str(entry[3])
    others = [each.gr_name for each in _accounts.groups().values() if names[0] in each.gr_mem]
    told = {
        ("-u",): str(entry[2]),
        ("-n", "-u"): names[0],
        ("-g",): str(entry[3]),
        ("-g", "-n"): primary,
        ("-G", "-n"): " ".join([primary, *(each for each in others if each != primary)]),
    }
    answer = told.get(tuple(sorted(given)))
    return Outcome(0, None if answer is None else f"{answer}\n")


@known("dpkg", only_looks=True)
def _dpkg(words: list[str], text: str | None) -> Told:
    if words[:1] == ["--compare-versions"]:
        return said(["dpkg", *words])
    if words[:1] in (["-L"], ["--listfiles"]):
        return _listed(words[1:])
    if words == ["--print-architecture"]:
        return said(["dpkg", *words])
    return Outcome(None, None)


def _listed(names: Sequence[str]) -> Outcome:
    """The paths of packages that are planned, or installed."""
    planned = {each.partition(":")[0]: it for each, it in planned_machine().packages.items()}
    told = ""
    for name in names:
        if name in planned:
            members = planned[name].contents.members
            told += "".join(f"{member.path}\n" for member in members)
        else:
            spend(PROGRAM)
            told += cmd.probe(["dpkg", "-L", name], rstrip=False).stdout
    return Outcome(0, told)


@known("pg_conftool", only_looks=True)
def _pg_conftool(words: list[str], text: str | None) -> Told:
    """PostgreSQL's settings, by the file that they are in."""
    rest = options(words, ("-b", "-s"))[2]
    if len(rest) != 3 or rest[1] != "show":
        raise Unread("pg_conftool")
    held = read(absolute(rest)[0])
    match = held and re.search(rf"(?m)^\s*{re.escape(rest[2])}\s*=?\s*'?([^'#\n]*)", held)
    return Outcome(0, f"{match[1].strip()}\n") if match else 1


@known("pg_lsclusters", only_looks=True)
def _pg_lsclusters(words: list[str], text: str | None) -> Told:
    """Debian's clusters: of each what its path says."""
    if words not in (["-h"], ["--no-header"]):
        raise Unread("pg_lsclusters")
    told = ""
    for path in sorted(_paths.glob("/etc/postgresql/*/*/postgresql.conf")):
        version, name = path.split("/")[3:5]
        told += f"{version} {name} 5432 down postgres /var/lib/postgresql/{version}/{name} log\n"
    return Outcome(0, told)
