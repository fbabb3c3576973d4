# SPDX-License-Identifier: Apache-2.0
"""Large files, endless texts and odd bytes, as a user meets them: an error with its place, in
bounds of memory.

bench/memory.py measures what each costs.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import Machine
from harness import HarnessHere
from starting import PATIENCE

from modules import cmd
from modules._machine import processes
from runner.api import running
from runner.cli.running.streams import answer_alone
from runner.model.errors import RunnerError
from runner.pipeline import lock
from runner.support.files.database import Patience, connect

MEBIBYTE = 1 << 20


def enlarged(path: Path, megabytes: int, text: str = "") -> None:
    path.write_text(text)
    os.truncate(path, megabytes * MEBIBYTE)


@pytest.mark.parametrize(
    "name", ["states/a.sls", "states/top.sls", "pillar/top.sls", "states/m.jinja"]
)
def test_what_is_compiled_has_a_limit(name: str, machine: Machine) -> None:
    machine.write(a="{% import 'm.jinja' as m %}\nx:\n  test.nop: []\n")
    (machine.folder / "states/m.jinja").touch()
    enlarged(machine.folder / name, 17)
    words = ["highstate"] if name == "states/top.sls" else ["sls", "a"]
    done = machine(*words, code=1)
    assert f"{name} is larger than 16 MiB" in done.stderr
    assert "`sls_size_limit` (MiB) in the configuration allows more" in done.stderr


@pytest.mark.parametrize("number", ["0x" + "f" * 4000, "1" * 5000], ids=["hexadecimal", "decimal"])
def test_a_number_that_python_cannot_write(number: str, machine: Machine) -> None:
    machine.write(a=f"x:\n  test.nop:\n    - value: {number}\n")
    told = machine("sls", "a", code=1).stderr
    assert f"is a number of {len(number)} characters, which is too long" in told
    assert "a.sls:3:14" in told and "put it in quotes if it is a text" in told


def test_a_number_that_is_too_large_for_its_argument(machine: Machine) -> None:
    machine.write(a=f"'true':\n  cmd.run:\n    - timeout: 1{'0' * 400}\n")
    assert "timeout: expected a number, got 1000" in machine("sls", "a", code=1).stderr


def test_the_limit_of_what_is_compiled_is_a_key(machine: Machine) -> None:
    machine.write(a="x:\n  test.nop: []\n" + f"# {'x' * 1000}\n" * 1100)
    machine.config["sls_size_limit"] = 1
    assert "a.sls is larger than 1 MiB" in machine("sls", "a", code=1).stderr
    machine.config["sls_size_limit"] = 0
    machine("sls", "a")


@pytest.mark.parametrize("kind", ["_states", "_modules", "_grains", "_utils"])
def test_modules_of_the_tree_have_a_limit(kind: str, machine: Machine) -> None:
    machine.write(a="x:\n  {{ salt.n.named() }}: []\n# {{ grains.get('odd') }}\n")
    calls = {
        "_states": "'m.x'",
        "_modules": "__salt__['m.x']()",
        "_grains": "'test.nop'",
        "_utils": "__utils__['m.x']()",
    }
    for name in (kind, "_modules"):
        (machine.folder / "states" / name).mkdir(exist_ok=True)
    (machine.folder / "states/_modules/n.py").write_text(
        f"def named():\n    return {calls[kind]}\n"
    )
    enlarged(machine.folder / "states" / kind / "m.py", 17, "x = 1\n")
    done = machine("sls", "a", code=0 if kind == "_grains" else 1)
    assert f"{kind}/m.py is larger than 16 MiB" in done.stderr
    assert "sls_size_limit" not in done.stderr  # it is another limit
    said = machine("check", code=0 if kind == "_grains" else 1)
    assert f"{kind}/m.py is larger than 16 MiB" in said.stdout + said.stderr


def test_packages_of_the_tree_have_a_limit(machine: Machine) -> None:
    machine.write(a="x:\n  {{ salt.n.named() }}: []\n")
    package = machine.folder / "states/_modules/n"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def named():\n    return 'test.nop'\n")
    machine("sls", "a")
    enlarged(package / "more.py", 17)
    assert "n/more.py is larger than 16 MiB" in machine("sls", "a", code=1).stderr


@pytest.mark.parametrize("key", ["file_roots", "pillar_roots"])
@pytest.mark.parametrize("root", ["/", "/proc/self/root", "{tmp}/link"])
def test_the_whole_machine_is_no_tree(machine: Machine, key: str, root: str) -> None:
    machine.write(a="x:\n  test.nop: []\n")
    (machine.folder / "link").symlink_to("/")
    folder = root.replace("{tmp}", str(machine.folder))
    machine.config[key] = {"base": ["states", folder]}
    for words in (["sls", "a"], ["check"], ["show", "sls", "a"]):
        said = machine(*words, code=1).stderr
        assert f"{key}: base: {folder} is the whole machine" in said
        assert "hint: name the directory of the tree" in said


@pytest.mark.parametrize("by_stdin", [False, True])
def test_a_pillar_of_the_command_line_that_is_too_large(by_stdin: bool, machine: Machine) -> None:
    machine.write(a="x:\n  test.nop: []\n")
    enlarged(machine.folder / "big", 17)
    argv = machine.argv("sls", "a", "--pillar", "-" if by_stdin else f"@{machine.folder}/big")
    with (machine.folder / "big").open() as big:
        answer = subprocess.run(argv, stdin=big, capture_output=True, text=True)
    assert answer.returncode == 1
    assert "is larger than 16 MiB" in answer.stderr and "bug" not in answer.stderr


def test_a_pillar_of_the_command_line_with_control_characters(machine: Machine) -> None:
    machine.write(a="x:\n  test.nop: []\n")
    (machine.folder / "odd").write_text("a: \0")
    answer = machine("sls", "a", "--pillar", f"@{machine.folder}/odd", code=1)
    assert "character 4 is a control character" in answer.stderr and "bug" not in answer.stderr


@pytest.mark.parametrize("text", ["[1, 2]", "word", "a: [1"])
def test_a_file_of_the_command_line_that_is_no_mapping_is_named(
    text: str, machine: Machine
) -> None:
    machine.write(a="x:\n  test.nop: []\n")
    (machine.folder / "odd").write_text(text)
    given = f"{machine.folder}/odd"
    for words in (["sls", "a", "--pillar", f"@{given}"], ["check", "--grains", given]):
        said = machine(*words, code=1).stderr
        assert f"error: {words[-2]} {words[-1]}: expected a mapping" in said
        assert "hint: write `key: value` lines there" in said
    for path in ("/dev/zero", str(machine.folder)):
        assert f"--grains {path}: it is not" in machine("check", "--grains", path, code=1).stderr


def test_a_pillar_of_the_command_line_that_nobody_writes(machine: Machine) -> None:
    machine.write(a="{{ pillar.get('word') }}:\n  test.nop: []\n")
    os.mkfifo(machine.folder / "pipe")
    for path in (machine.folder / "pipe", machine.folder, "/dev/zero"):
        answer = machine("sls", "a", "--pillar", f"@{path}", code=1)
        assert "it is not a regular file" in answer.stderr and "bug" not in answer.stderr
    machine("sls", "a", "--pillar", "@/dev/null")


@pytest.mark.parametrize("given", ["@<(echo word: {0})", "@/dev/stdin <<< 'word: {0}'"])
def test_a_pillar_of_the_command_line_that_another_command_prints(
    given: str, machine: Machine
) -> None:
    machine.write(a="{{ pillar.get('word') }}:\n  test.nop: []\n")
    line = f'"$@" --pillar {given.format("heard")}'
    argv = ["bash", "-c", line, "bash", *machine.argv("sls", "a", "--out", "json")]
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)
    assert answer.returncode == 0 and '"heard"' in answer.stdout, answer.stderr


@pytest.mark.parametrize("words", [["history", "show"], ["undo"]])
def test_a_run_whose_number_is_no_text(words: list[str], machine: Machine) -> None:
    machine.write(a="x:\n  test.nop: []\n")
    machine("sls", "a")
    assert "there is no run \\udcff in the history" in machine(*words, "\udcff", code=1).stderr


def test_a_configuration_that_is_too_large(machine: Machine) -> None:
    (machine.folder / "runner.d").mkdir()
    enlarged(machine.folder / "runner.d/more.yaml", 17)
    machine.write(a="x:\n  test.nop: []\n")
    done = machine("sls", "a", code=1)
    assert "runner.d/more.yaml is larger than 16 MiB" in done.stderr


def test_the_history_keeps_no_large_texts(machine: Machine) -> None:
    machine.write(a="seq 200000:\n  cmd.run: []\n")
    answer = machine.results("sls", "a")
    assert len(next(iter(answer.values()))["changes"]["stdout"]) > MEBIBYTE
    kept = next(machine.folder.rglob("history.sqlite"))
    (changes,) = sqlite3.connect(kept).execute("SELECT changes FROM results").fetchone()
    assert len(changes) < 320_000
    assert json.loads(changes)["stdout"].endswith("more characters are not kept in the history]")


# ---------------------------------------------------------------- bytes that are no text

BYTE = "\udce4"  # how Python shows an ä of Latin-1 on the command line


@pytest.mark.parametrize("out", ["pretty", "json", "yaml"])
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("sls", f"a{BYTE}"), 1, "No matching sls found for 'a"),
        (("sls", "a", "--pillar", f'{{x: "{BYTE}"}}'), 1, "this is not UTF-8: byte 0xe4"),
        (("sls", "a", "--only", BYTE), 1, "no state of this run has that ID or name"),
        (("sls", "a", "--id", BYTE), 0, ""),
        (("single", "test.nop", f"name={BYTE}"), 0, ""),
        (("sls", "recurse"), 0, ""),
        (("sls", "template"), 1, "a value is not UTF-8: byte 0xe4"),
    ],
)
def test_bytes_that_are_no_utf8(
    words: tuple[str, ...], code: int, told: str, out: str, machine: Machine
) -> None:
    machine.write(
        a="x:\n  test.nop: []\n",
        recurse="{tmp}/r:\n  file.recurse:\n    - source: salt://d\n",
        template=(
            "{% for path in salt['cp.list_master']() %}\n'{{ path }}':\n  test.nop: []\n{% endfor"
            " %}\n"
        ),
    )
    (machine.folder / "states/d").mkdir()
    (machine.folder / f"states/d/f{BYTE}").touch()
    done = subprocess.run(
        machine.argv(*words, "--out", out),
        capture_output=True,
        env=machine.environment,
        check=False,
    )
    error = done.stderr.decode("utf-8", "surrogateescape")
    assert done.returncode == code, error
    assert "bug in runner" not in error and "history of this run is not kept" not in error
    assert told in error + done.stdout.decode("utf-8", "surrogateescape")
    if out == "json":
        json.loads(done.stdout)


def test_a_file_whose_name_is_no_utf8(machine: Machine) -> None:
    path = machine.folder / f"f{BYTE}"
    for changed in (True, False):
        argv = machine.argv("single", "file.managed", f"name={path}", "contents=1", "--out", "json")
        done = subprocess.run(argv, capture_output=True, env=machine.environment, check=True)
        (result,) = json.loads(done.stdout)["local"].values()
        assert ("diff" in result["changes"]) is changed
    assert path.read_text() == "1\n"


# ---------------------------------------------------------------- what another process holds


def test_a_locked_database_is_waited_for_once(tmp_path: Path) -> None:
    holder = sqlite3.connect(tmp_path / "x.sqlite")
    holder.execute("CREATE TABLE t (n)")
    holder.execute("BEGIN EXCLUSIVE")
    tries = []
    connection = connect(str(tmp_path / "x.sqlite"), Patience(0))
    patience = Patience(0.35)

    def read() -> None:
        tries.append(1)
        connection.execute("SELECT * FROM t")

    for most in (4, 5, 6):  # the second and the third give up at once
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            patience(read)
        assert len(tries) <= most
    holder.rollback()
    patience(read)


WATCHED = (
    "c:\n  test.succeed_with_changes: []\nr:\n  test.nop:\n    - onchanges:\n      - test: c\n"
)


@pytest.mark.parametrize("name", ["debts.sqlite", "history.sqlite"])
def test_a_time_limit_ends_the_wait_for_a_database(name: str, machine: Machine) -> None:
    machine.write(a=WATCHED)
    machine("sls", "a")
    with sqlite3.connect(next(machine.folder.rglob(name))) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        done = machine("sls", "a", "--timeout", "1", code=143)
        assert "he time limit of 1 s is over" in done.stdout + done.stderr
        holder.rollback()


def test_a_file_system_that_does_not_lock(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock.fcntl, "flock", refused)
    message = "does not lock files: No locks available"
    with (
        pytest.raises(RunnerError, match=message) as caught,
        lock.held(str(machine.folder / "state")),
    ):
        pass
    assert caught.value.hint and "--cachedir" in caught.value.hint


# ---------------------------------------------------------------- what people and machines read

ODD = "a\x1b[31mb\u202edlrow"


@pytest.mark.parametrize("out", ["pretty", "dot", "mermaid", "svg", "html", "json", "yaml"])
def test_no_name_steers_who_reads_a_graph(out: str, machine: Machine) -> None:
    machine.write(e=f"{json.dumps(ODD)}:\n  test.nop: []\n", top="base: {'*': [e]}\n")
    shown = machine("show", "graph", "--out", out).stdout
    assert "dlrow" in shown and "\x1b" not in shown and "\u202e" not in shown


@pytest.mark.parametrize(
    "words", [("sls", "e"), ("show", "sls", "e"), ("show", "lowstate"), ("call", "test.arg", ODD)]
)
def test_yaml_shows_what_is_there(words: tuple[str, ...], machine: Machine) -> None:
    machine.write(e=f"{json.dumps(ODD)}:\n  test.nop: []\n", top="base: {'*': [e]}\n")
    shown = machine(*words, "--out", "yaml").stdout
    assert "\x1b" not in shown and "\u202e" not in shown and "\\u202Edlrow" in shown
    assert ODD in repr_of(yaml.safe_load(shown))


def repr_of(value: object) -> str:
    """All texts of a value, keys too."""
    if isinstance(value, dict):
        return "".join(repr_of(each) for pair in value.items() for each in pair)
    return "".join(map(repr_of, value)) if isinstance(value, list) else str(value)


def test_nor_is_it_in_another_form_and_no_form_steers_a_terminal(machine: Machine) -> None:
    machine.write(**{"n\n::error::evil\x1b[31m": "x: [\n"})
    for out in ("github", "pretty"):
        text = machine("check", "--out", out, code=1).stdout
        assert "evil" in text and "\x1b" not in text
        assert not [line for line in text.splitlines() if line.startswith("::error::evil")]


def test_a_name_that_is_no_utf_8_is_in_the_history(machine: Machine) -> None:
    path = os.fsencode(machine.folder) + b"/caf\xe9"
    argv = [*machine.argv("single", "file.managed"), "contents=x", path]
    done = subprocess.run(argv, capture_output=True, env=machine.environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    run = machine.answer("history", "show", "last")
    assert run["results"][0]["outcome"] == "changed"
    machine("undo")
    assert not os.path.exists(path)


def test_a_file_name_is_no_command_of_github(machine: Machine) -> None:
    (machine.folder / "states/n\n::error file=x::boo,.sls").write_text("x:\n  test.nopp: []\n")
    lines = machine("check", "--out", "github", code=1).stdout.splitlines()
    assert any("n%0A%3A%3Aerror file=x%3A%3Aboo%2C.sls,line=2" in line for line in lines)
    assert not any(line.startswith("::error file=x::") for line in lines)


# ---------------------------------------------------------------- a system that is odd


def test_one_module_that_cannot_be_read(machine: Machine) -> None:
    """What a bad disk answers (EIO) for one file is not the end of every command."""
    machine.write(a="x:\n  test.nop: []\n", b="x:\n  broken.state: []\n")
    for kind in ("_modules", "_states"):
        (machine.folder / "states" / kind).mkdir()
        (machine.folder / "states" / kind / "broken.py").write_text("def state(name):\n    pass\n")
    (machine.folder / "bad_disk.py").write_text(
        "import _io, builtins, errno\n"
        "def failing(real):\n"
        "    def opened(path, *args, **kwargs):\n"
        "        if str(path).endswith('broken.py'):\n"
        "            raise OSError(errno.EIO, 'Input/output error')\n"
        "        return real(path, *args, **kwargs)\n"
        "    return opened\n"
        "builtins.open, _io.open_code = failing(open), failing(_io.open_code)\n"
    )
    machine.environment["PYTHONPATH"] += f":{machine.folder}"

    def run(*words: str, code: int) -> str:
        argv = machine.argv(*words)
        argv[2] = f"import bad_disk; {argv[2]}"
        done = subprocess.run(
            argv, capture_output=True, text=True, env=machine.environment, check=False
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    assert "error" not in run("sls", "a", code=0)
    told = run("sls", "b", code=1)
    assert "broken.py cannot be read: Input/output error" in told
    assert "bug in runner" not in told and "the answer could not be written" not in told


def test_there_is_no_null_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "devnull", "/dev/nothing-here")
    message = "/dev/nothing-here cannot be opened: No such file"
    with pytest.raises(RunnerError, match=message) as caught, answer_alone("json"):
        pass
    assert caught.value.hint and "mount /dev" in caught.value.hint


NOISY = """import os, sys

