# SPDX-License-Identifier: Apache-2.0
"""Services under a real systemd: what states do to units, seen with systemctl and by the units
themselves.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, replace
from typing import Any

import pytest
from debian import Debian
from laws import as_typed
from starting import patiently, starts, waits

UNITS = "/usr/local/lib/systemd/system"
UNIT = """[Service]
Type={kind}
ExecStart=/bin/sh -c '{start}'
ExecReload=/bin/sh -c 'echo reloaded >>/run/%N'
[Install]
WantedBy=multi-user.target
"""
RUNS = "echo started >>/run/%N; exec sleep infinity"
DIES = "echo the disk is full; exit 3"
OFF, ON = (False, False), (True, True)


@dataclass(frozen=True)
class Case:
    """One unit and one state of it.

    before: commands of systemctl. does: the function, and arguments as one types them. after:
    whether it is active and enabled then. comment, changes: of the result. says: what it has
    written since. watch: whether a watched file changes.
    """

    before: str
    does: str
    after: tuple[bool, bool]
    comment: str
    changes: Any = True
    says: str = ""
    watch: bool = False
    kind: str = "exec"
    start: str = RUNS

    def declared(self) -> tuple[str, dict[str, Any]]:
        """The function and its arguments."""
        return as_typed(self.does)


CASES = [
    Case("", "running", (True, False), "Started service {0}", says="started"),
    Case(
        "",
        "running enable=true",
        ON,
        "Service {0} has been enabled, and is running",
        says="started",
    ),
    Case(
        "enable",
        "running enable=false",
        (True, False),
        "Service {0} has been disabled, and is running",
    ),
    Case(
        "start",
        "running enable=true",
        ON,
        "Service {0} has been enabled, and is in the desired state",
    ),
    Case(
        "enable --now",
        "running enable=true",
        ON,
        "The service {0} is already running",
        changes=None,
    ),
    Case(
        "",
        "running init_delay=0.1",
        (True, False),
        "Started service {0}\nDelayed return for 0.1 seconds",
    ),
    Case("", "running no_block=true", (True, False), "Started service {0}"),
    Case("", "running timeout=5", (True, False), "Started service {0}", kind="simple"),
    Case(
        "mask",
        "running unmask=true",
        (True, False),
        "Started service {0}\nService {0} was unmasked",
    ),
    Case(
        "mask --runtime",
        "running unmask=true unmask_runtime=true",
        (True, False),
        "Started service {0}\nService {0} was runtime unmasked",
    ),
    Case(
        "start",
        "running sig='nothing like it'",
        (True, False),
        "The service {0} is already running",
        None,
    ),
    Case("start", "dead", OFF, "Service {0} was killed", changes=False),
    Case("enable --now", "dead", (False, True), "Service {0} was killed", changes=False),
    Case("enable --now", "dead enable=false", OFF, "Service {0} has been disabled, and is dead"),
    Case(
        "enable",
        "dead enable=false",
        OFF,
        "Service {0} has been disabled, and is in the desired state",
    ),
    Case("", "dead", OFF, "The service {0} is already dead", changes=None),
    Case("", "enabled", (False, True), "Service {0} has been enabled, and is in the desired state"),
    Case(
        "enable --now",
        "disabled",
        (True, False),
        "Service {0} has been disabled, and is in the desired state",
    ),
    Case(
        "", "masked", OFF, "Service {0} was masked", changes={"masked": {"old": False, "new": True}}
    ),
    Case(
        "mask",
        "unmasked",
        OFF,
        "Service {0} was unmasked",
        changes={"masked": {"old": True, "new": False}},
    ),
    Case("", "masked runtime=true", OFF, "Service {0} was runtime masked", changes=...),
    Case(
        "start", "running", (True, False), "Service restarted", says="started started", watch=True
    ),
    Case(
        "start",
        "running reload=true",
        (True, False),
        "Service reloaded",
        says="started reloaded",
        watch=True,
    ),
    Case(
        "start",
        "running reload=true force=true",
        (True, False),
        "Service forcefully reloaded",
        says="started reloaded",
        watch=True,
    ),
    Case(
        "start",
        "running enable=true reload=true",
        ON,
        "Service {0} has been enabled, and is in the desired state\nService reloaded",
        says="started reloaded",
        watch=True,
    ),
    Case("start", "running full_restart=true", (True, False), "Service restarted", watch=True),
    Case(
        "start",
        "running no_block=true init_delay=0.1",
        (True, False),
        "Service restarted",
        watch=True,
    ),
    Case(
        "", "running reload=true", (True, False), "Started service {0}", says="started", watch=True
    ),
    Case("start", "dead", OFF, "Service {0} was killed", changes=False, watch=True),
]
LATER = f"sleep 0.1; {DIES}"  # within `init_delay`
LOOP = "simple\nRestart=always\nRestartSec=1000"  # between two attempts it is "activating"
FAILING = [
    Case("", "running", OFF, "Job for {0}.service failed", kind="oneshot", start=DIES),
    Case("", "running", OFF, "Job for {0}.service failed", kind="notify", start=DIES),
    Case("", "running", OFF, "Service {0} failed to start\nDelayed", start=LATER),
    Case("", "running enable=true", OFF, "Service {0} has been enabled, and is", start=LATER),
    Case(
        "start",
        "running",
        OFF,
        "Job for {0}.service failed",
        watch=True,
        kind="oneshot",
        start=DIES,
    ),
    Case("", "running", OFF, "Service {0} failed to start\nDelayed", kind=LOOP, start=LATER),
    Case("start", "running", OFF, "Service restarted, and is dead", watch=True, start=LATER),
]
BEFORE = {4: RUNS, 6: RUNS}  # how a failing unit was when it was started


def sls(cases: list[Case]) -> str:
    """A state of each case's unit, with a watched file where it has one."""
    found: dict[str, Any] = {}
    for number, case in enumerate(cases):
        function, given = case.declared()
        args: list[Any] = [{key: value} for key, value in given.items()]
        if case.watch:
            found[f"/etc/tick{number}.conf"] = {"file.managed": [{"contents": "new"}]}
            args.append({"watch": [{"file": f"/etc/tick{number}.conf"}]})
        found[f"tick{number}"] = {f"service.{function}": args}
    return json.dumps(found)


