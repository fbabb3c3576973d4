# SPDX-License-Identifier: Apache-2.0
"""What `docs/monitoring.md` promises: the metrics that runner writes, and the alert rules and the
dashboard that use them and no others.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
from collections.abc import Iterator
from itertools import combinations

import pytest
import yaml
from command import ROOT, Machine
from watching import watching

from runner.output.prometheus import METRICS

# what Prometheus adds to each sample
OF_A_SCRAPE = {"instance", "job"}
FUNCTIONS = {"time", "sum", "count", "group", "last_over_time", "label_values"}
WORDS = {"and", "or", "unless", "bool", "by", "on", "without", "ignoring"}
SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? (\S+)")


def metrics(machine: Machine) -> dict[str, float]:
    lines = (machine.folder / "r.prom").read_text().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {sample: float(value) for sample, value in pairs}


def git(machine: Machine, *words: str) -> str:
    argv = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C"]
    argv += [str(machine.folder / "site"), *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def pushed(machine: Machine, sls: str) -> str:
    """The commit that has this SLS file."""
    (machine.folder / "site/states/a.sls").write_text(sls)
    git(machine, "add", "-A")
    git(machine, "commit", "-qm", "a")
    return git(machine, "rev-parse", "HEAD")


@pytest.fixture
def pulling(machine: Machine) -> Machine:
    """A machine that pulls its tree and is watched by Prometheus."""
    machine.config = {
        "id": "m1",
        "tree": {"remote": f"file://{machine.folder}/site"},
        "prometheus_textfile": str(machine.folder / "r.prom"),
    }
    (machine.folder / "site/states").mkdir(parents=True)
    (machine.folder / "site/states/top.sls").write_text("base: {'*': [a]}\n")
    (machine.folder / "site/runner.yaml").write_text("strict: true\n")
    git(machine, "init", "-q", "-b", "main")
    return machine


# ---------------------------------------------------------------- names in queries


def expressions() -> Iterator[tuple[str, str]]:
    """(where it is, a query) of both files."""
    for group in yaml.safe_load((ROOT / "docs/alerts.yml").read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    dashboard = json.loads((ROOT / "docs/grafana-dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]


def unknown(query: str, samples: dict[str, dict[str, set[str]]]) -> list[str]:
    """Return what a query names that nobody writes: metrics, labels, their values, functions.

    samples: metric -> label -> values.
    """
    wrong = []
    labels = {label for of in samples.values() for label in of} | OF_A_SCRAPE
    for name, matchers in re.findall(r"([a-z_]+)\{(.*?)\}", query):
        for label, operator, value in re.findall(r'(\w+)(=~|!=|!~|=)"(.*?)"', matchers):
            known = samples.get(name, {}).get(label)
            if known is None and label not in OF_A_SCRAPE:
                wrong.append(f"{name} has no label {label}")
            elif known is not None and operator in ("=", "=~"):
                wrong += [f"{label}={one}" for one in value.split("|") if one not in known]
    rest = re.sub(r"\{.*?\}|\"[^\"]*\"|\[\w+\]", "", query)
    for listed in re.findall(r"\b(?:by|on|without|ignoring) ?\(([^)]*)\)", rest):
        wrong += [name for name in re.findall(r"\w+", listed) if name not in labels]
    rest = re.sub(r"\b(by|on|without|ignoring) ?\([^)]*\)|(?<=, )instance(?=\))", "", rest)
    for name, call in re.findall(r"\b([a-z_]+)\b(\s*\()?", rest):
        known = FUNCTIONS if call else {*samples, *WORDS}
        wrong += [] if name in known else [name]
    depth = [query[: at + 1].count("(") - query[: at + 1].count(")") for at in range(len(query))]
    if min(depth) < 0 or depth[-1]:
        wrong.append("parentheses")
    return wrong


def of_file(written: dict[str, float]) -> dict[str, dict[str, set[str]]]:
    samples: dict[str, dict[str, set[str]]] = {}
    for sample in written:
        match = SAMPLE.fullmatch(f"{sample} 0")
        assert match, sample
        labels = samples.setdefault(match[1], {})
        for label, value in re.findall(r'(\w+)="(.*?)"', match[2] or ""):
            labels.setdefault(label, set()).add(value)
    return samples


def test_the_life_of_a_tree_in_the_metrics(pulling: Machine) -> None:
    """All metrics are written, and the files of the documentation ask for no others."""
    first = pushed(pulling, "x:\n  test.nop: []\n")
    pulling("pull")
    with watching(pulling):
        good = metrics(pulling)
    samples = of_file(good)
    assert samples.keys() == METRICS.keys()
    assert [
        (name, wrong) for name, query in expressions() for wrong in unknown(query, samples)
    ] == []
    assert samples["runner_info"]["revision"] == {first}
    assert good['runner_last_pull_outcome{outcome="used"}'] == 1
    assert good["runner_tree_fetched_timestamp_seconds"] > 0 < good["runner_pending_reactions"] + 1

    pushed(pulling, "x:\n  test.nopp: []\n")
    pulling("pull", code=4)
    refused = metrics(pulling)
    assert of_file(refused)["runner_info"]["revision"] == {first}
    assert refused['runner_last_pull_outcome{outcome="refused"}'] == 1
    compiled = "runner_last_compile_success_timestamp_seconds"
    assert refused[compiled] == good[compiled], "the newest tree did not compile"
    assert refused["runner_last_run_success"] == 1, "the last good one did its work"

    pulling("disable", "a while")
    assert "not run: scheduled runs are disabled" in pulling("pull", "--scheduled").stderr
    by_hand = pulling("pull", "--out", "puppetdb", code=4)
    assert by_hand.stderr.count("scheduled runs are disabled") == 1, "once, though two trees ran"
    document = json.loads(by_hand.stdout)
    assert (document["cached_catalog_status"], document["code_id"]) == ("on_failure", first)
    assert "test.nopp" in document["logs"][0]["message"]

    (pulling.folder / "site").rename(pulling.folder / "gone")
    pulling("pull")
    unreachable = metrics(pulling)
    assert unreachable['runner_last_pull_outcome{outcome="unreachable"}'] == 1
    fetched = "runner_tree_fetched_timestamp_seconds"
    assert unreachable[fetched] == refused[fetched]
    pulling("highstate")
    assert metrics(pulling)['runner_last_pull_outcome{outcome="unreachable"}'] == 1, "kept"


def test_a_first_pull_that_fails_is_in_the_metrics(pulling: Machine) -> None:
    pulling("pull", code=1)
    assert metrics(pulling)['runner_last_run_outcome{outcome="did_not_start"}'] == 1


def test_overlapping_runs_are_counted_and_say_nothing_to_cron(machine: Machine) -> None:
    machine.config["prometheus_textfile"] = str(machine.folder / "r.prom")
    machine.write(top="base: {'*': [a]}", a="x: test.nop")
    machine("highstate")
    assert metrics(machine)["runner_overlapping_runs"] == 0
    with (machine.folder / "cache/state/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        silent = machine("highstate", "-q", "--scheduled", code=3)
        assert (silent.stdout, silent.stderr) == ("", "")
        for words in (("-q",), ("--scheduled",)):
            assert "error: " in machine("highstate", *words, code=3).stderr
    machine("highstate")
    assert metrics(machine)["runner_overlapping_runs"] == 3


def test_what_is_not_as_it_should_be_is_in_the_metrics_while_somebody_watches(
    machine: Machine,
) -> None:
    machine.config["prometheus_textfile"] = str(machine.folder / "r.prom")
    machine.write(top="base: {'*': [a]}", a="{tmp}/f: {file.managed: [contents: right]}")
    machine("highstate")
    of_run, file = metrics(machine), machine.folder / "f"
    deviations, looked = "runner_watch_deviations", "runner_watch_last_look_timestamp_seconds"
    with watching(machine) as watcher:
        good = metrics(machine)
        assert good[deviations] == 0
        file.write_text("wrong")
        watcher.until_deviating(1)
        told = metrics(machine)
        assert told == {**of_run, deviations: 1, looked: good[looked]}, "nothing has run"
        machine("highstate", "--test")
        machine("single", "test.nop", "x")
        assert metrics(machine)[deviations] == 1, "a run of something else keeps it"
        file.write_text("right\n")
        watcher.until_deviating(0)
        assert metrics(machine)[deviations] == 0
        machine.write(a="{tmp}/f: {file.nosuch: []}")
        watcher.until(lambda: any("does not compile" in text for text in watcher.told))
        file.write_text("wrong")
        watcher.until_deviating(1)
        assert (metrics(machine)[deviations], metrics(machine)[looked]) == (1, good[looked])
    assert metrics(machine).keys() == of_run.keys(), "what nobody knows is not told"


def test_metrics_of_who_watches_go_where_the_configuration_says(machine: Machine) -> None:
    machine.write(top="base: {'*': [a]}", a="{tmp}/f: {file.managed: [contents: right]}")
    machine.config["prometheus_textfile"] = str(machine.folder)
    with watching(machine) as watcher:
        assert watcher.said.count(f"warning: {machine.folder} cannot be written") == 1
        machine.config["prometheus_textfile"] = str(machine.folder / "r.prom")
        machine("watch", "status")  # with it
        watcher.until(lambda: (machine.folder / "r.prom").exists())
        assert metrics(machine)["runner_watch_deviations"] == 1


def test_metrics_take_the_place_of_files_only(machine: Machine) -> None:
    path = machine.folder / "r.prom"
    machine.config["prometheus_textfile"] = str(path)
    os.mkfifo(path)
    done = machine("single", "test.nop", "name=x")
    assert "r.prom cannot be written: there is something else than a file" in done.stderr
    assert path.is_fifo()


def test_pending_reactions_and_what_a_failed_start_keeps(machine: Machine) -> None:
    machine.config["prometheus_textfile"] = str(machine.folder / "r.prom")
    machine.write(
        a="{tmp}/f:\n  file.managed: [contents: x]\nreact:\n  cmd.run:\n    - name: 'false'\n"
        "    - onchanges: [file: {tmp}/f]\n"
    )
    machine("sls", "a", code=2)
    failed = metrics(machine)
    assert (failed["runner_pending_reactions"], failed["runner_last_run_success"]) == (1, 0)
    compiled = "runner_last_compile_success_timestamp_seconds"
    assert failed[compiled] > 0 == failed["runner_last_success_timestamp_seconds"]
    machine("disable", "x")
    journal = machine.folder / "cache/state/debts.sqlite"
    journal.rename(journal.with_name("aside"))
    journal.mkdir()  # nobody can tell what is pending now
    machine("single", "test.nop", "x", code=None)
    unread = metrics(machine)
    assert unread["runner_pending_reactions"] == 1
    ended = "runner_last_run_timestamp_seconds"
    assert unread[ended] > failed[ended]
    journal.rmdir()
    journal.with_name("aside").rename(journal)
    machine("sls", "a", "--events", "/nowhere/events", code=1)
    kept = metrics(machine)
    assert kept["runner_pending_reactions"] == kept["runner_disabled"] == 1
    assert kept[compiled] == unread[compiled] and kept[ended] > unread[ended]


# ---------------------------------------------------------------- the files themselves


def test_the_alert_rules_are_valid() -> None:
    rules = yaml.safe_load((ROOT / "docs/alerts.yml").read_text())
    assert rules.keys() == {"groups"}
    names = []
    for group in rules["groups"]:
        assert group.keys() == {"name", "rules"}
        for rule in group["rules"]:
            assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
            assert re.fullmatch(r"\d+[mhd]", rule["for"]), rule["alert"]
            assert rule["labels"]["severity"] in ("info", "warning", "critical")
            assert rule["annotations"].keys() == {"summary", "description"}
            names.append(rule["alert"])
            for template in re.findall(r"\{\{(.*?)\}\}", str(rule["annotations"])):
                assert re.fullmatch(
                    r" (\$labels\.(instance|outcome)|\$value( \| humanizeDuration)?) ", template
                )
    assert len(names) == len(set(names)) > 5


def test_the_dashboard_is_valid() -> None:
    dashboard = json.loads((ROOT / "docs/grafana-dashboard.json").read_text())
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) > 8
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    assert set(re.findall(r"\$\{?(\w+)", json.dumps(panels))) == variables
    for panel in panels:
        assert panel["type"] in ("stat", "timeseries", "table") and panel["title"]
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references) > 0
    for one, other in combinations([panel["gridPos"] for panel in panels], 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)


@pytest.mark.parametrize(
    "query",
    [
        "runner_nosuch > 1",
        'runner_info{colour="red"}',
        'runner_states{outcome="exploded"}',
        "sum by (colour) (runner_info)",
        "rates(runner_info)",
        "sum(runner_info",
    ],
)
def test_the_check_of_names_finds_mistakes(query: str) -> None:
    samples: dict[str, dict[str, set[str]]] = {
        "runner_info": {"revision": {"x"}},
        "runner_states": {"outcome": {"failed"}},
    }
    assert unknown(query, samples)


def test_the_page_names_all_metrics() -> None:
    page = (ROOT / "docs/reference/metrics.md").read_text()
    assert set(re.findall(r"^\| `(runner_\w+)", page, re.M)) == METRICS.keys()
