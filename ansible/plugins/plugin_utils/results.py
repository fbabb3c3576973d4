# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runner printed, as results of tasks."""

from __future__ import annotations

import json

import yaml
from ansible.errors import AnsibleActionFail

SHOWN = 5  # failed states in a message


def answer(done):
    """Salt's JSON. Raises AnsibleActionFail where runner printed none."""
    try:
        return json.loads(done["out"])
    except ValueError:
        raise AnsibleActionFail(
            f"runner ended with exit code {done['exit_code']}: {done['err'].strip()}"
        ) from None


def value(done):
    """The one value that a command printed."""
    found = answer(done)["local"]
    if done["exit_code"]:
        raise AnsibleActionFail(f"runner: {'; '.join(map(str, found))}")
    return found


def of_states(done, dry):
    """The result of a run of states. dry: nothing was to be changed."""
    salt = answer(done)
    states = salt.get("local")
    result = {
        "salt": salt,
        "exit_code": done["exit_code"],
        "failed": done["exit_code"] != 0,
        "changed": False,
        "diff": [],
        "warnings": warnings(done["err"]),
    }
    if not isinstance(states, dict):  # it did not compile: nothing was run
        result["msg"] = "\n".join(map(str, states)) if isinstance(states, list) else str(states)
        return result
    ordered = sorted(states.values(), key=lambda state: state.get("__run_num__", 0))
    # in a real run, a no-op state says what it would change
    changed = [s for s in ordered if (s.get("changes") if s.get("result") is not None else dry)]
    failed = [state for state in ordered if state.get("result") is False]
    result["changed"] = bool(changed)
    result["diff"] = [{"prepared": diff(state)} for state in changed if state.get("changes")]
    for state in ordered:
        result["warnings"] += [str(warning) for warning in state.get("warnings") or ()]
    done = [state for state in changed if state not in failed]  # a failed command has changes, too
    result["msg"] = message(ordered, done, failed)
    return result


def message(states, changed, failed):
    number = "1 state" if len(states) == 1 else f"{len(states)} states"
    counts = f"{number}: {len(changed)} changed, {len(failed)} failed"
    causes = [
        f"{state.get('__id__')}: {why(state)}"
        for state in sorted(failed, key=lambda state: state.get("__state_ran__") is False)
    ]
    if len(causes) > SHOWN:
        causes[SHOWN:] = [f"and {len(causes) - SHOWN} more"]
    return "\n".join([counts, *causes])


def why(state):
    """The comment of a failed state, and the last line that a command printed."""
    comment, changes = str(state.get("comment")).strip(), state.get("changes")
    if not (isinstance(changes, dict) and "retcode" in changes):
        return comment
    printed = str(changes.get("stderr") or changes.get("stdout") or "").strip()
    return f"{comment}: {printed.splitlines()[-1]}" if printed else comment


def diff(state):
    """The changes of a state as a text: the diff of a file, and all else as YAML."""
    changes = state["changes"]
    others, text = changes, ""
    if isinstance(changes, dict) and isinstance(changes.get("diff"), str):
        others = {key: item for key, item in changes.items() if key != "diff"}
        text = changes["diff"].rstrip("\n") + "\n"
    if others:
        text += yaml.safe_dump(others, default_flow_style=False, allow_unicode=True)
    name = state.get("__id__")
    if state.get("name") not in (None, name):
        name = f"{name} ({state['name']})"
    return f"{name}\n{text}\n"


def warnings(err):
    """The warnings in what was printed to stderr, each with its place and its hint."""
    found = []
    for line in err.splitlines():
        if line.startswith("warning: "):
            found.append(line[len("warning: ") :])
        elif found and line.startswith("  "):
            found[-1] += "\n" + line
    return found