def everything(debian: Debian) -> str:
    """Return what systemd and its folders hold."""
    what = "Id,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,MainPID,InvocationID"
    folders = f"/etc/systemd {UNITS} /run/systemd/system"
    units = debian.read(f"systemctl show --property={what} 'tick*' cron").split("\n\n")
    rest = debian.read(
        f"systemctl list-unit-files; find {folders} -printf '%p %l %T@\\n'; cat /run/tick*"
    )
    return "\n\n".join([*sorted(units), rest])  # systemd names units in no fixed order


def settled(debian: Debian) -> str:
    """The same, when what was just started is at rest: systemd learns the main process of a forking
    unit late.
    """
    for _ in range(20):
        found = everything(debian)
        time.sleep(0.3)
        if everything(debian) == found:
            return found
    raise AssertionError("the units are not at rest")


@pytest.fixture(scope="module")
def ran(workshop: Debian) -> dict[str, Any]:
    """The results of all cases together: of a dry run, a real one, a second one; and what the units
    were like.
    """
    prepare = ["systemctl daemon-reload"]
    for number, case in enumerate(CASES):
        workshop.write(
            f"{UNITS}/tick{number}.service", UNIT.format(kind=case.kind, start=case.start)
        )
        prepare += [f"systemctl {case.before} tick{number}"] if case.before else []
    workshop.run(f"({'; '.join(prepare)}; touch /run/tick) 2>&1")
    workshop.tree(all=sls(CASES))
    before = settled(workshop)
    found: dict[str, Any] = {"dry": workshop.results("sls", "all", "--test")}
    assert everything(workshop) == before, "a dry run touches nothing"
    found["real"] = workshop.results("sls", "all")
    units = " ".join(f"tick{number}" for number in range(len(CASES)))
    for question in ("is-active", "is-enabled"):
        found[question] = workshop.run(f"systemctl {question} {units}", code=None).stdout.split()
    found["said"] = [
        workshop.path(f"/run/tick{number}").read_text().split()
        if workshop.path(f"/run/tick{number}").exists()
        else []
        for number in range(len(CASES))
    ]
    return found | {"again": workshop.results("sls", "all")}


