# SPDX-License-Identifier: Apache-2.0
"""The alert rules of docs/alerts.yml, tried by Prometheus' own promtool: each fires, and its twin
of a machine that is in order does not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from debian import Debian

LAYER = "browser"
INIT = "none"
RULES = Path(__file__).parent.parent.parent / "docs/alerts.yml"
LONG = "x6000"  # minutes, more than four days
BY_NOW = f"0+60{LONG}"  # a moment that is always now
ENABLED = {"runner_disabled": f"0{LONG}"}
# an alert: (what a machine says when it fires, what one says that is in order, minutes until then)
CASES: dict[str, tuple[dict[str, str], dict[str, str], int]] = {
    "RunnerFailed": (
        {"runner_last_run_success": f"0{LONG}"},
        {"runner_last_run_success": f"1{LONG}"},
        90,
    ),
    "RunnerDoesNotCompile": (
        {'runner_last_run_outcome{outcome="did_not_compile"}': f"1{LONG}"},
        {'runner_last_run_outcome{outcome="did_not_compile"}': f"0{LONG}"},
        30,
    ),
    "RunnerDoesNotRun": (
        {"runner_last_run_timestamp_seconds": f"0{LONG}", **ENABLED},
        {"runner_last_run_timestamp_seconds": BY_NOW, **ENABLED},
        240,
    ),
    "RunnerWithoutSuccess": (
        {"runner_last_success_timestamp_seconds": f"0{LONG}", **ENABLED},
        {"runner_last_success_timestamp_seconds": BY_NOW, **ENABLED},
        1500,
    ),
    "RunnerTreeRefused": (
        {'runner_last_pull_outcome{outcome="refused"}': f"1{LONG}"},
        {'runner_last_pull_outcome{outcome="refused"}': f"0{LONG}"},
        30,
    ),
    "RunnerTreeIsOld": (
        {"runner_tree_fetched_timestamp_seconds": f"0{LONG}"},
        {"runner_tree_fetched_timestamp_seconds": f"0{LONG}", "runner_disabled": f"1{LONG}"},
        1500,
    ),
    "RunnerReactionsPending": (
        {"runner_pending_reactions": f"2{LONG}"},
        {"runner_pending_reactions": f"0{LONG}"},
        180,
    ),
    "RunnerDisabled": ({"runner_disabled": f"1{LONG}"}, {"runner_disabled": f"0{LONG}"}, 4400),
    "RunnerRevisionsDiffer": (
        {'runner_info{revision="a"}': f"1{LONG}", 'runner_info{revision="b"}': f"1{LONG}"},
        {'runner_info{revision="a"}': f"1{LONG}"},
        400,
    ),
    "RunnerDeviations": (
        {"runner_watch_deviations": f"2{LONG}"},
        {"runner_watch_deviations": f"0{LONG}"},
        30,
    ),
    "RunnerDoesNotWatch": (
        {"runner_watch_last_look_timestamp_seconds": f"0{LONG}"},
        {"runner_watch_last_look_timestamp_seconds": BY_NOW},
        240,
    ),
    "RunnerMetricsLost": (
        {"runner_info": "1x60 stale", "up": f"1{LONG}"},
        {"runner_info": f"1{LONG}", "up": f"1{LONG}"},
        180,
    ),
}


def series(name: str) -> str:
    """A series as a machine's node_exporter gives it."""
    metric, _, labels = name.partition("{")
    return f'{metric}{{instance="web1",{labels or "}"}'


def test_each_alert_fires_and_is_silent_where_all_is_well(debian: Debian) -> None:
    rules: dict[str, Any] = yaml.safe_load(RULES.read_text())
    declared = {rule["alert"]: rule for group in rules["groups"] for rule in group["rules"]}
    assert declared.keys() == CASES.keys()
    tests = []
    for alert, (firing, calm, minutes) in CASES.items():
        rule = declared[alert]
        del rule["annotations"]  # they are compared word by word
        labels = dict(rule["labels"])
        if alert != "RunnerRevisionsDiffer":  # of all machines
            labels["instance"] = "web1"
        labels |= dict(
            pair.replace('"', "").split("=")
            for name in firing
            if "outcome" in name
            for pair in [name.partition("{")[2].rstrip("}")]
        )
        for samples, expected in ((firing, [{"exp_labels": labels}]), (calm, [])):
            told = [{"series": series(name), "values": given} for name, given in samples.items()]
            asked = {"eval_time": f"{minutes}m", "alertname": alert, "exp_alerts": expected}
            tests.append({"interval": "1m", "input_series": told, "alert_rule_test": [asked]})
    debian.write("/root/rules.yml", yaml.safe_dump(rules))
    asked = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": tests}
    debian.write("/root/tests.yml", yaml.safe_dump(asked))
    done = debian.run("promtool check rules rules.yml && promtool test rules tests.yml", code=None)
    assert done.returncode == 0, done.stdout + done.stderr
