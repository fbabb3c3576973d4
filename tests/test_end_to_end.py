# SPDX-License-Identifier: Apache-2.0
"""What a user sees: the command line in its own process, its streams, its exit code, its JSON."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest
import yaml
from command import Machine
from starting import PATIENCE


def test_the_main_job(machine: Machine) -> None:
    machine.write(
        top="base:\n  'm*':\n    - web\n",
        web=(
            "include:\n  - .conf\nreload:\n  cmd.wait:\n    - name: echo reload >> {tmp}/log\n    -"
            " watch:\n      - file: {tmp}/site.conf\n"
        ),
        web__conf=(
            "{tmp}/site.conf:\n  file.managed:\n    - contents_pillar: web:text\n    - mode:"
            " '0640'\n"
        ),
        pillar__top="base:\n  '*':\n    - web\n",
        pillar__web="web:\n  text: listen 80\n",
    )
    (machine.folder / "states/web/init.sls").write_text(
        (machine.folder / "states/web.sls").read_text()
    )
    (machine.folder / "states/web.sls").unlink()
    conf, log = machine.folder / "site.conf", machine.folder / "log"

    dry = machine("highstate", "--test", "--detailed-exitcodes", code=2)
    assert "would change" in dry.stdout
    assert not conf.exists()
    assert not log.exists()

    machine("highstate", "--detailed-exitcodes", code=2)
    assert conf.read_text() == "listen 80\n"
    assert oct(conf.stat().st_mode)[-3:] == "640"
    assert log.read_text() == "reload\n"

    again = machine("highstate", "--detailed-exitcodes", code=0)
    assert "2 unchanged" in again.stdout
    assert log.read_text() == "reload\n"

    machine("highstate", "--pillar", '{"web": {"text": "listen 81"}}')
    assert conf.read_text() == "listen 81\n"
    assert log.read_text() == "reload\nreload\n"


def test_json_has_salts_shape(machine: Machine) -> None:
    machine.write(
        a=(
            "x: test.succeed_with_changes\n"
            "y:\n  test.nop:\n    - require:\n      - test: z\n"
            "z: test.fail_without_changes\n"
        )
    )
    answer = machine.answer("sls", "a", code=2)
    assert list(answer) == [
        "test_|-x_|-x_|-succeed_with_changes",
        "test_|-z_|-z_|-fail_without_changes",
        "test_|-y_|-y_|-nop",
    ]
    assert answer["test_|-y_|-y_|-nop"]["comment"] == "One or more requisite failed: a.z"
    assert answer["test_|-y_|-y_|-nop"]["__state_ran__"] is False
    assert answer["test_|-x_|-x_|-succeed_with_changes"]["__run_num__"] == 0


def test_json_names_what_failed_beside_salts_shape(machine: Machine) -> None:
    failing = "bad:\n  test.configurable_test_state:\n    - changes: true\n    - result: false\n"
    react = "react:\n  cmd.run:\n    - name: 'true'\n    - onchanges:\n      - test: bad\n"
    machine.write(a=failing + react, good="x: test.nop")
    for form, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        answer = read(machine("sls", "a", "--out", form, code=2).stdout)
        assert list(answer) == ["local", "summary"]
        failed, pending = answer["summary"]["failed"], answer["summary"]["pending"]
        place = f"{machine.folder}/states/a.sls"
        tag = "test_|-bad_|-bad_|-configurable_test_state"
        comment = answer["local"][tag]["comment"]
        assert failed == [{"state": tag, "place": f"{place}:2:3", "comment": comment}]
        (one,) = pending
        assert (one["state"], one["place"]) == ("cmd_|-react_|-true_|-run", f"{place}:6:3")
        assert one["reactions"] == answer["local"]["cmd_|-react_|-true_|-run"]["__owed__"]
    assert [*machine.document("sls", "good")] == ["local"]


def test_a_failed_command_says_why_in_every_summary(machine: Machine) -> None:
    """Salt's comment says only that it was run."""
    line = "echo first; echo 'no disk' >&2; exit 3"
    machine.write(a=f"bad:\n  cmd.run:\n    - name: {line}\nquiet: {{cmd.run: [name: exit 4]}}\n")
    answer = machine.document("sls", "a", code=2)
    said = [one["comment"] for one in answer["summary"]["failed"]]
    assert said == ["exit code 3: no disk", "exit code 4"]
    assert answer["local"]["cmd_|-quiet_|-exit 4_|-run"]["comment"] == 'Command "exit 4" run'
    assert 'message="exit code 3: no disk"' in machine("sls", "a", "--out", "junit", code=2).stdout
    assert "exit code 3: no disk" in machine("sls", "a", "-l", "info", code=2).stderr
    page = machine("history", "show", "--out", "html").stdout
    assert page.count("exit code 3: no disk") == 1
    machine("history", "--html", str(machine.folder))
    assert "exit code 3: no disk" in (machine.folder / "index.html").read_text()