@pytest.mark.parametrize(
    "number", range(len(CASES)), ids=[f"{case.before}-{case.does}" for case in CASES]
)
def test_states(ran: dict[str, Any], number: int) -> None:
    case, name = CASES[number], f"tick{number}"
    dry, real, again = (ran[run][name] for run in ("dry", "real", "again"))
    wanted = (
        {}
        if case.changes is None
        else {name: case.changes}
        if isinstance(case.changes, bool)
        else case.changes
    )
    assert real["result"] is True
    assert real["comment"] == case.comment.format(name)
    assert wanted is ... or real["changes"] == wanted
    assert dry["changes"] == real["changes"]
    assert dry["result"] is (None if real["changes"] else True)
    assert (again["result"], again["changes"]) == (True, {})
    assert (
        ran["is-active"][number] == "active",
        ran["is-enabled"][number] == "enabled",
    ) == case.after
    assert not case.says or ran["said"][number] == case.says.split()


def failures(debian: Debian, seconds: float) -> list[dict[str, Any]]:
    """What two runs say of each unit that fails, given some seconds to do so, on a machine where
    none has run.
    """
    debian.run(
        "systemctl stop 'tick*'; systemctl reset-failed 'tick*';"
        " rm -rf /etc/tick* /etc/systemd/system/*/tick* /run/tick* /var/*/runner"
    )
    for number, case in enumerate(FAILING):
        debian.write(f"{UNITS}/tick{number}.service", UNIT.format(kind=case.kind, start=case.start))
    for number, start in BEFORE.items():
        debian.write(f"{UNITS}/tick{number}.service", UNIT.format(kind="exec", start=start))
    debian.run("systemctl daemon-reload; systemctl start tick4 tick6")
    for number in BEFORE:
        case = FAILING[number]
        debian.write(f"{UNITS}/tick{number}.service", UNIT.format(kind=case.kind, start=case.start))
    given = [
        replace(case, does=f"{case.does} init_delay={seconds}") if case.start == LATER else case
        for case in FAILING
    ]
    debian.tree(all=sls(given))
    runs = [debian.results("sls", "all", code=None) for _ in range(2)]
    return [found[f"tick{number}"] for found in runs for number in range(len(FAILING))]


def test_what_does_not_start_says_why(debian: Debian) -> None:
    tries: list[list[dict[str, Any]]] = []
    patiently(
        0.5,
        lambda seconds: tries.append(failures(debian, seconds)),
        lambda: not any(each["result"] for each in tries[-1]),
    )
    first, second = tries[-1][: len(FAILING)], tries[-1][len(FAILING) :]
    for number, (case, result) in enumerate(zip(FAILING, first, strict=True)):
        assert result["result"] is False
        assert result["comment"].startswith(case.comment.format(f"tick{number}"))
        assert "\nThe last lines of its journal:\n" in result["comment"]
        assert "\nthe disk is full\n" in result["comment"] + "\n"
    assert all(each["result"] is False for each in second), "the restart is still owed, too"


ODD = """
/etc/systemd/system/odd.service: {{file.managed: [contents: "[Service]\\nExecStart={start}"]}}
odd: {{service.running: []}}
"""


def test_a_unit_that_systemd_cannot_load_says_why(debian: Debian) -> None:
    debian.tree(site=ODD.format(start="relative/path"))
    for _ in range(2):
        said = debian.results("sls", "site", code=2)["odd"]["comment"]
        assert "bad unit file setting" in said and "\n/etc/systemd/system/odd.service:2: " in said
        foreseen = debian.results("sls", "site", "--test", code=2)["odd"]
        assert "cannot load it (bad-setting); `systemctl status" in foreseen["comment"]
    debian.tree(site=ODD.format(start="/bin/sleep 1d"))
    assert debian.results("sls", "site", "--test")["odd"]["result"] is None
    assert debian.results("sls", "site")["odd"]["changes"] == {"odd": True}


