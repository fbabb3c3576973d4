# SPDX-License-Identifier: Apache-2.0
"""Parsing, exit codes and both streams; the engine is a stand-in with the answer of the case."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Machine, prestarted_server
from extras import extra_of
from needing import needs

import runner
from runner.cli import main, salt_call
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError
from runner.model.places import Place, Untyped
from runner.model.result import Report, Result
from runner.pipeline import calling, stages
from runner.sources.config import load
from runner.sources.config.options import Options
from runner.support.redaction import Secrets
from runner.tools import check
from runner.tools.queries import show

PLACE = Place(Untyped("a.sls"), 1, 1)
CHUNK = Chunk("test", "nop", "x", "x", 1, "a", "base", {}, {}, (), PLACE)
OK = Report((Result(CHUNK, True, "fine"),), False)
CHANGED = Report((Result(CHUNK, True, "fine", {"a": 1}),), False)
FAILED = Report((Result(CHUNK, False, "no"),), False)
BOTH = Report((Result(CHUNK, False, "no", {"a": 1}),), False)
STOPPED = Report((), False, interrupted=15)


class Engine:
    """Records how run.py and config.py are called."""

    def __init__(self) -> None:
        self.answer: Any = OK
        self.calls: list[tuple[Any, ...]] = []
        self.overrides: dict[str, Any] = {}

    def load(self, file: Any, overrides: Any, environ: Any, **more: Any) -> Any:
        self.overrides = {"file": file, **overrides}
        return Options(state_dir="/nowhere"), []

    def recorder(self, name: str) -> Any:
        def function(options: Any, *args: Any, **named: Any) -> Any:
            self.calls.append((name, *_without_notices(args)))
            if isinstance(self.answer, BaseException):
                raise self.answer
            return self.answer

        return function


def _without_notices(args: tuple[Any, ...]) -> Iterator[Any]:
    """The arguments of a call without the listener that prints warnings."""
    for arg in args:
        if isinstance(arg, tuple):
            yield tuple(item for item in arg if "notices" not in getattr(item, "__qualname__", ""))
        elif not (isinstance(arg, list) and any(map(callable, arg))):
            yield arg


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    fake = Engine()
    for module, name in (
        *((stages, name) for name in ("highstate", "sls", "single")),
        (calling, "call"),
        (show, "show"),
        (check, "check"),
    ):
        monkeypatch.setattr(module, name, fake.recorder(name))
    monkeypatch.setattr(load, "load", fake.load)
    monkeypatch.setattr(load, "find_metrics_file", lambda *_: None)
    return fake


def code(*arguments: str, program: Any = main) -> int:
    with pytest.raises(SystemExit) as stop:
        program(list(arguments))
    return int(stop.value.code or 0)


@pytest.mark.parametrize(
    ("answer", "plain", "detailed"),
    [
        (OK, 0, 0),
        (CHANGED, 0, 2),
        (FAILED, 2, 4),
        (BOTH, 2, 6),
        (STOPPED, 143, 143),
        (RunnerError("x"), 1, 1),
    ],
)
def test_exit_codes(engine: Engine, answer: Any, plain: int, detailed: int) -> None:
    engine.answer = answer
    assert code("sls", "a") == plain
    assert code("sls", "a", "--detailed-exitcodes") == detailed


def test_other_exit_codes(
    engine: Engine,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # where the report of a bug goes
    engine.answer = RunnerError("another run", code="locked")
    assert code("highstate") == 3
    engine.answer = KeyboardInterrupt()
    assert code("highstate") == 130
    engine.answer = ZeroDivisionError("oops")
    assert code("highstate") == 1
    told = capsys.readouterr().err
    assert "Sorry, this is a bug" in told and "Traceback" not in told


def test_the_report_of_a_bug_has_no_secrets(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets = Secrets()
    secrets.add("Bug&Mark")
    engine.answer = ZeroDivisionError("Bug&Mark of https://u:L0ginMark@host/")
    assert code("highstate") == 1
    told = capsys.readouterr().err
    path = Path(told.partition("is written to ")[2].partition(";")[0])
    report = path.read_text()
    path.unlink()
    assert "Mark" not in told + report and "ZeroDivisionError: **********" in report


def test_a_bug_on_a_full_disk(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.NamedTemporaryFile", full)
    engine.answer = ZeroDivisionError("x")
    assert code("highstate") == 1
    told = capsys.readouterr().err
    assert "ZeroDivisionError" in told and "cannot be written to a file: No space left" in told


@pytest.mark.parametrize(
    "arguments",
    [
        ["sls"],
        ["bogus"],
        ["sls", "a", "--nope"],
        ["show", "nope"],
        ["show", "sls"],
        ["sls", "a", "--out", "x"],
        ["sls", "a", "--timeout=-1"],
        ["sls", "a", "--timeout", "nan"],
        ["sls", "a", "--timeout", "inf"],
        ["sls", "a", "--wait=nan"],
        ["sls", "a", "--splay=-1"],
        ["sls", "a", "--splay=nan"],
        ["sls", "a", "--config", ""],  # of a variable that is not set, as the next ones
        ["sls", "a", "--only="],
        ["apply", "x.plan", "--verify", ""],
        ["init", "x", "--from", "x", "--verify", ""],
        ["fleet", "highstate", "--limit", ""],
        ["undo", "--path", ""],
        [],
    ],
)
def test_usage_errors(
    engine: Engine, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert code(*arguments) == 1
    streams = capsys.readouterr()
    assert streams.out == "" and streams.err and "─" not in streams.err
    assert not engine.calls
    assert "the value is empty" in streams.err or not {"", "--only="} & {*arguments}


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--test", "highstate"], "after the command"),
        (["highstate", "test=True"], "`--test`"),
        (["single", "test.nop", "x", "test=True"], "`--test`"),
        (["single", "test.nop", "x", "pillar={}"], "`--pillar`"),
        (["highstate", "web"], "`runner sls web`"),
        (["sls", "web", "pillar={}"], "`--pillar`"),
        (["state.apply"], "runner-salt-call --local state.apply"),
        (["cmd.run", "id"], "runner call"),
        (["help"], "`runner --help`"),
        (["version"], "`runner --version`"),
        (["web"], "`runner sls web`"),
        (["apply", "web"], "`runner sls NAME`"),
        (["sls", "web", "-test"], "`--test`"),
        (["highstate", "-pillar={}"], "`--pillar={}`"),
        (["-version"], "`--version`"),
    ],
)
def test_what_was_probably_meant(
    engine: Engine,
    arguments: list[str],
    hint: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["runner", *arguments])
    assert code(*arguments) == 1
    assert hint in capsys.readouterr().err
    assert not engine.calls


def test_what_the_engine_is_asked(engine: Engine) -> None:
    code(
        "sls",
        "a,b",
        "c",
        "--test",
        "--out",
        "json",
        "--pillar",
        "{k: 1}",
        "--state-tree",
        "/t",
        "--id",
        "me",
    )
    assert engine.calls == [("sls", ["a", "b", "c"], ())]
    expected = {
        "file": None,
        "id": "me",
        "test": True,
        "pillar": {"k": 1},
        "file_roots": {"base": ["/t"]},
    }
    assert engine.overrides == expected


def test_single_and_call_read_values_as_yaml(engine: Engine) -> None:
    assert code("single", "file.absent", "name=/x", "force=true", "--out", "json") == 0
    engine.answer = {"a": 1}, False
    assert code("call", "m.f", "1", "k=[a]") == 0
    assert engine.calls == [
        ("single", "file.absent", {"name": "/x", "force": True}, ()),
        ("call", "m.f", [1], {"k": ["a"]}),
    ]


def test_json_of_results_and_of_errors(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert code("sls", "a", "--out", "json") == 0
    assert json.loads(capsys.readouterr().out)["local"]["test_|-x_|-x_|-nop"]["comment"] == "fine"
    engine.answer = CompileError([Diagnostic("one"), Diagnostic("two")])
    assert code("sls", "a", "--out", "json") == 1
    assert json.loads(capsys.readouterr().out) == {"local": ["one", "two"]}


def test_check(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.answer = [Diagnostic("hm", severity="warning")]
    assert code("check", "--out", "json") == 0
    assert json.loads(capsys.readouterr().out)["diagnostics"][0]["message"] == "hm"
    engine.answer = [Diagnostic("bad")]
    assert code("check") == 1


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (["state.apply", "a,b", "test=True"], ("sls", ["a", "b"], ())),
        (["state.apply"], ("highstate", ())),
        (["state.highstate"], ("highstate", ())),
        (["state.show_low_sls", "a"], ("show", "low-sls", ["a"])),
        (["pillar.items"], ("show", "pillar", [])),
        (["state.single", "file.absent", "/x"], ("single", "file.absent", {"name": "/x"}, ())),
        (["pkg.version", "nginx"], ("call", "pkg.version", ["nginx"], {})),
        (
            ["state.low", "{state: file, fun: absent, name: /x}"],
            ("single", "file.absent", {"name": "/x"}, ()),
        ),
    ],
)
def test_salt_call(engine: Engine, arguments: list[str], call: Any) -> None:
    if call[0] in ("show", "call"):
        engine.answer = ({}, 0)
    assert code("--local", *arguments, "--out", "json", "--id", "me", program=salt_call.main) == 0
    assert engine.calls == [call]
    assert engine.overrides["id"] == "me" and ("test" in engine.overrides) is (
        "test=True" in arguments
    )


@pytest.mark.parametrize("arguments", ["'sls', '--help'", "'call', 'test.ping'"])
def test_a_closed_pipe_is_quiet(arguments: str) -> None:
    program = (
        "from runner.pipeline import calling\n"
        "from runner.sources.config import load\n"
        "from runner.sources.config.options import Options\n"
        "load.load = lambda *a, **_: (Options(), [])\n"
        "calling.call = lambda *a: ('x' * 100000, 0)\nfrom runner.cli import main;"
        f" main([{arguments}])"
    )
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_closed_stdout_is_no_bug() -> None:
    program = "from runner.cli import main; main(['sls', '--help'])"
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" >&-', sys.executable, program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_under_stderr_stops_nothing(machine: Machine) -> None:
    machine.config["no_such_key"] = 1  # a warning
    for words, expected in ((("single", "test.nop", "name=x"), 0), (("sls", "none"), 1)):
        with open("/dev/full", "w", encoding="utf-8") as full:
            argv, env = machine.argv(*words), machine.environment
            done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=full, env=env, check=False)
        assert done.returncode == expected, done.stdout


def test_code_of_a_tree_does_not_end_runner(machine: Machine) -> None:
    modules = machine.folder / "states/_modules"
    modules.mkdir()
    (modules / "end.py").write_text("import os\ndef now():\n    os._exit(0)\n")
    machine.write(a="x:\n  module.run:\n    - end.now: []\ny:\n  test.nop: []\n")
    found = machine.results("sls", "a", code=2)
    assert "os._exit(0)" in found["x"]["comment"] and found["y"]["result"] is True
    machine.write(a="x:\n  test.nop:\n    - name: {{ salt['end.now']() }}\n")
    assert "os._exit(0)" in machine("sls", "a", code=1).stderr


def test_what_stands_in_the_place_of_an_sls_file_is_named(machine: Machine) -> None:
    states = machine.folder / "states"
    (states / "folder.sls").mkdir()
    (states / "link.sls").symlink_to("nowhere")
    os.mkfifo(states / "pipe.sls")
    for name, what in (("folder", "a directory"), ("link", "a link to nothing"), ("pipe", "no fi")):
        assert f"{states}/{name}.sls is {what}" in machine("sls", name, code=1).stderr


def test_version_and_light_start() -> None:
    program = (
        "import atexit, sys; sys.argv = ['runner', '--version']\n"
        "heavy = {'typer', 'yaml', 'jinja2', 'networkx', 'sqlite3', '_sqlite3'}\n"
        "atexit.register(lambda: print(sorted(heavy & {*sys.modules})))\n"
        "from runner.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"runner {runner.__version__}\n[]\n"


# what a run needs that finds one plain SLS as it should be: every import costs all runs
# (Python before 3.14 has io from its start)
MOST_OF_OURS = 70  # own modules
NEEDED = """
    collections contextlib errno fcntl functools gc io itertools keyword operator reprlib types zlib