def test_mistakes_are_named_where_they_were_typed_and_nothing_runs(machine: Machine) -> None:
    machine.write(
        bad=(
            "{% for n in [1] %}\nfirst:\n  cmd.run:\n    - name: touch {tmp}/touched\n\nsecond{{ n"
            " }}:\n  fiel.managed:\n    - name: /x\nthird:\n  file.managed:\n    - name: {tmp}/f\n "
            "   - mode: rw\n{% endfor %}\n"
        )
    )
    done = machine("sls", "bad", code=1)
    assert "State 'fiel.managed' was not found in SLS 'bad'" in done.stderr
    assert "bad.sls:7:3" in done.stderr
    assert "did you mean file.managed" in done.stderr
    assert "bad.sls:12:" in done.stderr
    assert not (machine.folder / "touched").exists()


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("a:\n  test.nop:\n    - x: {{ nope }}\n", "Jinja variable 'nope' is undefined", "t.sls:3"),
        ("a:\n  test.nop:\n    - x: {% nope %}\n", "Encountered unknown tag 'nope'", "t.sls:3"),
        ("a: b: c\n", "a second colon with a space after it", "t.sls:1:5"),
        ("a:\n\ttest.nop: []\n", "a tab in the indentation", "t.sls:2:1"),
        ("a: test.nop\na: test.nop\n", "found conflicting ID 'a'", "t.sls:2:1"),
        ("include: [nope]\n", "Specified SLS nope in saltenv base is not available", "t.sls:1:11"),
        ("{{ salt['no.such']() }}\n", "'no.such' is not available", "t.sls:1"),
        (
            "a: {test.nop: [{require: [{test: b}]}]}\n",
            "Referenced state does not exist",
            "t.sls:1:27",
        ),
        ("#!nope\na: test.nop\n", "there is no renderer 'nope'", "t.sls:1"),
        ("a: {file.managed: [{name: relative}]}\n", "is not an absolute path", "t.sls:1"),
    ],
)
def test_bad_input(machine: Machine, text: str, message: str, place: str) -> None:
    machine.write(t=text)
    done = machine("sls", "t", code=1)
    assert message in done.stderr
    assert place in done.stderr
    assert machine.answer("sls", "t", code=1)[0]


def test_unknown_arguments_warn_or_fail(machine: Machine) -> None:
    machine.write(t="a:\n  test.nop:\n    - commnet: x\n")
    done = machine("sls", "t")
    assert "test.nop has no argument 'commnet'; it is ignored" in done.stderr
    assert "t.sls:3:7" in done.stderr
    machine.config["strict"] = True  # type: ignore[assignment]
    assert "test.nop has no argument 'commnet'" in machine("sls", "t", code=1).stderr


def test_unknown_states_may_fail_at_their_turn(machine: Machine) -> None:
    machine.write(t="a: nope.nope\nb: test.nop\n")
    machine("sls", "t", code=1)
    machine.config["unknown_states"] = "fail"  # type: ignore[assignment]
    said = machine("sls", "t", "--test", code=2).stderr
    assert "warning: State 'nope.nope' was not found in SLS 't'; it will fail" in said
    results = machine.results("sls", "t", code=2)
    assert results["a"]["result"] is False
    assert "'nope.nope' is not available" in results["a"]["comment"]
    assert results["b"]["result"] is True


def test_requisite_on_an_empty_sls_is_met(machine: Machine) -> None:
    machine.write(t="include: [empty]\na: {test.nop: [{require: [{sls: empty}]}]}\n", empty="")
    assert machine.results("sls", "t")["a"]["result"] is True