BROUGHT = """{% set text = salt['file.read']('/srv/unit') %}
/etc/systemd/system/tock.service:
  file.managed:
    - contents: {{ text | json }}
/etc/systemd/system/tock.service.d/more.conf:
  file.managed:
    - contents: {{ pillar.get('more', '[Unit]') | json }}
    - makedirs: True
tock:
  service.running:
    - enable: True
    - watch:
      - file: /etc/systemd/system/tock.service*
"""


def test_a_unit_that_the_run_itself_brings_and_changes(debian: Debian) -> None:
    def shown(name: str) -> str:
        return debian.read("systemctl", "show", "--value", f"--property={name}", "tock")

    debian.write("/srv/unit", UNIT.format(kind="exec", start=RUNS))
    debian.tree(unit=BROUGHT)
    dry = debian.results("sls", "unit", "--test")["tock"]
    assert (dry["result"], dry["changes"]) == (None, {"tock": True})
    assert debian.results("sls", "unit")["tock"]["changes"] == {"tock": True}
    assert debian.read("cat /run/tock") == "started", "once, although it is new and watched"
    assert (shown("ActiveState"), shown("UnitFileState")) == ("active", "enabled")
    assert not any(result["changes"] for result in debian.results("sls", "unit").values())

    debian.write("/srv/unit", UNIT.format(kind="exec", start=RUNS.replace("started", "anew")))
    assert debian.results("sls", "unit")["tock"]["comment"] == "Service restarted"
    assert debian.read("cat /run/tock").split() == ["started", "anew"], "with the new definition"
    more = json.dumps({"more": "[Service]\nEnvironment=A=B"})
    assert debian.results("sls", "unit", "--pillar", more)["tock"]["comment"] == "Service restarted"
    assert (shown("Environment"), shown("NeedDaemonReload")) == ("A=B", "no")


# files that change a unit which systemd has read already, and what they say
CHANGES = {
    "lone.service": "/etc/systemd/system/lone.service",
    "new-folder.service": "/etc/systemd/system/new-folder.service.d/more.conf",
    "pair@one.service": "/etc/systemd/system/pair@.service.d/more.conf",
    "first-of-all.service": "/run/systemd/system/first-.service.d/more.conf",
}
CHANGED = """
{% for unit, path in pillar.changes.items() %}
{{ path }}:
  file.managed:
    - contents: {{ pillar.text | json }}
    - makedirs: True
{{ unit }}:
  service.running:
    - watch:
      - file: {{ path }}
{% endfor %}
"""


def test_a_restart_is_one_with_the_files_that_are_there(debian: Debian) -> None:
    text = UNIT.format(kind="exec", start="exec sleep infinity")
    for unit in CHANGES:
        debian.write(f"{UNITS}/{re.sub('@.*[.]', '@.', unit)}", text)
    debian.run("systemctl", "start", *CHANGES)
    debian.tree(changed=CHANGED)
    more = "[Service]\nExecStart=\nExecStart=/bin/sleep 1234\n"
    pillar = json.dumps({"changes": CHANGES, "text": more})
    results = debian.results("sls", "changed", "--pillar", pillar)
    assert {results[unit]["comment"] for unit in CHANGES} == {"Service restarted"}
    for unit in CHANGES:
        assert "1234" in debian.read("systemctl", "show", "--property=ExecStart", unit), unit
    debian.run("systemctl", "restart", *CHANGES)
    again = debian.results("sls", "changed", "--pillar", pillar)
    assert not any(result["changes"] for result in again.values())


MUTE = """
mute:
  service.running: [{reload: true}, {watch: [{test: changes}]}]
changes:
  test.succeed_with_changes: []
short:
  service.running: []
{% if pillar.get('told') %}
/etc/systemd/system/mute.service.d/reload.conf:
  file.managed:
    - contents: "[Service]\\nExecReload=/bin/true"
    - makedirs: True
    - require_in: [service: mute]
{% endif %}
"""