"""


# and what further modules need, for commands, accounts and packages
OF_EXPRESSIONS = """
    contextvars copyreg enum fnmatch importlib re typing warnings
"""
FURTHER = f"{OF_EXPRESSIONS} glob grp locale math pwd select selectors signal subprocess threading"

# what only a dry run executes: the files that it plans, and the places in them
PLANNED = ("modules._planned.files", "modules._planned.dry_run", "modules.file._paths.planned_")


def imported_by(machine: Machine, *words: str, times: int = 3) -> list[str]:
    """The modules that a run imports, and executes, when the ones before kept what it needs."""
    program = (
        "import atexit, sys; floor = set(sys.modules)\ndef told():\n"
        "  from runner.support.own_modules import NotYet\n"
        "  new = set(sys.modules) - floor\n"
        "  print(*(n for n in new if type(sys.modules[n]) is not NotYet), file=sys.stderr)\n"
        "atexit.register(told)\nfrom runner.cli import main; main()\n"
    )
    argv = machine.argv(*words)
    argv = [argv[0], "-c", program, *argv[3:]]
    for _ in range(times):
        done = subprocess.run(argv, capture_output=True, text=True, env=machine.environment)
        assert done.returncode == 0, done.stderr
    return done.stderr.split()


def of_python(imported: Iterable[str]) -> set[str]:
    """The packages among them that are not our own, nor only for other modules of Python."""
    packages = {name.split(".")[0] for name in imported} - {"runner", "states", "modules"}
    return {name for name in packages if name[0] != "_"}


def test_a_converged_state_imports_little(machine: Machine) -> None:
    machine.write(a="{tmp}/x:\n  file.managed:\n    - contents: x\n")
    imported = imported_by(machine, "sls", "a")
    assert of_python(imported) <= {*NEEDED.split()}
    assert "runner.sources.config.keys" in imported
    unneeded = (
        "runner.output.manual",
        "runner.sources.config.key_",
        "runner.support.yaml.load",
        "modules.cmd",
        *PLANNED,
    )
    assert [name for name in imported if name.startswith(unneeded)] == []
    ours = [name for name in imported if name.startswith(("runner", "states", "modules"))]
    assert len(ours) <= MOST_OF_OURS, (
        f"{len(ours)} own modules for one converged file, where {MOST_OF_OURS} did: import what"
        " such a run does not call as a module (`from runner.output import json_`), or call it"
        f" only where it is needed. They are: {' '.join(sorted(ours))}"
    )
    assert len(ours) > MOST_OF_OURS - 5, f"lower MOST_OF_OURS to {len(ours)}"


def test_a_first_run_imports_little_more(machine: Machine) -> None:
    """Neither typing nor re, enum, json and struct: together they took a sixth of it."""
    machine.write(
        a="{tmp}/x/y:\n  file.managed:\n    - contents: some words\n    - makedirs: True\n"
    )
    imported = of_python(imported_by(machine, "sls", "a", times=1))
    assert (machine.folder / "x/y").read_text() == "some words\n"
    assert imported & {*"enum fnmatch glob json re resource struct typing".split()} == set()


def test_a_list_of_commands_imports_none_of_them() -> None:
    for words in ([], ["--help"], ["highstat"], ["completion", "candidates", "--", "fish", ""]):
        program = "import atexit, sys\nfrom runner.support.own_modules import executed\n"
        program += "atexit.register(lambda: print(*filter(executed, [*sys.modules])))\n"
        argv = [sys.executable, "-c", f"{program}from runner.cli import main; main()", *words]
        said = subprocess.run(argv, capture_output=True, text=True).stdout.splitlines()
        imported = {name for name in said[-1].split() if name.startswith("runner.cli.commands.")}
        assert imported <= {f"runner.cli.commands.{words[0]}" if words else ""}, words


def test_runs_execute_nothing_of_what_they_do_without(machine: Machine) -> None:
    machine.write(
        top="base: {'*': [a]}\n",
        a="{tmp}/x:\n  file.managed:\n    - contents: x\n"
        "'true':\n  cmd.run:\n    - require: [file: {tmp}/x]\n"
        "'false':\n  cmd.run:\n    - onfail: [cmd: 'true']\n",
    )
    for words in (("highstate",), ("highstate", "--test"), ("show", "lowstate"), ("check",)):
        assert [name for name in imported_by(machine, *words) if extra_of(name)] == []


def test_a_second_highstate_needs_no_pyyaml(machine: Machine) -> None:
    machine.write(
        top="base:\n  '*':\n    - a\n",
        a="{tmp}/x: {file.managed: [contents_pillar: 'x:text']}\n",
        pillar__top="base:\n  '*':\n    - p\n",
        pillar__p="x:\n  text: |\n    some: text\n    # of lines\n  ports: [80, 443]\n",
    )
    assert "yaml" not in imported_by(machine, "highstate")
    machine.write(a="{tmp}/x: {file.managed: [contents: '1']}\n")
    machine("highstate")
    assert (machine.folder / "x").read_text() == "1\n"


def test_why_imports_little_more(machine: Machine) -> None:
    machine.write(top="base: {'*': [a]}\n", a="x:\n  file.managed:\n    - name: /x\n")
    further = {"bisect", "json", *OF_EXPRESSIONS.split()}
    assert of_python(imported_by(machine, "why", "x")) <= {*NEEDED.split(), *further}


def test_a_call_imports_what_a_file_does(machine: Machine) -> None:
    for words in (["test.ping"], ["test.sleep", "0"], ["test.echo", "text=some words"]):
        assert of_python(imported_by(machine, "call", *words)) <= {*NEEDED.split(), "time"}


def test_a_page_of_the_manual_is_read_without_inspect(machine: Machine) -> None:
    heavy = {"importlib.resources", "inspect", "shutil", "tempfile"}
    assert not heavy & {*imported_by(machine, "doc", "file.managed")}


def test_guarded_commands_import_what_a_file_does(machine: Machine) -> None:
    machine.write(a="nothing:\n  cmd.run:\n    - name: 'false'\n    - unless: test 1\n")
    assert of_python(imported_by(machine, "sls", "a")) <= {*NEEDED.split(), "time"}


HEAVY = {"enum", "re", "typing"}


def test_a_converged_template_imports_what_a_file_does(machine: Machine) -> None:
    (machine.folder / "states/t.jinja").write_text("# {{ x }} {{ grains.id }}\n")
    machine.write(
        a="{tmp}/x:\n  file.managed:\n    - source: salt://t.jinja\n    - template: jinja\n"
        "    - context: {x: [1, 2]}\n"
    )
    assert not of_python(imported_by(machine, "sls", "a")) & {"jinja2", "yaml", *HEAVY}


def test_a_converged_formula_needs_no_jinja(machine: Machine) -> None:
    """Its SLS files are what they were, without rendering: as what they look at says."""
    machine.write(
        app__init="{% from 'app/map.jinja' import app, line with context %}\n"
        "include: [app.more]\n"
        "{{ app.conf }}:\n  file.managed:\n    - contents: {{ line(pillar.get('name', 'x')) }}\n",
        app__more="{% if grains['os_family'] == 'Debian' %}\n"
        "{% for n in range(2) %}\n{tmp}/{{ n }}: {file.managed: [contents: x]}\n{% endfor %}\n"
        "{% endif %}\n",
    )
    folder = machine.folder / "states/app"
    (folder / "defaults.yaml").write_text("app: {port: 80}\n")
    (folder / "map.jinja").write_text(
        "{% import_yaml 'app/defaults.yaml' as defaults %}\n"
        f"{{% set own = {{'default': {{'conf': '{machine.folder}/x'}}}} %}}\n"
        "{% set app = salt['grains.filter_by'](own, merge=salt['pillar.get']('app', {})) %}\n"
        "{% do app.update(defaults.app) %}\n"
        "{% macro line(x) %}{{ x }}={{ app.port }}{% endmacro %}\n"
    )
    machine.config["grains"] = {"os_family": "Debian"}
    imported = of_python(imported_by(machine, "sls", "app"))
    assert not imported & {"jinja2", "yaml", *HEAVY}
    assert (machine.folder / "x").read_text() == "x=80\n"


@needs("dpkg-query")
def test_converged_packages_import_what_a_file_does(machine: Machine) -> None:
    machine.write(a="dpkg:\n  pkg.installed: []\n")
    assert not of_python(imported_by(machine, "sls", "a")) & HEAVY


@needs("dpkg-query")
def test_converged_packages_users_and_commands_import_little(machine: Machine) -> None:
    machine.write(
        a="dpkg:\n  pkg.installed: []\nroot:\n  user.present: []\n"
        "nothing:\n  cmd.run:\n    - name: 'false'\n    - unless: 'true'\n"
    )
    imported = imported_by(machine, "sls", "a")
    assert of_python(imported) - {*NEEDED.split()} <= {*FURTHER.split()}
    assert [name for name in imported if extra_of(name)] == []
    stand_ins = (*PLANNED, "modules._accounts.planned", "modules._accounts.view")
    stand_ins += ("modules.pkg._stand_ins",)
    assert [name for name in imported if name.startswith(stand_ins)] == []


def test_a_real_run_executes_nothing_of_the_planned_machine(machine: Machine) -> None:
    """It changes a file; what a dry run lays over the machine is handed to that alone."""
    machine.write(
        a="here: {file.managed: [name: '{tmp}/x', contents: x]}\n"
        "gone: {file.absent: [name: '{tmp}/x']}\n"
    )
    assert [name for name in imported_by(machine, "sls", "a") if name.startswith(PLANNED)] == []
    planned = imported_by(machine, "sls", "a", "--test")
    assert all(any(name.startswith(one) for name in planned) for one in PLANNED)


LOGGING = (
    "{% do salt.log.debug('deb') %}{% do salt.log.warning('warn ' ~ pillar.password) %}\nx:\n "
    " test.nop: []\n"
)


WORK = """
{% set x = salt['cmd.run']('echo asked') %}
{tmp}/f: {file.managed: [source: 'salt://src']}
run it: {cmd.run: [name: 'echo {{ pillar.password }}']}
silent: {cmd.run: [name: echo unspoken, no_log: true]}
bad: {test.fail_without_changes: [comment: no luck]}
"""


def test_the_log_says_what_was_read_rendered_and_run(machine: Machine) -> None:
    machine.write(
        a=WORK,
        pillar__top="base: {'*': [p]}",
        pillar__p="{% do salt['cmd.run']('echo early') %}\npassword: hunter2hunter2",
    )
    (machine.folder / "states/src").write_text("s")
    states, pillar = machine.folder / "states", machine.folder / "pillar"
    log = machine.folder / "log"
    machine("sls", "a", "-q", "--log-level", "debug", "--log-file", str(log), code=2)
    lines = [line.partition("]")[2] for line in log.read_text().splitlines()]
    wanted = [
        f"[INFO    ] configuration: {machine.folder}/runner.yaml; trees: {states}, {pillar}",
        f"[DEBUG   ] read {pillar}/p.sls",
        # no secret is known before the pillar
        "[DEBUG   ] run echo (with arguments that are not shown)",
        f"[INFO    ] rendered {pillar}/p.sls in ",
        "[DEBUG   ] run echo asked",
        f"[INFO    ] rendered {states}/a.sls in ",
        "[INFO    ] compiled in ",
        "[INFO    ] run ",
        f"[DEBUG   ] begin file.managed  {machine.folder}/f ({states}/a.sls:",
        f"[DEBUG   ] read {states}/src",
        f"[DEBUG   ] planned by file.managed  {machine.folder}/f: diff",
        f"[DEBUG   ] change: file.write {machine.folder}/f",
        f"[INFO    ] changed: file.managed  {machine.folder}/f in ",
        "sh -c 'echo **********'",
        "[INFO    ] changed: cmd.run  run it (echo **********) in ",
        "sh (with arguments that are not shown)",
        "[INFO    ] failed: test.fail_without_changes  bad in ",
        "[INFO    ] ended: failed",
    ]
    rest = iter(lines)
    for start in wanted:
        assert any(start in line for line in rest), start
    whole = log.read_text()
    assert "hunter2" not in whole and "unspoken" not in whole and "early" not in whole
    told = machine("sls", "a", "--test", "-l", "info", code=2).stderr
    assert (
        "[INFO    ] dry run 2" in told
        and "would change: cmd.run  run it" in told
        and "DEBUG" not in told
    )
    assert "[INFO" not in machine("sls", "a", code=2).stderr


def test_the_configuration_makes_no_log_in_the_mail_of_cron(machine: Machine) -> None:
    machine.config |= {
        "log_level": "info",
        "log_level_logfile": "debug",
        "log_file": str(machine.folder / "log"),
    }
    machine.write(a="x: {test.nop: []}")
    done = machine("sls", "a", "-q")
    assert done.stdout + done.stderr == ""
    log = (machine.folder / "log").read_text()
    assert "[INFO    ] unchanged: test.nop  x" in log and "[DEBUG   ] begin test.nop  x" in log
    told = machine("sls", "a").stderr
    assert "[INFO    ] unchanged: test.nop  x" in told and "DEBUG" not in told
    assert "[DEBUG" in machine("sls", "a", "-q", "-l", "debug").stderr


def test_log_level_and_log_file(machine: Machine) -> None:
    machine.write(a=LOGGING, pillar__top="base: {'*': [p]}", pillar__p="password: hunter2hunter2")
    (machine.folder / "states" / "_grains").mkdir()
    (machine.folder / "states" / "_grains" / "g.py").write_text(
        "def bad():\n    return 1 / 0\ndef good(grains):\n    return {'x': grains['kernel']}\n"
    )
    usual = machine("call", "grains.get", "x")
    assert usual.stdout.strip() == "Linux"
    assert usual.stderr.startswith(
        "the grains of g.bad are missing: ZeroDivisionError: division by zero"
    )
    assert usual.stderr.count("\n") == 1
    assert machine("sls", "a").stderr.splitlines()[-1] == "warn **********"
    log = machine.folder / "log"
    told = machine("sls", "a", "--log-level", "debug", "--log-file", str(log)).stderr
    assert "[DEBUG   ] deb" in told
    assert "[WARNING ] warn **********" in told
    assert "[runner.template][DEBUG   ] deb" in log.read_text()
    assert "warn" not in machine("sls", "a", "-l", "quiet").stderr
    for command in ("sls", "check"):
        told = machine(command, "a", "-l", "loud", code=1).stderr
        assert "there is no log level 'loud'" in told
    assert "cannot be written" in machine("sls", "a", "--log-file", "/proc/x/y", code=1).stderr
    machine.config["log_file"] = "/proc/x/y"  # type: ignore[assignment]
    assert "the log file /proc/x/y cannot be written" in machine("sls", "a").stderr


def test_an_option_without_its_value_names_the_command() -> None:
    done = prestarted_server().run(["undo", "--path"], {"PATH": os.environ["PATH"]}, 60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("Try 'runner undo --help'.\n")