def test_prereq_and_listen(machine: Machine) -> None:
    machine.write(
        t=(
            "before:\n  cmd.run:\n    - name: echo before >> {tmp}/log\n    - prereq:\n      -"
            " file: {tmp}/f\n{tmp}/f:\n  file.managed:\n    - contents: x\nlast:\n  cmd.wait:\n   "
            " - name: echo last >> {tmp}/log\n    - listen:\n      - file: {tmp}/f\nafter:\n "
            " cmd.run:\n    - name: echo after >> {tmp}/log\n"
        )
    )
    machine("sls", "t")
    log = machine.folder / "log"
    assert log.read_text() == "before\nafter\nlast\n"
    assert machine.results("sls", "t")["before"]["comment"] == "No changes detected"
    assert log.read_text() == "before\nafter\nlast\nafter\n"


def test_guards(machine: Machine) -> None:
    machine.write(
        t=(
            "a: {test.nop: [{onlyif: 'false'}]}\nb: {test.nop: [{unless: ['true', 'test -d"
            " {tmp}']}]}\nc: {test.nop: [{creates: {tmp}}]}\nd: {test.nop: [{onlyif: [{fun:"
            " test.echo, text: ''}]}]}\ne: {test.succeed_with_changes: [{check_cmd:"
            " ['false']}]}\nf: {test.nop: [{onlyif: ['true', '! false']}]}\n"
        )
    )
    results = machine.results("sls", "t", code=2)
    said = {name: (value["result"], value["comment"]) for name, value in results.items()}
    assert said == {
        "a": (True, "onlyif condition is false"),
        "b": (True, "unless condition is true"),
        "c": (True, f"{machine.folder} exists"),
        "d": (True, "onlyif condition is false"),
        "e": (False, "check_cmd determined the state failed"),
        "f": (True, "Success!"),
    }


def test_retry_and_failhard(machine: Machine) -> None:
    machine.write(
        t=(
            "a:\n  cmd.run:\n    - name: echo x >> {tmp}/n; test $(wc -l < {tmp}/n) -ge 3\n    -"
            " retry: {attempts: 4, interval: 0}\nb: {test.fail_without_changes: [{failhard:"
            " True}]}\nc: test.nop\n"
        )
    )
    results = machine.results("sls", "t", code=2)
    assert results["a"]["result"] is True
    assert results["a"]["comment"].count("Attempt") == 2
    assert list(results) == ["a", "b"]


def test_slots(machine: Machine) -> None:
    machine.write(
        t="{tmp}/f:\n  file.managed:\n    - contents: __slot__:salt:test.echo(hello) ~ ' world'\n"
    )
    machine("sls", "t")
    assert (machine.folder / "f").read_text().startswith("hello")


def test_reload(machine: Machine) -> None:
    """What a state brings is seen by the states that follow when it says so."""
    machine.write(
        t=(
            "{tmp}/fact:\n  file.managed:\n    - contents: new\n    - reload_grains:"
            " True\n{tmp}/states/_modules/late.py:\n  file.managed:\n    - makedirs: True\n    -"
            " reload_modules: True\n    - contents: 'def word(): return"
            " \"late\"'\n{tmp}/pillar/p.sls:\n  file.managed:\n    - contents: 'x: changed'\n    -"
            " reload_pillar: True\n{tmp}/out:\n  file.managed:\n    - contents:\n      -"
            " __slot__:salt:grains.get(fact)\n      - __slot__:salt:late.word()\n      -"
            " __slot__:salt:pillar.get(x)\n"
        ),
        pillar__top="base:\n  '*': [p]\n",
        pillar__p="x: first\n",
    )
    folder = machine.folder / "states/_grains"
    folder.mkdir()
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "fact").write_text("old\n")
    (folder / "mine.py").write_text(
        f"def fact():\n    return {{'fact': open('{machine.folder}/fact').read().strip()}}\n"
    )
    machine("sls", "t")
    assert (machine.folder / "out").read_text().split() == ["new", "late", "changed"]


def test_dependent_dry_run(machine: Machine) -> None:
    machine.write(
        t=(
            "{tmp}/d:\n  file.directory: []\n{tmp}/d/f:\n  file.managed:\n    - contents: x\n    -"
            " require:\n      - file: {tmp}/d\n{tmp}/none/f:\n  file.managed:\n    - contents: x\n"
        )
    )
    results = machine.results("sls", "t", "--test", code=2)
    assert results[f"{machine.folder}/d"]["result"] is None
    assert results[f"{machine.folder}/d/f"]["result"] is None
    assert results[f"{machine.folder}/none/f"]["result"] is False
    assert not (machine.folder / "d").exists()