def test_what_cannot_reload_and_what_ends_with_its_start_is_foreseen(debian: Debian) -> None:
    silent = UNIT.replace("ExecReload", "#ExecReload")
    debian.write(f"{UNITS}/mute.service", silent.format(kind="exec", start=RUNS))
    debian.write(f"{UNITS}/short.service", UNIT.format(kind="oneshot", start="exit 0"))
    debian.run("systemctl daemon-reload; systemctl start mute")
    debian.tree(mute=MUTE)
    for words in (["--test"], []):
        found = debian.results("sls", "mute", *words, code=2)
        said = [found[name]["comment"].partition("\n")[0] for name in ("mute", "short")]
        assert said == [
            "Failed to reload mute.service: Job type reload is not applicable for unit"
            " mute.service.",
            "Service short failed to start: it ends with its start (Type=oneshot without"
            " RemainAfterExit=yes)",
        ]
    told = ["mute", "--pillar", json.dumps({"told": True})]
    assert debian.results("sls", *told, "--test", code=2)["mute"]["result"] is None
    assert debian.results("sls", *told, code=2)["mute"]["result"] is True


KINDS = """/etc/systemd/system/left@.service:
  file.managed:
    - source: /srv/unit
left@one:
  service.running:
    - enable: True
/etc/systemd/system/later.timer:
  file.managed:
    - contents: |
        [Timer]
        OnCalendar=daily
        Unit=left@one.service
        [Install]
        WantedBy=timers.target
later.timer:
  service.running:
    - enable: True
nosuch:
  service.running: []
-.mount:
  service.running: []
accounted:
  systemd.unit:
    - name: -.slice
    - restart: False
    - contents: |
        [Slice]
        MemoryAccounting=no
"""


def test_instances_of_templates_timers_and_what_nobody_has(debian: Debian) -> None:
    debian.write("/srv/unit", UNIT.format(kind="exec", start=RUNS))
    debian.tree(kinds=KINDS)
    dry = debian.results("sls", "kinds", "--test", code=2)
    assert (dry["left@one"]["result"], dry["later.timer"]["result"]) == (None, None)
    results = debian.results("sls", "kinds", code=2)
    for nobody in (dry["nosuch"], results.pop("nosuch")):
        assert (nobody["result"], nobody["comment"]) == (
            False,
            "The named service nosuch is not available",
        )
    assert all(result["result"] for result in results.values()), results
    assert debian.read("systemctl is-active left@one later.timer") == "active\nactive"
    assert debian.read("systemctl is-enabled left@one later.timer") == "enabled\nenabled"
    assert results["-.mount"]["comment"] == "The service -.mount is already running"
    assert debian.read("systemctl show -P MemoryAccounting -- -.slice") == "no"
    again = debian.results("sls", "kinds", code=2)
    assert not any(result["changes"] for result in again.values())


def test_only_a_running_service_restarts(debian: Debian) -> None:
    watching = {"service.enabled": [{"watch": [{"test": "changes"}]}]}
    debian.tree(only=json.dumps({"changes": {"test.succeed_with_changes": []}, "cron": watching}))
    for words in ([], ["--test"]):
        result = debian.results("sls", "only", *words)["cron"]
        assert (result["result"], result["changes"]) == (True, {})
        assert "belongs to a service.running" in result["warnings"][0]


OTHERS = waits("test -e /run/go")
OTHERS += "; systemctl start b0; systemctl stop b1; systemctl enable b2; touch /run/gone"
BEHIND = f"""
others:
  cmd.run:
    - name: {json.dumps(starts(OTHERS))}
before:
  service.dead: [names: [b0]]
before too:
  service.running: [names: [b1]]
before all:
  service.disabled: [names: [b2]]
waits:
  test.nop:
    - onlyif: {json.dumps("touch /run/go; " + waits("test -e /run/gone"))}
after:
  service.running: [names: [b0]]
after too:
  service.dead: [names: [b1]]
after all:
  service.enabled: [names: [b2]]
"""


