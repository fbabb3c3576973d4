# SPDX-License-Identifier: Apache-2.0
"""Arguments of Salt's states that those of runner lack: each has a row that says what becomes of
it, and what the row says is done.
"""

from __future__ import annotations

import pytest
from command import Machine

from runner.engine.loader.missing import arguments_of_salt, lacking_arguments, of_salt
from runner.engine.loader.registry import Registry
from runner.language.arguments import lacking
from runner.language.arguments.schema import schema_of
from runner.output.manual.descriptions import describe

LIBRARY = Registry({})
LACKING = list(lacking_arguments(LIBRARY))


def test_the_list_of_salts_arguments_has_each_function_that_runner_has_too() -> None:
    own = {
        f"{module}.{name}"
        for module in LIBRARY.state_modules()
        for name in LIBRARY.state_functions(module)
    }
    listed = {name for name, _ in arguments_of_salt()}
    assert not own & {*of_salt("state")} - listed, "add lines to salt_arguments.txt"
    assert len(listed) > 250
    assert not listed - {*of_salt("state")}


def test_each_argument_that_runner_lacks_has_a_row() -> None:
    silent = [
        f"{name}: {argument}" for name, argument in LACKING if not lacking.row(name, argument)
    ]
    assert not silent, "implement it, or add a row to runner/language/arguments/lacking.txt"


def test_no_row_is_of_an_argument_that_runner_has() -> None:
    used = {lacking.row(name, argument) for name, argument in LACKING}
    stale = [row for row in lacking.rows() if row not in used]
    assert not stale
    words = {
        (row, word)
        for name, argument in LACKING
        if (row := lacking.row(name, argument))
        for word in row.arguments.split()
        if lacking.fits(argument, word)
    }
    idle = [
        f"{row.functions}: {word}"
        for row in lacking.rows()
        for word in row.arguments.split()
        if (row, word) not in words
    ]
    assert not idle, "these words of rows are for no argument"


def ignored_arguments() -> set[tuple[str, str]]:
    """The arguments that runner's functions have, and whose description begins with `ignored`."""
    found = set()
    for module in LIBRARY.state_modules():
        for name in LIBRARY.state_functions(module):
            described = describe(LIBRARY, f"{module}.{name}")
            for argument, text in described.arguments.items():
                if text.lower().startswith("ignored"):
                    found.add((f"{module}.{name}", argument))
    return found


def test_no_argument_is_ignored_without_a_reason() -> None:
    ignored = ignored_arguments()
    assert ("file.replace", "bufsize") in ignored and ("pip.removed", "proxy") in ignored

    def rows(function: str, argument: str) -> set[tuple[lacking.Row, str]]:
        return {
            (row, word)
            for row in lacking.rows(lacking.TAKEN)
            for word in row.arguments.split()
            if lacking.fits(function, row.functions) and lacking.fits(argument, word)
        }

    silent = [f"{name}: {argument}" for name, argument in ignored if not rows(name, argument)]
    assert not silent, "do what Salt does, refuse it (lacking), or give the reason (taken)"
    used = {found for name, argument in ignored for found in rows(name, argument)}
    words = {(row, word) for row in lacking.rows(lacking.TAKEN) for word in row.arguments.split()}
    assert not words - used, "these words of rows are for no argument"


def test_a_new_name_is_an_argument_of_the_function() -> None:
    for row in lacking.rows():
        if row.becomes == lacking.RENAMED:
            assert row.text in schema_of(LIBRARY.state(row.functions).function).parameters


@pytest.mark.parametrize(
    ("sls", "cure"),
    [
        ("/tmp/x: {file.managed: [{contents: x}, {selinux: {seuser: a}}]}", "restorecon"),
        ("/x: {cron.file: [{backup: minion}]}", "runner history"),
        ("x: {mysql_user.present: [{client_flags: [compress]}]}", "connection_default_file"),
        ("x: {pkg.removed: [{root: /mnt}]}", "`root`"),
        ("x: {pkg.latest: [{downloadonly: true}]}", "pkg.downloaded"),
        ("x: {service.running: [{enabled: true}]}", "`enable`"),
        ("/tmp/x: {virtualenv.managed: [{find_links: /srv}]}", "bin_env"),
        ("x: {docker_image.present: [{base: a}, {tag: b}, {sls: c}]}", "Dockerfile"),
    ],
)
def test_what_would_mean_something_is_refused(machine: Machine, sls: str, cure: str) -> None:
    machine.write(a=sls)
    for command in (("sls", "a", "--test"), ("check", "a")):
        done = machine(*command, code=None)
        told = done.stdout + done.stderr
        assert done.returncode and "runner does not do what" in told and cure in told, told


def test_what_says_nothing_is_told_with_the_reason(machine: Machine) -> None:
    machine.write(a=f"{machine.folder}/x: {{file.managed: [{{contents: x}}, {{win_owner: me}}]}}")
    assert "it is for Windows" in machine("sls", "a").stderr
    machine.write(a="x: {http.query: [{status: 200}, {opts: {}}]}")
    assert "Salt's own code hands it on" in machine("check", "a", code=1).stdout


def test_a_state_of_the_tree_has_its_own_arguments(machine: Machine) -> None:
    own = machine.folder / "states" / "_states"
    own.mkdir(parents=True)
    (own / "pkg.py").write_text(
        "def latest(name, debconf):\n"
        "    return {'name': name, 'result': True, 'changes': {}, 'comment': debconf}\n"
        "def removed(name):\n"
        "    return {'name': name, 'result': True, 'changes': {}, 'comment': 'gone'}\n"
    )
    machine.write(a="x: {pkg.latest: [{debconf: mine}]}\ny: {pkg.removed: [{downloadonly: 1}]}")
    done = machine.results("sls", "a")
    assert (done["x"]["comment"], done["y"]["comment"]) == ("mine", "gone")


def test_the_command_lists_them(machine: Machine) -> None:
    told = machine.answer("doc", "--missing", "file.")
    assert "restorecon" in told["arguments"]["file.managed: selinux"]
    assert not [name for name in told["arguments"] if not name.startswith("file.")]
    text = machine("doc", "--missing").stdout
    assert "Arguments of states of Salt that runner lacks" in text
    assert "nftables.set_policy: save_filename\n      -> `save:" in text