def loud(name):
    print("printed")
    os.write(1, b"written")
    sys.__stdout__.write("to the first stdout")
    changes = {b"k\\xe4": b"v", (1, 2): {3: object()}}
    return {"name": name, "changes": changes, "result": True, "comment": b"c\\xe4"}
"""
PIPES = {
    "a source": "{tmp}/f:\n  file.managed:\n    - source: {tmp}/pipe\n",
    "a template": "{tmp}/f:\n  file.managed:\n    - source: salt://pipe\n    - template: jinja\n",
    "appended": "{tmp}/f:\n  file.append:\n    - source: salt://pipe\n",
    "included": "{% include 'pipe' %}",
    "edited": "{tmp}/pipe:\n  file.append:\n    - text: x\n",
    "loud code": "x:\n  noisy.loud: []\n",
    "loud templates": "{{ salt['noisy.loud']('x')['comment'] }}:\n  test.nop: []\n",
}


@pytest.mark.parametrize("text", PIPES.values(), ids=PIPES)
def test_the_answer_is_one_json_document(text: str, machine: Machine) -> None:
    machine.write(a=text)
    for kind in ("_states", "_modules"):
        (machine.folder / "states" / kind).mkdir()
        (machine.folder / "states" / kind / "noisy.py").write_text(NOISY)
    for folder in ("", "states/"):
        os.mkfifo(machine.folder / f"{folder}pipe")
    for words in (
        ("sls", "a"),
        ("sls", "a", "--test"),
        ("show", "low-sls", "a"),
        ("show", "graph", "a"),
        ("check", "a"),
    ):
        machine.document(*words, code=None)


@pytest.mark.parametrize("parallel", [False, True])
def test_an_expression_that_backtracks_for_ever_fails_its_state(
    parallel: bool, machine: Machine
) -> None:
    """Also in a thread, which nothing can interrupt while it searches."""
    (machine.folder / "slow").write_text("a" * 40 + "!\n")
    machine.config["render_limit"] = 1
    states = {
        "file.replace": {"pattern": "(a+)+$", "repl": "b"},
        "file.comment": {"regex": "(a+)+$"},
        "file.uncomment": {"regex": "(a+)+$", "char": ""},
        "file.line": {"match": "(a+)+$", "mode": "delete"},
        "file.append": {"text": "(a+)+$", "ignore_whitespace": False},
        "file.blockreplace": {"content": "b", "insert_after_match": "(a+)+$"},
        "module.run": {"file.search": {"path": "{tmp}/slow", "pattern": "(a+)+$"}},
        " module.run": {"file.contains_regex": {"path": "{tmp}/slow", "regex": "(a+)+$"}},
    }
    tree = {
        f"s{number}": {
            function.strip(): [
                *(
                    {name: [value] if name.startswith("file.") else value}
                    for name, value in arguments.items()
                ),
                {"parallel": parallel},
                *([] if "module" in function else [{"name": "{tmp}/slow"}]),
            ]
        }
        for number, (function, arguments) in enumerate(states.items())
    }
    machine.write(a=yaml.safe_dump(tree))
    found = machine.results("sls", "a", code=2)
    comments = {name: each["comment"] for name, each in found.items()}
    message = ": this takes more than 1 s of the processor"
    assert not {name: comment for name, comment in comments.items() if message not in comment}


def test_a_source_that_is_a_pipe_is_called_one(machine: Machine) -> None:
    machine.write(
        a="{tmp}/f:\n  file.managed:\n    - source: {tmp}/pipe\n",
        b="{tmp}/f:\n  file.managed:\n    - source: salt://pipe\n",
    )
    for folder in ("", "states/"):
        os.mkfifo(machine.folder / f"{folder}pipe")
    comment = f"Local file source {machine.folder}/pipe is no regular file"
    assert comment in machine("sls", "a", code=2).stdout.replace("\n              ", " ")
    assert "source: salt://pipe is no regular file" in machine("sls", "b", code=2).stderr
    for function, words in {
        "cmd.script": "Unable to cache script {tmp}/pipe from saltenv 'base'",
        "file.append": "Failed to load template file {tmp}/pipe",
    }.items():
        machine.write(a=f"{{tmp}}/f:\n  {function}:\n    - source: {{tmp}}/pipe\n")
        (result,) = machine.results("sls", "a", code=2).values()
        assert result["comment"] == f"{words.format(tmp=machine.folder)}: it is no regular file"
    call = ("call", "http.query", "http://127.0.0.1:9/", f"data_file={machine.folder}/pipe")
    told = machine(*call, code=1).stderr
    assert f"cannot read {machine.folder}/pipe: it is a device, a pipe or a socket" in told
    (machine.folder / "endless").symlink_to("/dev/zero")
    machine.config["edit_size_limit"] = 1
    told = machine("call", "dnsutil.parse_hosts", f"{machine.folder}/endless", code=1).stderr
    assert "endless: it has 1.0 MiB, at most 1 MiB are read" in told


PRINTING = """
large:
  cmd.run:
    - name: "echo first; head -c 100000000 /dev/zero | tr '\\\\0' 'a'; echo; echo last"