def test_what_others_do_during_the_run_is_seen(debian: Debian) -> None:
    for number in range(3):
        debian.write(f"{UNITS}/b{number}.service", UNIT.format(kind="exec", start=RUNS))
    debian.run("systemctl daemon-reload; systemctl start b1")
    debian.tree(behind=BEHIND)
    results = debian.results("sls", "behind")
    assert [name for name, result in results.items() if result["changes"]] == ["others"], results


def test_a_hundred_services_are_one_question(debian: Debian) -> None:
    debian.tree(many=json.dumps({f"no{number}": {"service.dead": []} for number in range(100)}))
    debian.write(
        "/usr/local/sbin/systemctl",
        '#!/bin/sh\necho "$1" >>/run/asked\nexec /bin/systemctl "$@"\n',
        0o755,
    )
    debian.results("sls", "many")
    debian.run("rm /usr/local/sbin/systemctl")
    assert debian.read("cat /run/asked") == "show"


SCRIPT = """#!/bin/sh
### BEGIN INIT INFO
# Provides: old
# Required-Start:
# Required-Stop:
# Default-Start: 2 3 4 5
# Default-Stop: 0 1 6
### END INIT INFO
"""


def test_an_init_script_is_enabled_by_its_links(debian: Debian) -> None:
    debian.write("/etc/init.d/old", SCRIPT, 0o755)
    debian.run("systemctl daemon-reload")
    for fun, there in (("enabled", True), ("disabled", False)):
        debian.tree(old=f"old: {{service.{fun}: []}}")
        for options in (["--test"], []):
            assert debian.results("sls", "old", *options, code=None)["old"]["changes"]
        assert any(debian.path("/etc/rc2.d").glob("S*old")) is there
        assert debian.results("sls", "old")["old"]["changes"] == {}
    debian.tree(old="old: {service.enabled: []}")
    debian.results("sls", "old")
    debian.runner("undo")
    assert debian.run("systemctl is-enabled old", code=1).stdout == "disabled\n"


def test_what_starts_a_stopped_service_again_is_named(debian: Debian) -> None:
    debian.write(f"{UNITS}/woken.service", UNIT.format(kind="exec", start=RUNS))
    debian.write(f"{UNITS}/woken.socket", "[Socket]\nListenStream=127.0.0.1:7778\n")
    debian.run("systemctl daemon-reload; systemctl start woken.socket woken.service")
    debian.tree(woken="woken: {service.dead: []}")
    (told,) = debian.results("sls", "woken")["woken"]["warnings"]
    assert told == "Stopping woken.service, but it can still be activated by: woken.socket"


LASTING = """
dies:
  service.running: [names: [soon]]
dies after a restart:
  service.running: [{names: [later]}, {watch: [{test: changes}]}]
changes:
  test.succeed_with_changes: []
dies with an init script:
  service.running: [{names: [aging]}, {provider: sysv}]
lasts:
  service.running: [names: [lasts]]
ends on purpose:
  service.running: [names: [ends]]
on purpose:
  service.dead: [{names: [ends]}, {require: [{service: ends on purpose}]}]
"""


AGING = """#!/bin/sh
case $1 in
start) touch /run/aging; (sleep 1; rm /run/aging) >/dev/null 2>&1 & ;;
status) test -e /run/aging || exit 3 ;;
esac
"""


def test_what_dies_soon_after_a_good_start_fails_the_run(debian: Debian) -> None:
    dying = "echo the disk is full; sleep 1; exit 3"
    for name, start in {"soon": dying, "later": RUNS, "lasts": RUNS, "ends": RUNS}.items():
        debian.write(f"{UNITS}/{name}.service", UNIT.format(kind="simple", start=start))
    debian.run("systemctl daemon-reload; systemctl start later")
    debian.write(f"{UNITS}/later.service", UNIT.format(kind="simple", start=dying))
    debian.write("/etc/init.d/aging", AGING, 0o755)
    debian.tree(all=LASTING)
    found = debian.results("sls", "all", code=2)
    failed = {key: each["comment"] for key, each in found.items() if each["result"] is False}
    assert failed.keys() == {
        "recheck_dies",
        "recheck_dies after a restart",
        "recheck_dies with an init script",
    }
    assert failed["recheck_dies"].startswith(
        "Service soon had started, and is dead at the end of the run\n"
    )
    assert "the disk is full" in failed["recheck_dies"]
    assert found["dies"]["comment"] == "Started service soon"


