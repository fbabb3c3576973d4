# SPDX-License-Identifier: Apache-2.0
"""Plans that are kept, reviewed, signed and applied, as a user types them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from needing import is_root, needs
from starting import at_a_terminal

SECRET = "correct-horse-battery"
TREE = """
{tmp}/out/page:
  file.managed:
    - contents: "new"
    - mode: '0640'
{tmp}/out/secret:
  file.managed:
    - contents: "password {{ pillar['db_password'] }}"
    - mode: '0640'
{tmp}/out/old:
  file.absent: []
{tmp}/out/hidden:
  file.managed:
    - contents: "{{ pillar['db_password'] }} and no_log-text"
    - no_log: True
unknown:
  cmd.run:
    - name: touch {tmp}/out/made
    - creates: {tmp}/out/made
"""


@pytest.fixture
def site(machine: Machine) -> Machine:
    """A tree with something to change, to remove, to hide and to run."""
    machine.write(a=TREE, pillar__top="base: {'*': [p]}", pillar__p=f"db_password: {SECRET}\n")
    out = machine.folder / "out"
    (out / "old").mkdir(parents=True)
    (out / "old/entry").write_text("x")
    (out / "page").write_text("before")
    return machine


def plan_of(site: Machine, *words: str) -> Path:
    path = site.folder / "web.plan"
    site("sls", "a", "--test", "--plan", str(path), *words)
    return path


def state_of(site: Machine) -> list[tuple[str, str, int]]:
    paths = sorted((site.folder / "out").rglob("*"))
    return [
        (str(path), path.read_text() if path.is_file() else "", path.stat().st_mode)
        for path in paths
    ]


def refused(site: Machine, path: Path, *words: str) -> str:
    """Return what `apply` says when it refuses, having touched nothing."""
    before = state_of(site)
    done = site("apply", str(path), *words, code=1)
    assert state_of(site) == before
    assert done.stdout == ""
    return done.stderr


def test_a_plan_is_kept_shown_applied_once_and_refused_then(site: Machine) -> None:
    made = site("sls", "a", "--test", "--plan", str(site.folder / "web.plan"))
    path = site.folder / "web.plan"
    assert f"runner apply {path} --config" in made.stderr
    assert "To make these changes" not in made.stdout
    assert "What these would do is not known before: cmd.run unknown" in made.stderr
    assert not (site.folder / "out/made").exists()
    assert path.stat().st_mode & 0o777 == 0o600

    shown = site("plan", "show", str(path)).stdout
    assert "Plan of m1" in shown
    assert "5 states: 5 would change" in shown
    answer = site.document("plan", "show", str(path))
    tag = f"file_|-{site.folder}/out/page_|-{site.folder}/out/page_|-managed"
    assert answer["local"][tag]["result"] is None
    assert answer["plan"]["before"][tag][f"{site.folder}/out/page"]["mode"] == "0644"
    assert answer["plan"]["undecided"] == [f"cmd_|-unknown_|-touch {site.folder}/out/made_|-run"]

    before = state_of(site)
    still = site("apply", str(path), "--test")
    assert "still holds" in still.stderr
    assert state_of(site) == before

    applied = site("apply", str(path))
    assert "5 states: 5 changed" in applied.stdout
    assert applied.stderr == ""
    assert (site.folder / "out/page").read_text() == "new\n"
    assert not (site.folder / "out/old").exists()
    assert "file.absent" in refused(site, path)
    last = site.answer("history")
    assert [run["kind"] for run in last][:3] == ["run", "run", "test"]
    assert last[0]["outcome"] == "did not start"


def test_no_secret_is_in_the_plan_nor_a_hash_that_could_be_guessed(site: Machine) -> None:
    (site.folder / "out/page").write_text("1234")
    (site.folder / "out/secret").write_text("password before\n")  # the plan has a diff
    log = str(site.folder / f"{SECRET}.log")
    path = plan_of(site, "--pillar", '{"pin": "given-6174"}', "--log-file", log)
    text = path.read_text()
    assert SECRET not in text and "given-6174" not in text
    assert "no_log-text" not in text
    site.write(b="{tmp}/out/{{ pillar.token }}: {file.touch: []}\n")
    (site.folder / "pillar/p.sls").write_text(f"{{db_password: {SECRET}, token: Zq7Kd2x9}}\n")
    site("sls", "b", "--test", "--plan", str(site.folder / "b.plan"))
    other = (site.folder / "b.plan").read_text()
    assert "/out/**********" in other and "Zq7Kd2x9" not in other
    (site.folder / "pillar/p.sls").write_text(f"db_password: {SECRET}\n")
    (site.folder / "states/b.sls").unlink()
    import hashlib

    for known in ("1234", SECRET, f"password {SECRET}", f"password {SECRET}\n"):
        for name in ("sha256", "sha512", "md5", "blake2b"):
            digest = hashlib.new(name, known.encode()).hexdigest()
            assert digest[:16] not in text
    states = json.loads(text)["states"]
    hashes = [digest for state in states for digest in state["argument_hashes"].values()]
    assert len(hashes) == len(set(hashes)) == 7  # nor do they tell which values are equal
    assert "made without" not in refused(site, path)  # its --pillar is needed again
    assert "give the same --pillar" in refused(site, path, "--pillar", "{pin: x}")
    site("apply", str(path), "--pillar", '{"pin": "given-6174"}')
    plan = ["--test", "--plan", str(site.folder / "no.plan")]
    user = ["user.present", "name=x", "password=short", "hash_password=True"]
    for words, key in (
        (user, "password"),
        (["file.managed", "/x", f"contents={SECRET}"], "contents"),
        (["test.nop", "x", "password=short"], "password"),
    ):
        assert f"{key} is a secret" in site("single", *words, *plan, code=1).stderr
    assert not (site.folder / "no.plan").exists()


def mode(site: Machine) -> None:
    (site.folder / "out/page").chmod(0o600)


def contents(site: Machine) -> None:
    (site.folder / "out/page").write_text("by hand")


def entry(site: Machine) -> None:
    (site.folder / "out/old/another").write_text("not reviewed")


def made_already(site: Machine) -> None:
    (site.folder / "out/made").write_text("")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (mode, r"out/page: mode was 0644, is 0600"),
        (contents, r"file.managed .*out/page: its contents changed since"),
        (entry, r"file.absent .*out/old: its entries changed since"),
        (made_already, r"cmd.run unknown .*now: unchanged"),
    ],
)
def test_what_the_machine_no_longer_is_is_refused_item_by_item(
    site: Machine, change: Callable[[Machine], None], line: str
) -> None:
    path = plan_of(site)
    change(site)
    said = refused(site, path)
    assert "the plan no longer holds; nothing was changed" in said
    assert re.search(line, said), said
    assert "out/secret" not in said


def test_another_tree_is_refused_before_it_is_rendered(site: Machine) -> None:
    path = plan_of(site)
    sls = site.folder / "states/a.sls"
    before = sls.read_text()
    sls.write_text(before + f"{{% do salt['cmd.run']('touch {site.folder}/out/rendered') %}}\n")
    said = refused(site, path)
    assert "the tree is not the one that the plan was made from" in said
    assert f"the files of {site.folder}/states have changed since" in said
    assert not (site.folder / "out/rendered").exists()

    other = before.replace("mode: '0640'", "mode: '0600'\n    - backup: true", 1)
    other += f"{site.folder}/out/further:\n  file.managed: []\n"
    sls.write_text(other)
    (site.folder / "pillar/p.sls").write_text(f"db_password: {SECRET}-new\n")
    said = refused(site, path, "--allow-other-tree")
    assert re.search(r"out/page: the tree gives it another backup, mode", said)
    assert re.search(r"out/secret: the tree gives it another contents", said)
    assert re.search(r"out/further: it is new, the plan does not have it", said)
    sls.write_text("# a comment\n" + before)
    (site.folder / "pillar/p.sls").write_text(f"db_password: {SECRET}\n")
    refused(site, path)
    site("apply", str(path), "--allow-other-tree")


def test_what_a_new_file_would_hold_is_part_of_the_plan(machine: Machine) -> None:
    """The changes of a new file do not say it; nor does the tree, of what a command answers."""
    machine.write(
        a="{tmp}/f:\n  file.managed:\n    - source: salt://f.jinja\n    - template: jinja\n"
    )
    (machine.folder / "states/f.jinja").write_text(
        "{{ salt['cmd.run']('cat " + str(machine.folder / "answer") + "') }}\n"
    )
    answer = machine.folder / "answer"
    answer.write_text("one")
    path = machine.folder / "p"
    machine("sls", "a", "--test", "--plan", str(path))
    answer.write_text("two")
    said = machine("apply", str(path), code=1).stderr
    assert f"{machine.folder}/f: other contents than planned" in said
    assert not (machine.folder / "f").exists()
    answer.write_text("one")
    assert machine("apply", str(path)).stderr == ""


@needs("git")
def test_a_commit_is_named(site: Machine) -> None:
    def git(*words: str) -> None:
        words = ("-c", "user.name=x", "-c", "user.email=x@y", *words)
        subprocess.run(["git", "-C", str(site.folder / "states"), *words], check=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    path = plan_of(site)
    assert "(commit " in site("plan", "show", str(path)).stdout
    (site.folder / "states/b.sls").write_text("{}")
    assert "has changed since: `git -C" in refused(site, path)
    git("add", ".")
    git("commit", "-qm", "two")
    assert re.search(r"was at commit \w{12} and is at \w{12}", refused(site, path))


def spoiled(path: Path, change: Callable[[Any], None]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_a_plan_that_cannot_be_trusted_is_not_used(site: Machine) -> None:
    path = plan_of(site)
    text = path.read_text()

    def said(data: str, *words: str) -> str:
        path.write_text(data)
        return refused(site, path, *words)

    assert "No such file" in refused(site, path.with_name("none"))
    assert "is no JSON" in said(text[: len(text) // 2])
    assert "is no JSON" in said("[" * 100_000)
    assert "this is no plan of runner" in said("{}")
    assert "altered since" in said(text.replace("+new", "+neu"))
    assert "altered since" in said(text.replace('"names": [\n   "a"', '"names": [\n   "b"'))
    assert "has format 99" in said(text.replace('"format_version": 1', '"format_version": 99'))
    assert "states[0]" in said(text.replace('"comment": ', '"comment": 1, "x": ', 1))
    document = json.loads(text)
    elsewhere = {**document, "key": "0" * 32, "machine": "web2"}
    assert "made on web2" in said(json.dumps(elsewhere))
    site.config["state_dir"] = "another"
    assert "made on m1" in said(text)
    del site.config["state_dir"]

    path.write_text(text)
    path.chmod(0o666)
    assert "others can write" in refused(site, path)
    path.chmod(0o600)
    link = path.with_name("link")
    link.symlink_to(path)
    assert "it is a symbolic link" in refused(site, link)
    large = path.with_name("large")
    with large.open("wb") as file:
        file.truncate(1 << 30)
    assert "it is larger than" in refused(site, large)
    os.mkfifo(path.with_name("pipe"))
    assert "it is no regular file" in refused(site, path.with_name("pipe"))
    assert "it is no regular file" in refused(site, path.parent)
    if is_root():
        os.chown(path, 12345, 12345)
        assert "belongs to user 12345" in refused(site, path)
        os.chown(path, 0, 0)
    site("apply", str(path))


def test_usage(site: Machine) -> None:
    plan = str(site.folder / "x.plan")
    assert "it needs --test" in site("sls", "a", "--plan", plan, code=1).stderr
    assert "there is none" in site("sls", "a", "--sign-key", "k", code=1).stderr
    os.mkfifo(site.folder / "pipe")
    sign = ("--test", "--plan", plan, "--sign-key", str(site.folder / "pipe"))
    assert "it is no file that can be read" in site("sls", "a", *sign, code=1).stderr
    other = site.folder / "states/a.sls"
    said = site("sls", "a", "--test", "--plan", str(other), code=1).stderr
    assert "something else than a plan" in said
    nowhere = str(site.folder / "none/x.plan")
    assert "No such file" in site("sls", "a", "--test", "--plan", nowhere, code=1).stderr
    assert "there is no terminal here" in site("sls", "a", "--ask", code=1).stderr
    assert "runner plan show FILE" in site("plan", "list", code=1).stderr
    assert not Path(plan).exists()


@needs("ssh-keygen")
def test_a_signature_is_demanded(site: Machine) -> None:
    folder = site.folder
    for name in ("key", "stranger"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True)
    signers = folder / "signers"
    signers.write_text(f"ops@example.org {(folder / 'key.pub').read_text()}")
    path = plan_of(site, "--sign-key", str(folder / "key"))
    site("apply", str(path), "--test", "--verify", str(signers))
    site.config["plan_allowed_signers"] = "signers"
    site("apply", str(path), "--test")
    signature = path.with_name("web.plan.sig")
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-f", str(folder / "key"), "-n", "git", str(path)],
        check=False,
        input=b"y\n",
        capture_output=True,
    )
    signature.chmod(0o600)
    assert "no valid signature" in refused(site, path)  # of another namespace
    plan_of(site, "--sign-key", str(folder / "stranger"))
    assert "no valid signature" in refused(site, path)
    path = plan_of(site)  # the old signature is gone with the old plan
    assert not signature.exists()
    assert "No such file" in refused(site, path)
    plan_of(site, "--sign-key", str(folder / "key"))
    signers.chmod(0o666)
    assert "others can write" in refused(site, path)
    signers.chmod(0o600)
    site("apply", str(path))


def test_what_the_real_run_does_otherwise_is_reported(machine: Machine) -> None:
    machine.write(
        a="first:\n  cmd.run:\n    - name: echo x > {tmp}/f\n{tmp}/f:\n  file.managed:\n"
        "    - contents: y\n    - require: [{cmd: first}]\nlast:\n  test.nop:\n"
        "    - onlyif: test -e {tmp}/f\n{tmp}/g:\n  file.managed:\n    - contents: z\n"
        "    - unless: test -e {tmp}/f\n"
    )
    path = machine.folder / "p"
    machine("sls", "a", "--test", "--plan", str(path))
    done = machine("apply", str(path))
    assert "otherwise than planned: file.managed" in done.stderr
    text = (machine.folder / "states/a.sls").read_text()
    machine.write(a=text.replace("contents: y\n", "contents: y\n    - no_log: true\n"))
    (machine.folder / "f").unlink()
    machine("sls", "a", "--test", "--plan", str(path))
    assert "otherwise than planned: in what is not shown" in machine("apply", str(path)).stderr


def test_what_a_template_makes_otherwise_is_told_without_secrets(machine: Machine) -> None:
    machine.write(
        a="{{ pillar.token }} {{ opts.test }}: {test.succeed_with_changes: []}\n",
        pillar__top="base: {'*': [p]}",
        pillar__p="token: Zq7Kd2x9\n",
    )
    path = machine.folder / "p"
    machine("sls", "a", "--test", "--plan", str(path))
    told = machine("apply", str(path), code=None).stderr
    assert "test.succeed_with_changes ********** False: it is new" in told
    assert "Zq7Kd2x9" not in told + machine("history", "show", "last", "--out", "json").stdout


def test_facts_of_the_machine_that_are_secrets_are_not_in_a_plan(machine: Machine) -> None:
    import pwd

    shell = pwd.getpwuid(0).pw_shell.removeprefix("/")
    machine.write(a="root: {user.present: [shell: /bin/none]}\n", pillar__top="base: {'*': [p]}")
    machine.write(pillar__p=f"token: '{shell}'\n")
    path = machine.folder / "p"
    machine("sls", "a", "--test", "--plan", str(path))
    assert '"shell": "/**********"' in path.read_text() and shell not in path.read_text()


def asked(site: Machine, answer: bytes | int) -> tuple[int, str]:
    """`--ask` at a terminal: the exit code and what it showed. answer: typed, or a signal."""
    return at_a_terminal(site.argv("sls", "a", "--ask"), site.environment, b"[y/N]", [answer])


def test_a_person_is_asked(site: Machine) -> None:
    before = state_of(site)
    code, text = asked(site, b"n\n")
    assert (code, "Nothing was changed." in text) == (0, True)
    code, text = asked(site, signal.SIGINT)
    assert code == 130
    assert state_of(site) == before
    code, text = asked(site, b"y\n")
    assert code == 0, text
    assert "5 states: 5 would change" in text
    assert "5 states: 5 changed" in text
    assert (site.folder / "out/page").read_text() == "new\n"
    assert asked(site, b"")[0] == 0  # nothing is left to do, and nobody is asked


def test_the_number_of_a_process_is_no_part_of_a_plan(machine: Machine) -> None:
    target, plan = machine.folder / "conf", str(machine.folder / "a.plan")
    target.write_text("one\n")
    (machine.folder / "states/a.diff").write_text("--- a\n+++ b\n@@ -1 +1 @@\n-one\n+uno\n")
    machine.write(a="{tmp}/conf: {file.patch: [source: 'salt://a.diff']}")
    machine("sls", "a", "--test", "--plan", plan)
    assert "otherwise" not in machine("apply", plan).stderr
    assert target.read_text() == "uno\n"
