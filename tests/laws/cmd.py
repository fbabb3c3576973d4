# SPDX-License-Identifier: Apache-2.0
"""How commands and scripts are tried."""

from pathlib import Path

from laws import Scenario


def with_script(folder: Path) -> None:
    (folder / "say.sh").write_text("#!/bin/sh\necho said $1 '{{ word }}'\n")


def add(*numbers: int, **more: int) -> int:
    return sum(numbers) + sum(more.values())


def tell(result: bool) -> dict[str, object]:
    return {"changes": {"it": "changed"}, "comment": "told", "result": result}


QUIET = {"hide_output": True, "output_loglevel": "quiet", "use_vt": True}
OUTPUT = {"rstrip": False, "output_encoding": "latin-1", "reset_system_locale": False}
LINE = {
    "name": "echo hello > {tmp}/out",
    "cwd": "{tmp}",
    "env": [{"A": "1"}],
    "umask": "077",
    "timeout": 10,
}
SCENARIOS = [
    Scenario("cmd.run", LINE, converges=False),
    Scenario(
        "cmd.run name=cat stdin=x shell=/bin/sh prepend_path=/x clean_env=true", converges=False
    ),
    Scenario("cmd.run name='exit 3' success_retcodes=[3] hide_output=true", converges=False),
    Scenario("cmd.run name='echo changed=yes' stateful=true", converges=False),
    Scenario(
        "cmd.run bg=true use_vt=true output_loglevel=quiet", {"name": "true"}, converges=False
    ),
    Scenario("cmd.run name='/bin/echo x' python_shell=false runas=root", converges=False),
    Scenario("cmd.run name='echo x' cwd={tmp}/nope", breaks='working directory "', converges=False),
    Scenario("cmd.run name='sleep 9' timeout=0.1 ignore_timeout=true", converges=False),
    Scenario("cmd.run name='echo a; exit 1'", {"success_stdout": ["a\n", "a"]}, converges=False),
    Scenario("cmd.run name='echo a'", OUTPUT, converges=False),
    Scenario("cmd.run name='echo b >&2; exit 1' success_stderr=[b]", converges=False),
    Scenario("cmd.run stateful=true", {"name": "true"}, converges=False),
    Scenario(
        "cmd.run name='echo changed=no' stateful='[{test_name: echo changed=yes}]'", converges=False
    ),
    Scenario(
        "cmd.run shell=/no/shell", {"name": "true"}, breaks="The shell /no/shell is not available"
    ),
    Scenario("cmd.wait name='echo hello' clean_env=true", OUTPUT, plans=False),
    Scenario("cmd.watch name='echo hello' clean_env=true", OUTPUT, plans=False),
    Scenario("cmd.script source={tmp}/say.sh args=a", OUTPUT, setup=with_script, converges=False),
    Scenario(
        "cmd.script name='{tmp}/say.sh b' template=jinja context='{word: w}'"
        " defaults='{word: d}' clean_env=true",
        setup=with_script,
        converges=False,
    ),
    Scenario("cmd.script source={tmp}/nope.sh", fails="Unable to cache script"),
    Scenario("cmd.wait_script source={tmp}/say.sh", OUTPUT, plans=False),
    Scenario("cmd.call args=[1,2] kws='{three: 3}'", {"func": add}, converges=False),
    Scenario("cmd.call func=test.echo args=[x]", QUIET, converges=False),
    Scenario("cmd.call args=[true]", {"func": tell}, converges=False),
    Scenario("cmd.call args=[false]", {"func": tell}, breaks="told"),
    Scenario("cmd.call", {"func": add}, breaks=""),
    Scenario("cmd.call func=test.nothing_like_it", fails="is not an execution function"),
    Scenario(
        "cmd.wait_call args=[1] kws='{x: 2}' stateful=true", {"func": add, **QUIET}, plans=False
    ),
]