def test_what_people_and_the_journal_read(debian: Debian) -> None:
    debian.write(f"{UNITS}/tickle.service", UNIT.format(kind="exec", start=RUNS))
    debian.run("systemctl daemon-reload")
    for target, word, said in (
        ("journald", "one", "Started service tickle"),
        ("file:///dev/log/LOG_DAEMON", "two", "Service restarted, because file: /etc/tickle"),
    ):
        watch = "{watch: [{file: /etc/tickle}]}"
        debian.tree(
            told=f"/etc/tickle: {{file.managed: [{{contents: {word}}}]}}\n"
            f"tickle: {{service.running: [{watch}]}}"
        )
        done = debian.runner("sls", "told", "-l", "info", "--log-file", target)
        state = re.search(r"changed  service.running  tickle.*\n(.+)", done.stdout)
        assert state and state[1].startswith(f"{'':14}{said}"), done.stdout
        assert "tickle: True" not in done.stdout
    fields = "PRIORITY,LOGGER,SYSLOG_FACILITY,MESSAGE"
    journal = debian.read(f"journalctl -t runner -o json --output-fields={fields}").splitlines()
    entries = [json.loads(line) for line in journal]
    changed = [entry for entry in entries if "changed: service.running  tickle" in entry["MESSAGE"]]
    assert [entry["PRIORITY"] for entry in changed] == ["6", "6"]
    assert [entry.get("LOGGER") for entry in changed] == ["runner", None]
    assert [entry.get("SYSLOG_FACILITY") for entry in changed] == [None, "3"]


def test_an_indirect_unit_is_enabled_by_what_goes_with_it(debian: Debian) -> None:
    debian.write(f"{UNITS}/by.service", "[Service]\nExecStart=true\n[Install]\nAlso=by.socket\n")
    wanted = "[Install]\nWantedBy=sockets.target\n"
    debian.write(f"{UNITS}/by.socket", f"[Socket]\nListenStream=/run/by\n{wanted}")
    debian.run("systemctl daemon-reload")
    for word in ("enabled", "disabled"):
        debian.tree(it=f"by: {{service.{word}: []}}\n")
        for changes in ({"by": True}, {}):
            planned = debian.results("sls", "it", "--test")["by"]
            done = debian.results("sls", "it")["by"]
            assert done["result"] is True
            assert planned["changes"] == done["changes"] == changes
        assert debian.run("systemctl is-enabled by.socket", code=None).stdout == f"{word}\n"


def test_a_unit_file_where_a_mask_goes_is_told_with_what_to_do(debian: Debian) -> None:
    debian.write("/etc/systemd/system/own.service", UNIT.format(kind="exec", start=RUNS))
    debian.tree(it="own: {service.masked: []}\n")
    for words in (("--test",), ()):
        comment = debian.results("sls", "it", *words, code=2)["own"]["comment"]
        assert comment.endswith("`file.absent` removes a unit file of your own")


def test_a_template_names_its_default_instance(debian: Debian) -> None:
    install = "[Install]\nDefaultInstance=main\nWantedBy=multi-user.target\n"
    debian.write(f"{UNITS}/many@.service", f"[Service]\nExecStart=true\n{install}")
    debian.tree(it="many@: {service.enabled: []}\n")
    comment = debian.results("sls", "it", code=2)["many@"]["comment"]
    assert comment == "many@.service is a template: name an instance of it, many@main"


def test_a_service_that_is_not_there_names_one_that_is(debian: Debian) -> None:
    debian.tree(it="CRON: {service.running: []}\ncorn: {service.dead: []}\nz: {service.dead: []}\n")
    for words in (["--test"], []):
        found = debian.results("sls", "it", *words, code=2)
        told = {key: each["comment"].partition("not available")[2] for key, each in found.items()}
        assert told == {"CRON": ": did you mean cron?", "corn": ": did you mean cron?", "z": ""}
