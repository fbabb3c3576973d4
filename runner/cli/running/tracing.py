# SPDX-License-Identifier: Apache-2.0
"""Traces of OpenTelemetry, where `otel_endpoint` or the standard variables of the environment ask
for them. Nothing of it fails a run.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from runner import __version__
from runner.api.extras import how_to_install
from runner.cli.running.reporting import NO_REPORTS
from runner.history.outbox.document import function_of
from runner.model.errors import RunnerError
from runner.output import traces
from runner.support.log import LOG
from runner.support.redaction import redact_all

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
EXPORTERS = "OTEL_TRACES_EXPORTER"  # `otlp` without it; `none` for no traces
TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
SECONDS = 3.0  # that a collector may take, where these do not say


def wanted(raw: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Return whether the configuration or the environment asks for traces."""
    if NO_REPORTS in environ or environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporter = environ.get(EXPORTERS, "")
    if exporter == "none":
        return False
    return bool(raw.get("otel_endpoint") or exporter or any(map(environ.get, ENDPOINTS)))


@contextmanager
def traced(options: Any) -> Iterator[list[Any]]:
    """Gives the listener that traces a run, and sends its trace at the end.

    Where the packages are missing, only the key of the configuration is worth a warning: variables
    of the environment may be meant for other programs.
    """
    try:
        exporter, listener = _exporter(options.raw, os.environ), _listener(options)
    except (ImportError, RunnerError) as error:
        if not isinstance(error, ImportError):
            _warn(f"this run has no trace: {error.message}")
        elif options.raw.get("otel_endpoint"):
            _warn(f"this run has no trace: OpenTelemetry is missing: {how_to_install('otel')}")
        yield []
        return
    try:
        yield [listener]
    finally:
        with suppress(KeyboardInterrupt, BrokenPipeError):  # the run is over
            _send(listener, exporter)


def _listener(options: Any) -> Any:
    name = f"runner {function_of(sys.argv[1:])}"
    return traces.Traces(name, options.id, __version__, os.environ)


def _exporter(raw: Mapping[str, Any], environ: Mapping[str, str]) -> SpanExporter:
    """Raises ImportError where it is not installed, and RunnerError for one that is not known."""
    named = environ.get(EXPORTERS, "otlp") if not raw.get("otel_endpoint") else "otlp"
    if named == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)
    if named != "otlp":
        raise RunnerError(f"{EXPORTERS}={named}: runner knows otlp and console")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    settings: dict[str, Any] = {}
    if address := raw.get("otel_endpoint"):
        address = str(address).rstrip("/")
        settings["endpoint"] = address if address.endswith("/v1/traces") else f"{address}/v1/traces"
    if headers := raw.get("otel_headers"):
        settings["headers"] = {str(name): str(value) for name, value in headers.items()}
    if not any(map(environ.get, TIMEOUTS)):
        settings["timeout"] = SECONDS
    try:
        return OTLPSpanExporter(**settings)
    except ValueError as error:
        raise RunnerError(str(error)) from None


def _send(listener: Any, exporter: SpanExporter) -> None:
    if not LOG.on:  # one line says what went wrong
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    try:
        sent = listener.send(exporter)
        problem = "" if sent else "the collector did not take it (-l info says why)"
    except Exception as error:  # of a library, about what only watches the run
        problem = f"{type(error).__name__}: {error}"
    if problem:
        _warn(f"the trace of this run is lost: {problem}")


def _warn(message: str) -> None:
    with suppress(OSError, ValueError):
        print(f"warning: {redact_all(message)}", file=sys.stderr)