"""


def test_what_a_command_prints_is_bounded(machine: Machine) -> None:
    """100 MB would be several times as much in memory, in the answer and in the history."""
    machine.write(a=PRINTING)
    text = machine.results("sls", "a")["large"]["changes"]["stdout"]
    assert text.startswith("first\naaa") and text.endswith("aaa\nlast")
    assert "\n[... 95805708 bytes left out ...]\n" in text
    assert len(text) < 5 * MEBIBYTE


def test_what_a_guard_prints_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sizes = list[int]()
    communicate = processes.communicate

    def noted(*given: Any) -> Any:
        outputs = communicate(*given)
        sizes.extend(len(output.data()) for output in outputs)
        return outputs

    monkeypatch.setattr(processes, "communicate", noted)
    with running(HarnessHere(tmp_path)):
        assert cmd.retcode("head -c 1000000 /dev/zero; exit 3", python_shell=True) == 3
    assert max(sizes) < 1 << 17


@pytest.mark.parametrize("size", [0, 1, 65536, 1 << 20, 4 << 20])
def test_what_is_within_bounds_is_whole(size: int, machine: Machine) -> None:
    machine.write(a=f"x:\n  cmd.run:\n    - name: head -c {size} /dev/zero | tr '\\0' 'y'\n")
    assert machine.results("sls", "a")["x"]["changes"]["stdout"] == "y" * size


@pytest.mark.parametrize(
    "command", ["cat", "sleep 0.2; cat", "head -c 5", "exec cat <&-", "cat >&2", "sleep 1 & cat"]
)
def test_a_large_stdin_is_written_beside_what_is_read(command: str, machine: Machine) -> None:
    machine.write(
        a=(
            f"x:\n  cmd.run:\n    - name: {command}\n    - stdin: '{'y' * 700000}'\n    -"
            " success_retcodes: 1\n"
        )
    )
    changes = machine.results("sls", "a")["x"]["changes"]
    sent = {"head -c 5": 5, "exec cat <&-": 0}.get(command, 700000)
    assert (changes["stderr"] if command == "cat >&2" else changes["stdout"]) == "y" * sent


def test_check_waits_for_no_pipe_among_the_modules_and_reads_no_endless_one(
    machine: Machine,
) -> None:
    folder = machine.folder / "states/_states"
    folder.mkdir()
    os.mkfifo(folder / "pipe.py")
    (folder / "endless.py").symlink_to("/dev/zero")
    enlarged(folder / "large.py", 17)
    machine.write(a="x: test.nop\n")
    done = machine("check", code=1)
    for told in (
        "pipe.py is not a regular file",
        "endless.py is not a regular file",
        "large.py is larger than 16 MiB",
    ):
        assert told in done.stdout
    machine("sls", "a")


def test_events_that_find_no_room_leave_the_answer(machine: Machine) -> None:
    machine.write(a="x:\n  test.succeed_with_changes: []\n")
    done = machine("sls", "a", "--out", "json", "--events", "/dev/full")
    assert json.loads(done.stdout)["local"]
    assert done.stderr == "warning: not all events could be written: No space left on device\n"