def test_an_exception_in_a_state_of_the_tree(machine: Machine) -> None:
    by_place = (
        "d: {mine.placed: [{first: 1}, {third: 3}]}\ne: {mine.placed: [{first: 1}, {second: 2}]}\n"
    )
    machine.write(t="a: mine.broken\nb: mine.classic\nc: {mine.planned: [{size: 3}]}\n" + by_place)
    folder = machine.folder / "states/_states"
    folder.mkdir()
    (folder / "mine.py").write_text(
        "from runner.api import Plan, Planned\ndef broken(name):\n    raise ValueError('boom')\ndef"
        " classic(name):\n    result = None if __opts__['test'] else True\n    return {'name':"
        " name, 'changes': {'x': 1}, 'result': result, 'comment': __grains__['id']}\ndef"
        " placed(name, first, second='b', /, third='c', **kwargs):\n    return {'name': name,"
        " 'changes': {'x': [first, second, third]}, 'result': True, 'comment': ''}\ndef"
        " planned(name: str, size: int = 0) -> Planned:\n    yield Plan({'size': size}, 'will"
        " grow')\n    return 'grown'\n"
    )
    results = machine.results("sls", "t", code=2)
    assert "ValueError: boom" in results["a"]["comment"]
    assert results["b"]["comment"] == "m1"
    assert (results["c"]["comment"], results["c"]["changes"]) == ("grown", {"size": 3})
    assert [results[each]["changes"]["x"] for each in "de"] == [[1, "b", 3], [1, 2, "c"]]
    assert machine.results("sls", "t", "--test", code=2)["b"]["result"] is None


def test_a_reaction_survives_a_kill(machine: Machine) -> None:
    """SIGKILL between the change and the reaction: the next run reacts although nothing changes any
    more.
    """
    machine.write(
        t=(
            "{tmp}/f:\n  file.managed:\n    - contents: x\nslow:\n  cmd.run:\n    - name: touch"
            " {tmp}/slow; sleep 1000\n    - unless: test -e {tmp}/slow\nreact:\n  cmd.wait:\n    -"
            " name: touch {tmp}/reacted\n    - watch:\n      - file: {tmp}/f\n"
        )
    )
    with machine.start("sls", "t", ready=machine.folder / "slow"):
        pass  # it is killed
    assert (machine.folder / "f").exists()
    assert not (machine.folder / "reacted").exists()
    owed = machine.answer("show", "pending")
    assert [reaction["kind"] for reaction in owed] == ["watch"]
    machine("sls", "t")
    assert (machine.folder / "reacted").exists()
    assert machine.answer("show", "pending") == []


def owed(machine: Machine) -> list[tuple[str, str]]:
    """The pending reactions: the kind of each, and the ID of its source."""
    answer = machine.answer("show", "pending")
    return [(pending["kind"], pending["source"].split("_|-")[1]) for pending in answer]


@pytest.mark.parametrize(("function", "kind"), [("run", "onchanges"), ("wait", "watch")])
def test_a_source_that_fails_again_sets_nothing_off(
    machine: Machine, function: str, kind: str
) -> None:
    react = f"react: {{cmd.{function}: [{{name: 'true'}}, {{{kind}: [{{test: source}}]}}]}}\n"
    failing = "source: {test.configurable_test_state: [changes: true, result: false]}\n"
    machine.write(t=failing + react)
    for _ in range(2):
        answer = machine.results("sls", "t", code=2)["react"]
        assert answer["changes"] == {}
        (said,) = answer["__owed__"]
        assert said.endswith("; it stays pending until test: source no longer fails")
        assert owed(machine) == [(kind, "source")]
    machine.write(t="source: {test.configurable_test_state: [changes: false]}\n" + react)
    assert machine.results("sls", "t")["react"]["changes"]
    assert owed(machine) == []


ROLLBACK = """
source: {{test.configurable_test_state: [changes: {changes}]}}
deployed: {{test.configurable_test_state: [changes: false, result: {deployed}]}}
rollback:
  cmd.{function}: [name: 'true', {kind}: [test: source], onfail: [test: deployed]]
"""


