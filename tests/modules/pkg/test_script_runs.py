# SPDX-License-Identifier: Apache-2.0
"""What is read out of maintainer scripts: which commands are certain, which may be run, and what is
not understood.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import HarnessHere

from modules._texts.shell import Unread, parse
from modules.pkg._scripts import files
from modules.pkg._scripts.known import HANDLERS
from modules.pkg._scripts.run import Handler, Outcome, ScriptRun
from runner.api import running

# what answers otherwise than with success
ANSWERS = {"missing": Outcome(1), "asks": Outcome(None, None), "says": Outcome(0, "one two\n")}
LOOKS = ("test", "missing", "asks", "says", "true", "false", "echo")
ALTERING = ("make", "start")


def followed(script: str, *arguments: str, **variables: str) -> tuple[list[str], list[str]]:
    """Return the commands that a script certainly runs, and those that it may; "?" before those
    that nobody knows.
    """
    done: list[str] = []

    def known(name: str) -> Handler:
        def handler(words: list[str], text: str | None) -> Outcome:
            if name == "test":
                return Outcome(int(not (words[0] == words[-1] if "=" in words else words[-1])))
            if name == "echo":
                return Outcome(0, " ".join(words) + "\n")
            if name not in LOOKS:
                done.append(" ".join([name, *words]))
            return ANSWERS.get(name, Outcome(int(name == "false")))

        handler.__dict__["only_looks"] = name in LOOKS
        return handler

    def written(path: str, text: str | None, appends: bool) -> Outcome:
        done.append(f"{path} {'>>' if appends else '>'} {text!r}")
        return Outcome()

    files = {"/lib/functions": "enable() { make $1; }\nNAME=sourced"}
    run = ScriptRun(
        "postinst",
        [*(arguments or ("configure", ""))],
        {name: known(name) for name in (*LOOKS, *ALTERING)},
        lambda pattern: ["/etc/a", "/etc/b"] if pattern == "/etc/*" else [],
        files.get,
        written,
        dict(variables),
        {"helper": "make helped $@ $W$X"}.get,
    )
    run.follow(script)
    return done, [" ".join(("" if each.is_known else "?", *each.words)) for each in run.doubted]


CERTAIN: dict[str, list[str]] = {
    "make a": ["make a"],
    "/usr/bin/make a": ["make a"],
    "make 'a b' \"c  d\" e\\ f": ["make a b c  d e f"],
    "make a >/dev/null 2>&1 || true": ["make a"],
    "# make b\nmake a # c\n": ["make a"],
    "make a \\\n  b": ["make a b"],
    'if test "$1" = configure; then make a; else make b; fi': ["make a"],
    'if test "$1" = remove; then make a; elif test -z; then make c; else make b; fi': ["make c"],
    'if test "$1" = x || test "$1" = configure; then make a; fi': ["make a"],
    'if ! test "$1" = configure; then make a; fi': [],
    'case "$1" in configure) make a;; *) make b;; esac': ["make a"],
    'case "$1" in upgrade|conf*) make a;; *) make b;; esac': ["make a"],
    "case $1 in\n  # comment\n  (remove) make a ;;\n  *) make b\nesac": ["make b"],
    'case "$1" in "conf*") make a;; esac': [],
    "for name in a b; do make $name; done": ["make a", "make b"],
    'row="a b"; make ${row%%[[:space:]]*}': ["make a"],
    "case a1 in [![:alpha:]]*) make a;; *[[:digit:]]) make b;; esac": ["make b"],
    "for name in a b; do if test $name = a; then continue; fi; make $name; done": ["make b"],
    "for name in a b; do make $name; break; done": ["make a"],
    "for x in 1; do for y in 1 2; do make $y; break 2; done; make x; done": ["make 1"],
    "for path in /etc/*; do make $path; done": ["make /etc/a", "make /etc/b"],
    'for each; do make "$each"; done': ["make configure", "make "],
    "USER=me; make $USER ${USER}s": ["make me mes"],
    "f() { local V W; V=$1; W=1; make $V; }; V=out; f in; make $V$W": ["make in", "make out"],
    "make ${NONE:-other} ${NONE} ${NONE:+set}": ["make other"],
    "V=/usr/lib/x-15.conf; make ${V##*/} ${V%.conf} ${V#/usr} ${V##*-}": [
        "make x-15.conf /usr/lib/x-15 /lib/x-15.conf 15.conf"
    ],
    'make $(says) "$(says)"': ["make one two one two"],
    "make `says`": ["make one two"],
    "list='a b'; make $list; make \"$list\"": ["make a b", "make a b"],
    "f() { make $1; }; f a; f b": ["make a", "make b"],
    'f() { test "$1" = a && return 0; make $1; }; f a; f b': ["make b"],
    "set -e; f() { return 1; }; f || make a": ["make a"],
    "(NAME=inner; make $NAME); make $NAME.": ["make inner", "make ."],
    "( ( V=1; make $V ) && ( make b ) ); make $V.": ["make 1", "make b", "make ."],
    "{ make a; make b; }": ["make a", "make b"],
    "make a; exit 0; make b": ["make a"],
    "make a; test $1 = configure && exit 0\nmake b": ["make a"],
    ". /lib/functions; enable a; make $NAME": ["make a", "make sourced"],
    "echo one >/etc/file; echo two >>/etc/file": ["/etc/file > 'one\\n'", "/etc/file >> 'two\\n'"],
    "set -- x y; shift; make $1 $#": ["make y 1"],
    'make "$@"': ["make configure "],
    "missing && make a; missing || make b; true && make c": ["make b", "make c"],
    "while test $1 = remove; do make a; done": [],
    "make ${#1}": ["make 9"],
    "db_get tool/port || true; make a": ["make a"],
    "says | while read a b; do make $b $a; done": ["make two one"],
    "while read a; do make $a; done <<E\nx y\nz\nE": ["make x y", "make z"],
    "echo a:b | while IFS=: read a b; do make $b; done": ["make b"],
    "N=4; make $((1 + 2)) $((N - 1))": ["make 3 3"],
    "eval 'make a'; eval \"V=$1\"; make $V": ["make a", "make configure"],
    "trap 'make end' EXIT; make a; exit 0": ["make a", "make end"],
    "trap 'make end' 0; trap - 0; make a": ["make a"],
    "trap 'make end' TERM; make a": ["make a"],
    "V=1; helper b c; make $V": ["make helped b c", "make 1"],
    "helper b && make a": ["make helped b", "make a"],
    "W=w; X=x helper; export W; X=y helper": [
        "make helped x",
        "make helped wy",
    ],
    "set -- -a -b v w; while getopts ab: o; do make $o $OPTARG; done; make $OPTIND": [
        "make a",
        "make b v",
        "make 4",
    ],
    "exec make a\nmake b": ["make a"],
    "says | xargs -r make a; echo | xargs -r make b": ["make a one two"],
    "local_name=x make a": ["make a"],
    "A=x; /bin/sh -c 'make $A $1' name b; bash -ec 'make c'": ["make b", "make c"],
    "if missing; then\n    make a\nfi\nif true\nthen\n    make b\nfi": ["make b"],
}


@pytest.mark.parametrize("script", CERTAIN)
def test_what_is_certain(script: str) -> None:
    assert followed(script) == (CERTAIN[script], [])


# what is certain, and what may be run
PERHAPS: dict[str, tuple[list[str], list[str]]] = {
    "strange a /etc/x": ([], ["? strange a /etc/x"]),
    "strange a >/dev/null; make b": (["make b"], ["? strange a"]),
    "if asks; then make a; else make b; fi; make c": (["make c"], [" make a", " make b"]),
    "asks && make a; make b": (["make b"], [" make a"]),
    "asks || make a": ([], [" make a"]),
    "if asks; then exit 0; fi; make a": ([], [" make a"]),
    "asks || exit 1; make a": (["make a"], []),
    "if strange; then make a; fi": ([], ["? strange", " make a"]),
    "if other | asks; then make a; fi": ([], [" make a"]),
    "make $(asks)": ([], ["? make"]),
    "N=a; if asks; then N=b; fi; make $N": ([], ["? make"]),
    "if asks; then N=b; make $N; fi": ([], [" make b"]),
    "for name in $(asks); do make a; done; make b": (["make b"], [" make a"]),
    "case $(asks) in x) make a;; *) make b;; esac": ([], [" make a", " make b"]),
    "f() { asks && return 0; make a; }; f; make b": (["make b"], [" make a"]),
    "db_get tool/port; make $RET; make b": (["make b"], ["? make"]),
    "asks >/etc/file": (["/etc/file > None"], []),
    "if asks; then asks >/etc/file; fi": ([], [" > /etc/file"]),
    "asks | while read name; do make $name; done": ([], ["? make"]),
    "make $(($# * 3))": ([], ["? make"]),
    "asks | { read a; make $a; }": ([], ["? make"]),
    "cd $(asks); make a; cd /; make b": (["make a", "make b"], []),
    "asks | xargs -0 make a": ([], ["? make a"]),
    "says | xargs -I X make X": ([], ["? X make X"]),
    "helper $(asks)": ([], ["? make helped"]),
    "sh -c \"$(asks)\"; sh -c 'cat <<END'; sh -x a": (
        [],
        ["? sh -c", "? sh -c cat <<END", "? sh -x a"],
    ),
    "A=$(asks); A=x make a; make $A": (["make a"], ["? make"]),
    "cat <<END | strange\ntext\nEND\nmake a": (["make a"], ["? strange"]),
}


@pytest.mark.parametrize("script", PERHAPS)
def test_what_may_be_run(script: str) -> None:
    assert followed(script) == PERHAPS[script]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("if true; then", "'elif' is missing"),
        ("make 'a", "open quote"),
        ("make $((1 + (1))", "arithmetic"),
        ("((V = 1)) && make a", "arithmetic"),
        ("cat <<END\ntext\n", "here-document without END"),
        ("fi", "unexpected 'fi'"),
        ("make a; )", "line 1"),
        ("{ " * 50 + "make a; " + "}; " * 50, "too many commands"),
    ],
)
def test_what_is_no_script(script: str, told: str) -> None:
    with pytest.raises(Unread, match=told):
        parse(script)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("set -e\nfalse\nmake a", "false ends with status 1"),
        ("exit 3", "ends with status 3"),
        (". /lib/nothing", "reads /lib/nothing"),
        ("eval $(asks)", "calls eval"),
        ("shift $(asks)", "shifts by"),
        ("trap $(asks) EXIT", "traps"),
        ("while getopts x $(asks); do :; done", "options"),
        ("while getopts x name -y; do :; done", "the option -y"),
        ("while true; do " + "true; " * 60 + "done", "too many steps"),
        ("f() { f; }; f", "too many commands"),
        ("x=word\n" + "x=$x$x\n" * 40, "too many steps"),
        ("x=word\n" + "set -- $x; x=$1$1$1\n" * 40, "too many steps"),
        ("x=" + "word" * 20_000 + "; make ${x##*/}", "too many steps"),
        ("while do done", "too many steps"),
    ],
)
def test_what_nobody_can_follow(script: str, told: str) -> None:
    with pytest.raises(Unread, match=told):
        followed(script)


@pytest.mark.parametrize("command", ["chown", "chgrp", "chmod"])
def test_whole_machines_are_not_walked_through(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_BELOW", 3)
    for name in ("a/b", "c/d"):
        (tmp_path / name).mkdir(parents=True)
    words = ["-R", "0755" if command == "chmod" else "root", str(tmp_path)]
    with running(HarnessHere(dry=True)), pytest.raises(Unread, match="more than 3 paths below"):
        HANDLERS[command](words, None)


def test_arguments_of_an_upgrade_decide() -> None:
    script = 'if test -n "$2"; then act=restart; else act=start; fi; start $act'
    assert followed(script, "configure", "") == (["start start"], [])
    assert followed(script, "configure", "1.0") == (["start restart"], [])
