# SPDX-License-Identifier: Apache-2.0
"""What a terminal gets of many states, and of programs that print much: what a person can read."""

from __future__ import annotations

from command import Machine


def test_a_mistake_in_many_places_is_explained_three_times(machine: Machine) -> None:
    machine.write(many="".join(f"s{n}:\n  test.nop:\n    - nmae: {n}\n" for n in range(50)))
    machine.config["strict"] = True
    shown = machine("check", "many", code=1).stdout
    assert shown.count("did you mean 'name'?") == 3
    assert shown.count("\n  and at /") == 10 and "many.sls:12:7\n" in shown
    assert shown.endswith("  and at 37 more places (all: --out json)\n50 errors.\n")
    assert len(machine.document("check", "many", code=1)["diagnostics"]) == 50


def test_what_names_another_state_each_time_is_the_same_mistake(machine: Machine) -> None:
    each = "s{n}:\n  test.nop:\n    - require:\n      - test: none\n"
    machine.write(many="".join(each.format(n=n) for n in range(20)), few=each.format(n=1))
    told = machine("sls", "many", code=1).stderr
    assert told.count("error: Referenced state does not exist") == 3
    assert "many.sls:16:9\n" in told and "more places" in told
    assert "and at" not in machine("sls", "few", code=1).stderr


def test_different_mistakes_are_all_explained(machine: Machine) -> None:
    machine.write(many="".join(f"s{n}:\n  test.nope{n}: []\n" for n in range(20)))
    assert machine("check", "many", code=1).stdout.count("error: State 'test.nope") == 20


def test_of_a_thousand_mistakes_of_a_kind_some_are_explained(machine: Machine) -> None:
    machine.write(many="".join(f"etc/x{n}:\n  file.absent: []\n" for n in range(1000)))
    told = machine("check", "many", code=1).stdout
    assert told.count("hint: the ID is taken for the name") == 21
    assert "error: 980 more like this (all: --out json): file.absent: name: " in told
    assert told.endswith("\n1000 errors.\n")


def test_many_states_that_are_skipped_for_one_are_counted(machine: Machine) -> None:
    each = "s{n}:\n  test.nop:\n    - require:\n      - cmd: 'false'\n"
    machine.write(many="'false':\n  cmd.run\n" + "".join(each.format(n=n) for n in range(40)))
    shown = machine("sls", "many", code=2).stdout
    assert shown.count("  skipped  test.nop") == 10
    assert "\n30 more skipped because of cmd: false (all: -v, " in shown
    assert "41 states: 1 failed, 40 skipped" in shown
    whole = machine("sls", "many", "-v", code=2).stdout
    assert whole.count("  skipped  test.nop") == 40 and "more skipped" not in whole
    assert len(machine.answer("sls", "many", code=2)) == 41


def test_of_a_command_that_failed_the_end_is_shown(machine: Machine) -> None:
    machine.write(
        fails="seq 1 500; echo the reason >&2; exit 3:\n  cmd.run: []\n",
        works="seq 1 500:\n  cmd.run: []\n",
    )
    shown = machine("sls", "fails", code=2).stdout
    assert "                1\n" in shown and "more lines (all: -v" in shown
    assert "                500\n" in shown and "stderr: the reason\n" in shown
    assert "                500\n" not in machine("sls", "works").stdout


def test_of_a_long_reason_the_end_is_shown(machine: Machine) -> None:
    machine.write(
        fails="{tmp}/made:\n  file.managed:\n    - contents: x\n"
        '    - check_cmd: sh -c "seq 1 500; echo the reason; false"\n'
    )
    shown = machine("sls", "fails", code=2).stdout
    assert "the reason\n" in shown and shown.count("\n") < 60


def test_a_script_as_a_name_takes_one_line_of_the_report(machine: Machine) -> None:
    script = "".join(f"        echo {n}\n" for n in range(200))
    machine.write(script=f"long:\n  cmd.run:\n    - name: |\n{script}")
    shown = machine("sls", "script").stdout
    assert "cmd.run  long (echo 0 echo 1 " in shown
    assert max(map(len, shown.splitlines())) < 250