@pytest.mark.parametrize(("function", "kind"), [("run", "onchanges"), ("wait", "watch")])
def test_conditions_of_two_runs_are_not_joined(machine: Machine, function: str, kind: str) -> None:
    """A change in a run that called for no rollback is not what a later one rolls back."""
    machine.write(t=ROLLBACK.format(changes=True, deployed=True, function=function, kind=kind))
    assert machine.results("sls", "t")["rollback"]["changes"] == {}
    assert owed(machine) == []
    machine.write(t=ROLLBACK.format(changes=False, deployed=False, function=function, kind=kind))
    assert machine.results("sls", "t", code=2)["rollback"]["changes"] == {}


def test_a_command_that_could_not_begin_owes_nothing(machine: Machine) -> None:
    tree = (
        "source:\n  cmd.run:\n    - name: 'true'\n    - cwd: {tmp}/later\n"
        "react:\n  cmd.wait:\n    - name: 'true'\n    - watch: [cmd: source]\n"
    )
    machine.write(t=tree)
    machine("sls", "t", code=2)
    assert machine.answer("show", "debts") == []
    machine.write(t=tree.replace("name: 'true'\n    - cwd: {tmp}/later", "name: 'false'", 1))
    machine("sls", "t", code=2)
    owed = machine.answer("show", "debts")
    assert [debt["source"] for debt in owed] == ["cmd_|-source_|-false_|-run"]


def test_what_is_skipped_says_what_it_still_owes_and_because_of_whom(machine: Machine) -> None:
    """The source changed, the reactor is kept from reacting: it says so in this run and in those
    after it.
    """
    text = (
        "{tmp}/f:\n  file.managed:\n    - contents: x\nroot:\n  cmd.run:\n    - name: test -e"
        " {tmp}/fine\nbetween:\n  test.nop:\n    - require: [cmd: root]\nreact:\n  cmd.wait:\n    -"
        " name: touch {tmp}/reacted\n    - watch: [file: {tmp}/f]\n    - require: [test: between]\n"
    )
    machine.write(t=text)
    for _ in range(2):
        answer = machine.results("sls", "t", code=2)["react"]
        (owed,) = answer["__owed__"]
        assert answer["__cause__"].startswith("cmd_|-root_|-")
        assert owed.startswith(f"watch of file: {machine.folder}/f since ")
        assert owed.endswith("; it stays pending until cmd: root no longer fails")
    assert "pending reaction: watch of file:" in machine("sls", "t", code=2).stdout
    (machine.folder / "fine").touch()
    assert "__owed__" not in machine.results("sls", "t")["react"]
    assert (machine.folder / "reacted").exists()


def test_secrets_are_not_shown(machine: Machine) -> None:
    machine.write(
        t=(
            "{tmp}/f:\n  file.managed:\n    - contents: hunter22\n    - show_changes: False\n"
            "g:\n  cmd.run:\n    - name: echo hunter23\n    - no_log: True\n"
        )
    )
    done = machine("sls", "t", "--out", "json")
    assert "hunter22" not in done.stdout + done.stderr
    assert (
        json.loads(done.stdout)["local"]["cmd_|-g_|-**********_|-run"]["changes"]["stdout"]
        == "**********"
    )


def test_single_call_and_show(machine: Machine) -> None:
    machine.write(top="base:\n  '*': [t]\n", t="a: test.nop\n")
    machine("single", "file.managed", f"name={machine.folder}/s", "contents=x")
    assert (machine.folder / "s").read_text() == "x\n"
    assert machine.document("call", "test.echo", "[1, 2]") == {"local": [1, 2]}
    assert machine.document("show", "top") == {"local": {"base": ["t"]}}
    assert "digraph" in machine("show", "graph").stdout
    assert machine("check").stdout.strip() == "No mistakes found."


def test_a_source_that_is_not_in_the_tree_fails_its_state_alone(machine: Machine) -> None:
    machine.write(
        t="""
        a: {file.managed: [{name: {tmp}/a}, {source: 'salt://no'}]}
        b: {file.managed: [{name: {tmp}/b}, {contents: x}]}
        c: {file.managed: [{name: {tmp}/c}, {contents: x}, {require: [{file: a}]}]}
        """.replace("{tmp}", str(machine.folder))
    )
    done = machine.results("sls", "t", code=2)
    assert [done[each]["result"] for each in "abc"] == [False, True, False]
    assert (
        done["a"]["comment"]
        == "Unable to manage file: Source file salt://no not found in saltenv 'base'"
    )
    told = machine("sls", "t", code=2).stderr
    assert "salt://no is not in the tree" in told and "t.sls:2" in told
    assert "salt://no is not in the tree" in machine("check", "t", code=1).stdout


