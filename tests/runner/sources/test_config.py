# SPDX-License-Identifier: Apache-2.0
"""Configuration files in real folders."""

import glob
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from harness import needs_a_name, own_name
from needing import needs_root

from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError, UsageError
from runner.model.said_in import key_folder
from runner.sources.config import load as config
from runner.sources.config.file import expand, setting_place
from runner.sources.config.options import Options


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration of this machine takes part."""
    monkeypatch.setattr(config, "SYSTEM", str(tmp_path / "etc" / "runner.yaml"))
    monkeypatch.setattr(config, "SALT_MINION", str(tmp_path / "etc" / "salt" / "minion"))
    work = tmp_path / "work"
    work.mkdir(mode=0o755)
    monkeypatch.chdir(work)


def load(
    tmp_path: Path,
    text: str | None = None,
    environ: Any = None,
    name: str = "runner.yaml",
    **overrides: Any,
) -> tuple[Options, list[Diagnostic]]:
    file = None
    if text is not None:
        file = tmp_path / "conf" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    env = {"HOME": str(tmp_path / "home"), **(environ or {})}
    options, warnings = config.load(file and str(file), overrides, env)
    return options, list(warnings)


def test_patterns_of_files_mean_what_they_mean_to_glob(tmp_path: Path) -> None:
    for name in ("a.conf", "b.conf", ".c.conf", "conf", ".conf", "x.d/y.conf", "a.conf.bak"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    for pattern in "*.conf a* .* * a*f x.d/* x*/* ?.conf no/* a.con*.conf".split():
        assert expand(f"{tmp_path}/{pattern}") == sorted(glob.glob(f"{tmp_path}/{pattern}"))


def test_defaults(tmp_path: Path) -> None:
    options, warnings = load(tmp_path)
    assert warnings == []
    assert (options.renderer, options.state_top, options.unknown_states) == (
        "jinja|yaml",
        "top.sls",
        "error",
    )
    assert (options.state_auto_order, options.test, options.saltenv) == (True, False, None)
    assert options.file_roots["base"][0] in ("/srv/runner/states", "/srv/salt")
    assert options.pillar_roots["base"][0] in ("/srv/runner/pillar", "/srv/pillar")
    assert options.id.split(".")[0] == os.uname().nodename.split(".")[0]
    raw = options.raw
    assert (raw["id"], raw["test"], raw["file_client"]) == (options.id, False, "local")
    assert raw["file_roots"] == {env: list(folders) for env, folders in options.file_roots.items()}


def test_a_whole_file(tmp_path: Path) -> None:
    text = """
