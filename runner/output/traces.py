# SPDX-License-Identifier: Apache-2.0
"""A run as a trace of OpenTelemetry: a span for the run, one for compiling, one for each state.

The spans are made as the run goes on and sent at its end, in one go. Imported only where somebody
asks for traces; the packages are the extra `otel`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Span, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from runner.model.events import Event, RunFinished, RunStarted, StateFinished, StateStarted
from runner.model.result import Report, Result

TOGETHER = 512  # spans that are sent at once
PARENT = ("traceparent", "tracestate")  # of the environment, in capitals: the span that started it


class Traces:
    """A listener that makes the spans of a run.

    name: of the span of the run. machine, version: of the resource. environ: where the span that
    started this run is named.
    """

    def __init__(self, name: str, machine: str, version: str, environ: Mapping[str, str]) -> None:
        self._name = name
        self._ended_spans = InMemorySpanExporter()
        resource = Resource.create(
            {"service.version": version, "service.instance.id": machine, "host.id": machine}
            | ({} if environ.get("OTEL_SERVICE_NAME") else {"service.name": "runner"})
        )
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._ended_spans))
        self._tracer = provider.get_tracer("runner", version)
        carrier = {key: environ[key.upper()] for key in PARENT if environ.get(key.upper())}
        self._parent = TraceContextTextMapPropagator().extract(carrier)
        self._began = time.time_ns()
        self._run = self._span(name, self._began, {}, self._parent)
        self._started: dict[str, int] = {}  # when states have started, by their tags
        self._dry = False

    def __call__(self, event: Event) -> None:
        now = time.time_ns()
        if isinstance(event, RunStarted):
            self._dry = event.dry
            self._run.set_attribute("runner.run.id", event.run)
            self._span("compile", self._began, {"runner.states": event.total}).end(now)
        elif isinstance(event, StateStarted):
            self._started[event.chunk.tag] = now
        elif isinstance(event, StateFinished):
            self._state(event.result, now)
        elif isinstance(event, RunFinished):
            self._ended(event.report, now)

    def _span(
        self, name: str, start: int, attributes: Mapping[str, Any], context: Any = None
    ) -> Span:
        within = context if context is not None else trace.set_span_in_context(self._run)
        return self._tracer.start_span(name, within, attributes=attributes, start_time=start)

    def _state(self, result: Result, now: int) -> None:
        chunk = result.chunk
        attributes = {
            "runner.state.function": chunk.function,
            "runner.state.id": chunk.id,
            "runner.state.name": result.name,
            "runner.state.sls": chunk.sls,
            "runner.state.place": str(chunk.place),
            "runner.state.outcome": result.outcome(self._dry),
            "runner.state.changes": [str(key) for key in result.changes],
            "runner.state.comment": result.comment,
        }
        start = self._started.pop(chunk.tag, now - int(result.duration * 1e6))
        span = self._span(f"{chunk.function} {chunk.id}", start, attributes)
        if result.result is False:
            span.set_status(Status(StatusCode.ERROR, result.comment))
        span.end(now)

    def _ended(self, report: Report, now: int) -> None:
        self._run.set_attributes(
            {
                "runner.run.dry": report.dry,
                "runner.run.outcome": "interrupted" if report.interrupted else report.outcome,
                **{
                    f"runner.run.{word.replace(' ', '_')}": number
                    for word, number in report.counts().items()
                },
            }
        )
        if report.failed or report.interrupted:
            reasons = "\n".join(error.message for error in report.errors)
            self._run.set_status(Status(StatusCode.ERROR, reasons or report.outcome))
        self._run.end(now)

    def send(self, exporter: SpanExporter) -> bool:
        """Hand the spans to an exporter; return whether it has taken all of them."""
        done = all(
            exporter.export(spans) is SpanExportResult.SUCCESS
            for spans in _parts(self._ended_spans.get_finished_spans())
        )
        exporter.shutdown()
        return done


def _parts(spans: Sequence[ReadableSpan]) -> Iterator[Sequence[ReadableSpan]]:
    for start in range(0, len(spans), TOGETHER):
        yield spans[start : start + TOGETHER]