def test_a_file_that_is_typed_and_not_there_is_told_by_its_result(machine: Machine) -> None:
    name = f"name={machine.folder}/f"
    done = machine("single", "file.managed", name, "source=salt://no", code=2)
    assert "salt://no" in done.stdout and "salt://no" not in done.stderr


def test_a_relative_path_on_the_command_line_fails(machine: Machine) -> None:
    (done,) = machine.results("single", "file.absent", "name=a/b", code=2).values()
    assert (done["result"], done["comment"]) == (
        False,
        "Specified file a/b is not an absolute path",
    )


def test_salt_call(machine: Machine) -> None:
    machine.write(t="{tmp}/f:\n  file.managed:\n    - contents: {{ pillar['x'] }}\n")
    folders = {"cachedir": "cache", "state_dir": "state"}
    machine.config |= {key: str(machine.folder / name) for key, name in folders.items()}
    argv = machine.argv("x")
    config = argv[argv.index("--config") + 1]
    code = "from runner.cli.salt_call import main; main()"
    words = ["--local", "-c", config, "state.apply", "t", 'pillar={"x": 7}', "--out", "json"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        env=machine.environment,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["local"]
    assert (machine.folder / "f").read_text() == "7\n"


def test_one_run_at_a_time(machine: Machine) -> None:
    machine.write(
        t="a:\n  cmd.run:\n    - name: touch {tmp}/started; sleep 1000\n", u="b: test.nop\n"
    )
    with machine.start("sls", "t", ready=machine.folder / "started") as process:
        second = machine("sls", "u", code=3)
        assert f"another run is under way: process {process.pid} since " in second.stderr
        machine("show", "low-sls", "u")
    machine("sls", "u")  # the lock of a dead process holds nobody up


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("before", [False, True], ids=["run", "compile"])
def test_interrupted(machine: Machine, number: int, code: int, before: bool) -> None:
    slow = "touch {tmp}/started; sleep 1000"
    first = (
        f"{{% do salt['cmd.run']('{slow}', python_shell=True) %}}\n"
        if before
        else f"a:\n  cmd.run:\n    - name: {slow}\n"
    )
    machine.write(t=first + "b:\n  cmd.run:\n    - name: touch {tmp}/b\n")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with machine.start("sls", "t", ready=machine.folder / "started", **pipes) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert "Traceback" not in out + err
    assert ("nothing was run" in err) is before and "nterrupted by" in out + err
    assert not (machine.folder / "b").exists()


def test_a_target_that_cannot_be_read_is_told_in_every_run(machine: Machine) -> None:
    machine.write(top="base:\n  'web* or':\n    - a\n  '*':\n    - a", a="a: test.nop")
    assert "nothing follows 'or' [match]\n  at " in machine("highstate", "--test").stderr
    machine.write(top="base:\n  'web* or':\n    - a")
    told = machine("highstate", "--test", code=1).stderr
    assert "No Top file" in told and "top.sls:2:3" in told


def test_a_number_is_no_path(machine: Machine) -> None:
    """That of an open file would close it: 1 is where the answer goes."""
    for call in (
        "cp.hash_file",
        "hashutil.digest_file",
        "archive.list",
        "file.read",
        "dnsutil.parse_hosts",
    ):
        machine.write(a=f"a:\n  test.nop:\n    - name: {{{{ salt['{call}'](1) }}}}")
        assert call in machine("sls", "a", code=1).stderr


def test_a_long_chain_of_includes(machine: Machine) -> None:
    for number in range(700):
        (machine.folder / f"states/s{number}.sls").write_text(f"include: [s{number + 1}]\n")
    machine.write(s700="a: test.nop")
    assert list(machine.results("sls", "s0")) == ["a"]


def test_the_environment_in_opts_is_that_of_named_files(machine: Machine) -> None:
    says = "{{ opts.saltenv }} {{ salt['config.get']('saltenv') }}"
    machine.write(a=f"{says}: {{test.nop: []}}\n", top="base: {'*': [a]}\n")
    for words in (["sls", "a"], ["sls", "a", "--test"]):
        assert list(machine.results(*words)) == ["base base"]
    assert list(machine.results("highstate")) == ["None None"]
    assert "base base" in machine("show", "sls", "a").stdout
    plan = str(machine.folder / "plan")
    machine("sls", "a", "--test", "--plan", plan)
    machine("apply", plan)