id: web1
file_roots: {base: [states, /srv/more], dev: dev}
pillar_roots: {base: [../pillar]}
grains: {roles: [web]}
nodegroups: {webs: 'web*'}
jinja_env: {trim_blocks: true}
failhard: true
state_aggregate: [pkg]
env_order: [base, dev]
environment: dev
pillarenv_from_saltenv: true
mysql.host: localhost
my_app: {anything: 1}
"""
    options, warnings = load(tmp_path, text.replace("my_app: {anything: 1}\n", ""))
    assert warnings == []
    base = f"{tmp_path}/conf"
    assert options.file_roots == {"base": (f"{base}/states", "/srv/more"), "dev": (f"{base}/dev",)}
    assert options.pillar_roots == {"base": (f"{tmp_path}/pillar",)}
    assert (options.id, options.grains, options.nodegroups) == (
        "web1",
        {"roles": ["web"]},
        {"webs": "web*"},
    )
    assert (options.failhard, options.state_aggregate, options.env_order) == (
        True,
        ("pkg",),
        ("base", "dev"),
    )
    assert (options.saltenv, options.pillarenv, options.jinja_env) == (
        "dev",
        "dev",
        {"trim_blocks": True},
    )
    assert options.raw["mysql.host"] == "localhost" and options.raw["config_dir"] == base


def test_the_command_line_wins(tmp_path: Path) -> None:
    more = {
        "id": "me",
        "file_roots": {"base": ["/t"]},
        "test": True,
        "pillar": {"a": 1},
        "only": ["x"],
    }
    options, _ = load(tmp_path, "id: web1\ntest: false\nfile_roots: {base: [s]}", **more)
    assert (options.id, options.file_roots, options.test) == ("me", {"base": ("/t",)}, True)
    assert (options.pillar, options.only, options.raw["test"]) == ({"a": 1}, ("x",), True)


def test_globs_in_roots(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / "conf" / "formulas" / name).mkdir(parents=True)
    options, _ = load(tmp_path, "file_roots: {base: [states, 'formulas/*']}")
    folders = [f"{tmp_path}/conf/{name}" for name in ("states", "formulas/a", "formulas/b")]
    assert list(options.file_roots["base"]) == folders


@pytest.mark.parametrize(
    ("name", "text", "overrides", "cache", "state"),
    [
        ("runner.yaml", "cachedir: c", {}, "conf/c", "conf/c/state"),
        ("runner.yaml", "{cachedir: c, state_dir: s}", {}, "conf/c", "conf/s"),
        ("runner.yaml", "cachedir: c", {"cachedir": "d"}, "work/d", "work/d/state"),
        ("runner.yaml", "{cachedir: c, state_dir: s}", {"cachedir": "d"}, "work/d", "conf/s"),
        ("runner.yaml", "state_dir: s", {"cachedir": "d"}, "work/d", "conf/s"),
        ("runner.yaml", "state_dir: s", {"state_dir": "t", "cachedir": "d"}, "work/d", "work/t"),
        ("minion", "cachedir: c", {}, "conf/c", None),
    ],
)
def test_cachedir(
    tmp_path: Path, name: str, text: str, overrides: Any, cache: str, state: str | None
) -> None:
    options, _ = load(tmp_path, text, name=name, **overrides)
    usual = load(tmp_path)[0].state_dir
    assert options.cachedir == options.raw["cachedir"] == f"{tmp_path}/{cache}"
    assert options.state_dir == (f"{tmp_path}/{state}" if state else usual)


@pytest.mark.parametrize("environ", [{}, {"XDG_CACHE_HOME": "/xc", "XDG_STATE_HOME": "/xs"}])
def test_folders_of_a_user(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    options, _ = load(tmp_path, environ=environ)
    home = f"{tmp_path}/home"
    cache, state = (
        environ.get("XDG_CACHE_HOME", f"{home}/.cache"),
        environ.get("XDG_STATE_HOME", f"{home}/.local/state"),
    )
    assert (options.cachedir, options.state_dir) == (f"{cache}/runner", f"{state}/runner")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    options, _ = load(tmp_path, environ=environ)
    assert (options.cachedir, options.state_dir) == ("/var/cache/runner", "/var/lib/runner")


# ---------------------------------------------------------------- which file


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_search_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "etc" / "runner.yaml", "id: system")
    assert load(tmp_path)[0].id == "system"
    write(tmp_path / "home" / ".config" / "runner" / "runner.yaml", "id: user")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() or 1000)
    assert load(tmp_path)[0].id == "user"
    monkeypatch.undo()
    monkeypatch.setattr(config, "SYSTEM", str(tmp_path / "etc" / "runner.yaml"))
    monkeypatch.chdir(tmp_path / "work")
    write(tmp_path / "work" / "runner.yaml", "id: folder")
    options, warnings = load(tmp_path)
    assert options.id == "folder"
    assert [(item.code, item.message) for item in warnings] == [
        ("config-used", f"using {tmp_path / 'work' / 'runner.yaml'}")
    ]
    write(tmp_path / "named.yaml", "id: variable")
    assert (
        load(tmp_path, environ={"RUNNER_CONFIG": str(tmp_path / "named.yaml")})[0].id == "variable"
    )
    options, warnings = load(
        tmp_path, "id: flag", environ={"RUNNER_CONFIG": str(tmp_path / "named.yaml")}
    )
    assert (options.id, warnings) == ("flag", [])


@pytest.mark.parametrize(
    ("folder", "file"), [(0o775, 0o644), (0o1777, 0o644), (0o755, 0o664), (0o755, 0o646)]
)
def test_a_file_that_others_can_write_is_not_used(tmp_path: Path, folder: int, file: int) -> None:
    path = tmp_path / "work" / "runner.yaml"
    write(path, "id: stranger")
    path.chmod(file)
    path.parent.chmod(folder)
    options, warnings = load(tmp_path)
    assert options.id != "stranger"
    assert len(warnings) == 1 and "others can write it" in warnings[0].message


@needs_root("to give files away")
@pytest.mark.parametrize("what", ["work/runner.yaml", "work"])
def test_a_file_of_somebody_else_is_not_used(tmp_path: Path, what: str) -> None:
    write(tmp_path / "work" / "runner.yaml", "id: stranger")
    os.chown(tmp_path / what, 65534, 65534)
    assert load(tmp_path)[0].id != "stranger"


def test_a_key_of_an_inner_mapping_that_is_there_twice_is_a_warning(tmp_path: Path) -> None:
    text = (
        "file_roots:\n  base: [a]\n  base: [b]\nnodegroups:\n  base: x\n"
        "pillar:\n  motd: |\n    base: 1\n    base: 2\n  web: [{base: 1}, {base: 2}]\n"
        "  list:\n  - base: 1\n    x: 1\n  - base: 2\n    x: 1\n"
    )
    _, (warning,) = load(tmp_path, text)
    assert warning.message == "the key 'base' is also in line 2; this one counts"
    assert str(warning.source).endswith("runner.yaml:3:3")


def test_a_key_that_is_there_twice_is_a_warning(tmp_path: Path) -> None:
    options, (warning,) = load(tmp_path, "id: a\ngrains:\n  id: c\nid: b\n")
    assert options.id == "b"
    assert warning.message == "the key 'id' is also in line 1; this one counts"
    assert str(warning.source).endswith("runner.yaml:4:1")


def test_what_is_no_file_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "work/runner.yaml").mkdir(parents=True)
    with pytest.raises(UsageError) as error:
        load(tmp_path)
    assert str(error.value) == "the configuration file runner.yaml is not a regular file"
    (tmp_path / "work/runner.yaml").rmdir()
    (tmp_path / "work/runner.yaml").symlink_to("nothing")
    warning = load(tmp_path)[1][0]
    assert warning.message.endswith("work/runner.yaml is not used: it is a link to nothing")


def test_a_salt_minion_is_mentioned_not_used(tmp_path: Path) -> None:
    write(tmp_path / "etc" / "salt" / "minion", "id: salty")
    options, warnings = load(tmp_path)
    assert options.id != "salty"
    assert f"runner highstate --config {tmp_path}/etc/salt/minion" in (warnings[0].hint or "")
    assert config.load(str(tmp_path / "etc" / "salt"), {}, {})[0].id == "salty"


def test_includes(tmp_path: Path) -> None:
    write(tmp_path / "conf" / "minion.d" / "b.conf", "my_app: 2\ngrains: {b: 1}\nunknwon: 1\n")
    write(tmp_path / "conf" / "minion.d" / "a.conf", "my_app: 1\nfailhard: true\n")
    write(tmp_path / "conf" / "extra" / "x.conf", "my_app: 3\n")
    options, _ = load(tmp_path, "include: extra/*.conf\ngrains: {a: 1}\nmy_app: 0", name="minion")
    assert (options.raw["my_app"], options.grains, options.failhard) == (3, {"b": 1}, True)
    options, warnings = load(tmp_path, "default_include: minion.d/*.conf\nmy_app: 0")
    assert options.raw["my_app"] == 2
    assert f"{tmp_path}/conf/minion.d/b.conf:3:1" in [str(item.source) for item in warnings]
    assert str(setting_place(options.raw, "failhard")) == f"{tmp_path}/conf/minion.d/a.conf:2:1"
    assert key_folder(options.raw, "failhard") == f"{tmp_path}/conf"


def test_what_several_included_files_say_is_joined(tmp_path: Path) -> None:
    """Checked beside Salt: at every depth, over what the main file says of a key."""
    folder = tmp_path / "conf" / "minion.d"
    write(folder / "a.conf", "file_roots: {base: [/a], dev: [/d]}\ngrains: {n: {a: 1}, x: 1}\n")
    write(folder / "b.conf", "file_roots: {base: [/b]}\ngrains: {n: {b: 1}, x: 2}\n")
    main = "grains: {main: 1}\nmy_app: {z: 1}\n"
    options, _ = load(tmp_path, main, name="minion")
    assert dict(options.file_roots) == {"base": ("/a", "/b"), "dev": ("/d",)}
    assert options.grains == {"n": {"a": 1, "b": 1}, "x": 2}
    assert options.raw["my_app"] == {"z": 1}
    write(tmp_path / "conf" / "sub" / "c.conf", "grains: {c: 1}\ninclude: d.conf\nmy_app: c\n")
    write(tmp_path / "conf" / "sub" / "d.conf", "grains: {d: 1}\n")
    options, warnings = load(tmp_path, main + "include: [sub/c.conf, none.conf]\n", name="minion")
    assert (options.grains, options.raw["my_app"]) == ({"d": 1}, "c")
    (missing,) = [each for each in warnings if "there is no file" in each.message]
    assert str(missing.source) == f"{tmp_path}/conf/minion:3:1"
    write(tmp_path / "conf" / "sub" / "d.conf", "include: c.conf\n")
    with pytest.raises(UsageError, match=r"c\.conf includes itself"):
        load(tmp_path, "include: sub/c.conf\n", name="minion")


def test_grains_and_id_beside_the_file(tmp_path: Path) -> None:
    write(tmp_path / "conf" / "grains", "both: file\nmore: 1\n")
    write(tmp_path / "conf" / "minion_id", "saved\n")
    options, _ = load(tmp_path, "grains: {both: conf}")
    assert (options.grains, options.id) == ({"both": "conf", "more": 1}, "saved")
    assert load(tmp_path, "id: named")[0].id == "named"


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("file_root", "file_roots"),
        ("pilar_roots", "pillar_roots"),
        ("stict", "strict"),
        ("quite_different", None),
    ],
)
def test_unknown_keys(tmp_path: Path, key: str, near: str | None) -> None:
    _, warnings = load(tmp_path, f"id: a\n{key}: 1\n")
    assert [(item.severity, item.hint) for item in warnings] == [
        ("warning", near and f"did you mean {near}?")
    ]
    assert str(warnings[0].source) == f"{tmp_path}/conf/runner.yaml:2:1"


def test_a_salt_minions_keys_are_known(tmp_path: Path) -> None:
    text = (
        "master: salt\nmine_interval: 5\nextension_modules: /x\nstate_output: changes\nproviders:"
        " {pkg: apt}\n"
    )
    assert load(tmp_path, text, name="minion")[1] == []


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("file_roots: /srv/salt", "file_roots has to be a mapping, not '/srv/salt'", "- /srv/salt"),
        ("timeout: -1", "timeout has to be seconds, from 0 to 1000000000, not -1", ""),
        (
            "file_roots: {base: [1]}",
            "file_roots: base has to be a list of folders, not [1]",
            "base:",
        ),
        (
            "failhard: 'yes'",
            "failhard has to be true or false, not 'yes'",
            "write true, without quotes",
        ),
        ("grains: [a]", "grains has to be a mapping", None),
        ("unknown_states: ignore", "unknown_states: there is no 'ignore'", "one of error, fail"),
        (
            "state_aggregate: pkg",
            "state_aggregate has to be true or false or a list",
            "`runner doc config state_aggregate`",
        ),
        (
            "file_ignore_regex: ['[']",
            "file_ignore_regex: '[' is not a regular expression: unterminated",
            None,
        ),
        ("file_ignore_regex: (", "file_ignore_regex: '(' is not a regular expression", None),
        ("file_ignore_glob: [5]", "file_ignore_glob: 5 is not a text", None),
        ("env_order: [{a: 1}]", "env_order: {'a': 1} is not a text", None),
        ("tags: [2024]", "tags: 2024 is not a text", None),
        ("only: [1]", "only: 1 is not a text", None),
        ("exclude: [1]", "exclude: 1 is not a text or a mapping", None),
        ("tags: [null]", "tags: None is not a text", None),
        ("state_aggregate: [1]", "state_aggregate: 1 is not a text", None),
        ("module_dirs: [5]", "module_dirs: 5 is not a text", None),
    ],
)
def test_wrong_values(tmp_path: Path, text: str, message: str, hint: str | None) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path, "test: false\n" + text)
    assert (
        message in error.value.message
        and str(error.value.source) == f"{tmp_path}/conf/runner.yaml:2:1"
    )
    assert (hint or "") in (error.value.hint or "")


def test_all_wrong_values_at_once(tmp_path: Path) -> None:
    with pytest.raises(RunnerError) as error:
        load(tmp_path, "failhard: 3\nid: [a]\n")
    assert [item.source and item.source.line for item in error.value.diagnostics] == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]", "not a mapping"),
        ("a: [", "not YAML"),
        ("a: 1\na b: {", "not YAML"),
        ("\x01", "not YAML"),
        ("id: a\n# \0", "contains a NUL character"),
    ],
)
def test_unreadable_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path, text)
    assert message in str(error.value)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        config.load("/nope.yaml", {}, {})
    assert "/nope.yaml does not exist" in str(error.value) and "--config" in str(error.value)
    with pytest.raises(UsageError) as error:
        config.load(None, {}, {"RUNNER_CONFIG": str(tmp_path)})
    assert "has no runner.yaml" in str(error.value) and "$RUNNER_CONFIG" in str(error.value)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="pipe is not a regular file"):
        config.load(str(tmp_path / "pipe"), {}, {})


def test_an_odd_strategy_is_a_warning(tmp_path: Path) -> None:
    _, warnings = load(tmp_path, "pillar_source_merging_strategy: smrt")
    assert [item.severity for item in warnings] == ["warning"]


def test_options_that_jinja_does_not_have_are_warnings(tmp_path: Path) -> None:
    _, warnings = load(
        tmp_path, "jinja_env:\n  lstrip_bloks: true\njinja_sls_env: {trim_blocks: true, 5: 6}"
    )
    assert [(item.message, item.severity, str(item.source)) for item in warnings] == [
        (
            "jinja_env: Jinja has no option 'lstrip_bloks'",
            "warning",
            f"{tmp_path}/conf/runner.yaml:2:3",
        ),
        ("jinja_sls_env: Jinja has no option 5", "warning", f"{tmp_path}/conf/runner.yaml:3:36"),
    ]
    assert warnings[0].hint == "did you mean lstrip_blocks?"


def test_what_a_dry_run_cannot_foresee_is_refused(tmp_path: Path) -> None:
    for value, told in (
        ("{packages: sometimes}", "packages has to be one of auto, cache, never, not 'sometimes'"),
        ("{size: much}", "size has to be a whole number, not 'much'"),
        ("{seconds: -1}", "seconds has to be from 0 to 1000000000, not -1"),
        ("{downloads: 1}", "downloads has to be true or false, not 1"),
        ("{packags: auto}", "packags is not known"),
        ("never", "has to be a mapping, not 'never'"),
        ("{size: 2.5}", "size has to be a whole number, not 2.5"),
    ):
        with pytest.raises(UsageError) as raised:
            load(tmp_path, f"foresee: {value}")
        assert told in raised.value.message
        assert str(raised.value.source).startswith(f"{tmp_path}/conf/runner.yaml:1:")
    options, warnings = load(
        tmp_path, "foresee: {packages: cache, downloads: no, size: 0, seconds: 2.5}"
    )
    assert not warnings
    assert options.raw["foresee"]["size"] == 0


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("fleet: {fork: 3}", "fleet: fork is not known", "did you mean forks?"),
        ("fleet: {zzz: 3}", "fleet: zzz is not known", "there are inventory, forks"),
        ("fleet: {forks: yes}", "fleet: forks has to be a whole number, not True", None),
        (
            "fleet: {inventory: [3]}",
            "fleet: inventory has to be a text or a list of texts, not [3]",
            None,
        ),
        ("mysql.port: [1]", "mysql.port has to be a whole number", None),
        ("docker.version: 1.40", "docker.version has to be a text", "write it in quotes"),
    ],
)
def test_every_reading_refuses_what_is_below_a_key(
    tmp_path: Path, text: str, message: str, hint: str | None
) -> None:
    with pytest.raises(UsageError) as raised:
        load(tmp_path, text)
    assert (raised.value.message, raised.value.hint) == (message, hint)
    assert str(raised.value.source).startswith(f"{tmp_path}/conf/runner.yaml:1:")


def test_keys_of_modules_may_be_empty_numbers_in_quotes_or_of_ones_own(tmp_path: Path) -> None:
    _, warnings = load(tmp_path, "mysql.pass: ''\nredis.port: '6380'\nmine.key: [1]\nredis.db:\n")
    assert not warnings


def test_a_password_of_the_wrong_type_is_not_shown(machine: Machine) -> None:
    machine.config["mysql.pass"] = 987654
    done = machine("show", "grains", code=None)
    assert done.returncode
    assert "mysql.pass has to be a text" in done.stderr
    assert "987654" not in done.stderr + done.stdout


def test_a_pillarenv_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    _, (warning,) = load(tmp_path, "pillar_roots: {base: [x]}\npillarenv: bse")
    assert (
        warning.message == "pillarenv: there is no environment 'bse', so that the pillar is empty"
    )
    assert (str(warning.source), warning.hint) == (
        f"{tmp_path}/conf/runner.yaml:2:1",
        "pillar_roots has: base",
    )
    assert load(tmp_path, "pillar_roots: {__env__: [x]}\npillarenv: bse")[1] == []
    assert load(tmp_path, "pillarenv_from_saltenv: true\nsaltenv: dev")[1] == []


def test_the_yaml_reader_is_an_argument(tmp_path: Path) -> None:
    seen = []

    def read(text: str, document: Any) -> Any:
        seen.append((text, document.file))
        return {"id": "read"}

    write(tmp_path / "c.yaml", "x")
    assert config.load(str(tmp_path / "c.yaml"), {}, {}, read)[0].id == "read"
    assert seen == [("x", str(tmp_path / "c.yaml"))]


@needs_a_name
def test_keys_without_an_effect_are_reported_once_with_what_to_use(machine: Machine) -> None:
    machine.write(a="x: test.nop\n")
    asked: dict[str, Any] = {
        "hgfs_remotes": ["https://example.org/a"],
        "gitfs_remotes": ["https://example.org/a.git"],  # fileserver_backend does not name it
        "schedule": {"states": {"function": "state.apply", "minutes": 30}},
        "startup_states": "highstate",
        "return": "mysql",
        "beacons": {"load": [{"averages": {"1m": [0.0, 2.0]}}]},
        "reactor": [{"salt/start": ["/srv/start.sls"]}],
        "mine_functions": {"network.ip_addrs": []},
        "hosts.file": "/srv/hosts",
        "iptables.save_filters": ["f2b-"],
        "user": "somebody",
        "engines": [],  # asks for nothing
    }
    machine.config |= asked
    named = set(asked) - {"engines"}
    found = machine.document("check")["diagnostics"]
    assert {each["message"] for each in found} == {
        f"{key} has no effect in runner" for key in named
    }
    assert all(each["hint"] and each["line"] and each["severity"] == "warning" for each in found)
    argv = machine.argv("sls", "a")
    said, again = (
        subprocess.run(argv, capture_output=True, text=True, env=machine.environment).stderr
        for _ in range(2)
    )
    assert all(f"{key} has no effect in runner" in said for key in named)
    assert not again  # until the configuration is written anew
    for words in (
        ("sls", "a", "-q"),
        ("show", "lowstate"),
        ("show", "grains"),
        ("call", "test.ping"),
    ):
        assert "no effect" not in machine(*words, code=None).stderr
    machine.config = {
        **machine.config,
        **dict.fromkeys(asked),
        "fileserver_backend": ["roots", "s3fs"],
        "user": own_name(),
    }
    said = machine("sls", "a").stderr
    assert "warning: fileserver_backend has no effect in runner" in said
    assert "user has no effect" not in said
