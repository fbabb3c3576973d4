# SPDX-License-Identifier: Apache-2.0
"""Traces of runs, as a collector of OpenTelemetry gets them."""

from __future__ import annotations

import http.server
import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from command import Machine

from runner.cli.running.tracing import traced

TREE = """
made:
  file.managed: [{name: '{tmp}/f', contents: x}]
slow:
  cmd.run: [{name: 'echo {{ pillar.password }}; exit 3'}]
never:
  test.nop: [{require: [{cmd: slow}]}]
"""
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector(http.server.ThreadingHTTPServer):
    """Takes traces by HTTP and keeps them; `answer` is its status."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Taking)
        self.answer, self.requests = 200, list[tuple[str, dict[str, str], Any]]()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def spans(self) -> dict[str, Any]:
        """The spans of the last trace, by their names."""
        (resource,) = self.requests[-1][2].resource_spans
        return {span.name: span for scope in resource.scope_spans for span in scope.spans}


class Taking(http.server.BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTraceServiceRequest,
        )

        body = self.rfile.read(int(self.headers["Content-Length"]))
        sent = ExportTraceServiceRequest.FromString(body)
        self.server.requests.append((self.path, dict(self.headers), sent))
        self.send_response(self.server.answer)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    pytest.importorskip("opentelemetry.sdk")
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def attributes(span: Any) -> dict[str, Any]:
    return {item.key: item.value.string_value or item.value.int_value for item in span.attributes}


def test_a_run_is_a_trace(machine: Machine, collector: Collector) -> None:
    machine.write(a=TREE, pillar__top="base: {'*': [p]}", pillar__p="password: hunter2hunter2")
    machine.config |= {"otel_endpoint": collector.url, "otel_headers": {"x-key": "secretheader"}}
    machine.environment["TRACEPARENT"] = PARENT
    done = machine("sls", "a", "-l", "all", code=2)
    assert "secretheader" not in done.stdout + done.stderr
    ((path, headers, sent),) = collector.requests
    assert (path, headers["x-key"]) == ("/v1/traces", "secretheader")
    assert "hunter2" not in str(sent)
    spans = collector.spans()
    assert list(spans) == [
        "compile",
        "file.managed made",
        "cmd.run slow",
        "test.nop never",
        "runner state.sls",
    ]
    run = spans.pop("runner state.sls")
    assert run.trace_id.hex() in PARENT and run.parent_span_id.hex() in PARENT
    assert {span.parent_span_id for span in spans.values()} == {run.span_id}
    assert attributes(run)["runner.run.outcome"] == "failed"
    assert attributes(run)["runner.run.changed"] == 1
    outcomes = [attributes(span).get("runner.state.outcome") for span in spans.values()]
    assert outcomes == [None, "changed", "failed", "skipped"]
    assert [span.status.code for span in (*spans.values(), run)] == [0, 0, 2, 2, 2]
    slow = spans["cmd.run slow"]
    assert slow.status.message == 'Command "echo **********; exit 3" run'
    assert run.start_time_unix_nano < slow.start_time_unix_nano < slow.end_time_unix_nano
    assert slow.end_time_unix_nano <= run.end_time_unix_nano
    (resource,) = sent.resource_spans
    described = {item.key: item.value.string_value for item in resource.resource.attributes}
    assert (described["service.name"], described["host.id"]) == ("runner", "m1")


def test_the_environment_asks_for_traces(machine: Machine, collector: Collector) -> None:
    machine.write(a="{{ no_such_thing.x }}")
    machine.environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    machine.environment |= {"OTEL_SERVICE_NAME": "mine"}
    machine("sls", "a", code=1)
    *_, run = collector.spans().values()
    assert attributes(run)["runner.run.outcome"] == "did not compile"
    assert run.status.code == 2 and "no_such_thing" in run.status.message
    assert "mine" in str(collector.requests[0][2].resource_spans[0].resource)
    machine.environment["OTEL_SDK_DISABLED"] = "true"
    machine("sls", "a", code=1)
    assert len(collector.requests) == 1
    machine.environment |= {"OTEL_SDK_DISABLED": "", "OTEL_TRACES_EXPORTER": "zipkin"}
    assert "OTEL_TRACES_EXPORTER=zipkin: runner knows" in machine("sls", "a", code=1).stderr


def test_a_collector_that_fails_fails_no_run(machine: Machine, collector: Collector) -> None:
    machine.write(a="x: {test.nop: []}")
    machine.config["otel_endpoint"] = collector.url
    collector.answer = 400
    told = machine("sls", "a").stderr
    assert told == (
        "warning: the trace of this run is lost: the collector did not take it (-l info says why)\n"
    )


def test_a_missing_package_is_only_worth_a_warning_if_the_configuration_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    for name in [name for name in sys.modules if name.startswith("opentelemetry.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "runner.output.traces", raising=False)
    printed = []
    for raw in ({}, {"otel_endpoint": "http://127.0.0.1:9"}):
        with traced(SimpleNamespace(raw=raw, id="m1")) as listeners:
            assert listeners == []
        printed.append(capsys.readouterr().err)
    missing = f"OpenTelemetry is missing: python3 -m pip --python {sys.executable} install"
    assert printed[0] == "" and "'opentelemetry-sdk>=1.40'" in printed[1]
    assert printed[1].startswith(f"warning: this run has no trace: {missing} 'opentelemetry-")
