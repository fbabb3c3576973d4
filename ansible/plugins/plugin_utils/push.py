# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task that runs runner on a host: the tree, runner itself and the pillar of that host are made
on the controller, and go there through the connection's standard input.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import subprocess
import sys

from ansible.errors import AnsibleActionFail

from ansible.plugins.action import ActionBase

from . import remote, results

NO_PYTHON = 127
# tries the interpreter of the inventory, then each Python that may be there
FIND = """for python in {given} python3.11 python3.12 python3.13 python3.14 python3.15 python3; do
command -v "$python" >/dev/null 2>&1 || continue
"$python" -ISc "import sys; sys.exit(sys.version_info < (3, 11))" </dev/null 2>/dev/null || continue
exec "$python" -ISc {program}
done
exit {none}"""
PROGRAM = """import sys
read = sys.stdin.buffer
text = read.read(int(read.readline()))
exec(compile(text, "runner", "exec"), {"__name__": "runner_remote"})"""
ANSWERS = """import sys
from runner.tools.fleet.for_host import answers
for line in answers(sys.stdin):
    print(line, flush=True)"""
COMMON = {
    "config": {"type": "str"},
    "pillar": {"type": "dict", "default": {}},
    "folder": {"type": "path"},
}


class RunnerAction(ActionBase):
    """What the four actions share: an action names its command, and the words of its line."""

    TRANSFERS_FILES = False
    _supports_check_mode = True
    _supports_diff = True
    options: dict = {}  # beside COMMON, as Ansible declares them

    def words(self, args):
        """The command line, and what follows the pillar on standard input."""
        raise NotImplementedError

    def read(self, done, args):
        """The result of a run: its exit code, and what it printed."""
        return results.of_states(done, self._task.check_mode)

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        task_vars = task_vars or {}
        _, args = self.validate_argument_spec({**COMMON, **self.options})
        host = Host(self, task_vars, args["folder"] or task_vars.get("runner_home"))
        with Controller() as controller:
            prepared = controller.ask(
                config=self._config(args["config"]),
                id=task_vars["inventory_hostname"],
                pillar=args["pillar"],
            )
            found = host.run(controller, prepared["archives"], ["show", "grains", "--show-secrets"])
            grains = results.value(found)
            given = task_vars.get("grains")
            given = given if isinstance(given, dict) else {}
            pillar = controller.ask(grains=grains, given=given)["pillar"]
            words, following = self.words(args)
            if self._task.check_mode:
                words = [*words, "--test"]
            done = host.run(
                controller,
                prepared["archives"],
                [*words, "--pillar-stdin"],
                f"{pillar}\n{following}",
            )
            names = ["out", "err"] if done["exit_code"] == 1 else ["err"]  # where messages are
            if any(prepared["archives"]["tree"] in done[name] for name in names):
                texts = controller.ask(there=[done[name] for name in names])["here"]
                done.update(zip(names, texts, strict=True))
        result = self.read(done, args)
        result["warnings"] = [*prepared["warnings"], *result.get("warnings", ())]
        if not self._task.diff:
            result.pop("diff", None)
        return result

    def _config(self, config):
        """The configuration on the controller; the one beside the playbook where none is named."""
        if config:
            return self._loader.path_dwim(config)
        beside = self._loader.path_dwim("runner.yaml")
        return beside if os.path.isfile(beside) else None


class Host:
    """The host of a task, reached by its connection."""

    def __init__(self, action, task_vars, folder):
        if not getattr(action._connection, "has_pipelining", False):
            raise AnsibleActionFail(
                f"the connection {action._connection.transport!r} cannot hand standard input to a"
                " command"
            )
        self._action, self._folder = action, folder
        self._id = task_vars["inventory_hostname"]
        given = str(task_vars.get("ansible_python_interpreter") or "")
        given = shlex.quote(given) if given and not given.startswith("auto") else ""
        command = FIND.format(given=given, program=shlex.quote(PROGRAM), none=NO_PYTHON)
        environment = action._compute_environment_string()  # the keyword of the task
        self._command = (
            f"{environment} /bin/sh -c {shlex.quote(command)}" if environment else command
        )
        with open(remote.__file__, "rb") as file:
            self._program = file.read()

    def run(self, controller, archives, words, stdin=""):
        """Return what runner did: exit_code, out and err."""
        words = [*words, "--id", self._id, "--out", "json"]
        return self.ask(controller, archives, {"words": words}, stdin)

    def ask(self, controller, archives, request, stdin=""):
        """The answer to a request. Archives that the host lacks are sent."""
        answer = self._exchange(archives, request, stdin, {})
        if "missing" in answer:
            sent = {}
            for kind in answer["missing"]:
                with open(controller.ask(archive=kind)["file"], "rb") as file:
                    sent[kind] = file.read()
            answer = self._exchange(archives, request, stdin, sent)
        if "error" in answer or "missing" in answer:
            raise AnsibleActionFail(f"runner on the host: {answer.get('error', answer)}")
        return answer

    def _exchange(self, archives, request, stdin, sent):
        data = stdin.encode("utf-8", "surrogateescape")
        request = {**archives, **request, "folder": self._folder, "input": len(data)}
        request["sent"] = [
            {"kind": kind, "digest": archives[kind], "size": len(sent[kind])} for kind in sent
        ]
        stream = b"".join(
            [
                b"%d\n" % len(self._program),
                self._program,
                json.dumps(request).encode() + b"\n",
                *sent.values(),
                data,
            ]
        )
        done = self._action._low_level_execute_command(
            self._command, in_data=stream, executable="/bin/sh"
        )
        for line in reversed(done["stdout"].splitlines()):
            if line.startswith(remote.ANSWER):
                return json.loads(line[len(remote.ANSWER) :])
        if done["rc"] == NO_PYTHON:
            raise AnsibleActionFail(
                "there is no Python 3.11 or newer on this host; the role runner.runner.bootstrap"
                " installs one"
            )
        text = (done["stderr"] or done["stdout"]).strip()
        raise AnsibleActionFail(f"the host did not answer (exit code {done['rc']}): {text}")


class Controller:
    """runner on the controller, in a process of its own."""

    def __enter__(self):
        if importlib.util.find_spec("runner") is None:
            raise AnsibleActionFail(
                f"the Python that runs Ansible ({sys.executable}) has no package runner: install it"
                " there, with `pip install sls-runner`"
            )
        argv = [sys.executable, "-P", "-c", ANSWERS]  # no module of the folder of the playbook
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.stderr.close()
        self._process.wait()

    def ask(self, **question):
        """The answer to a question. Raises AnsibleActionFail where there is none."""
        try:
            self._process.stdin.write(json.dumps(question, default=str).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self._process.stdout.readline()
        if not line:
            raise AnsibleActionFail(
                f"runner on the controller failed: {self._process.stderr.read().decode().strip()}"
            )
        answer = json.loads(line)
        if "error" in answer:
            raise AnsibleActionFail(f"on the controller: {answer['error'].removeprefix('error: ')}")
        return answer
