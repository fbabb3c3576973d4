# SPDX-License-Identifier: Apache-2.0
"""Answers of web servers."""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from modules import _paths
from modules._machine import resolver
from modules._texts import yaml
from modules._texts.url import ascii_url
from runner.api import RunnerError, StateFailed, here, refuse_unforeseen

if TYPE_CHECKING:
    from urllib.request import Request

LARGEST = 100 << 20  # bytes of an answer
_PROOF = re.compile(r"auth|cookie|token|key|secret|password", re.I)  # in names of headers


def query(
    url: str,
    method: str = "GET",
    params: Mapping[str, Any] | None = None,
    data: Any = None,
    data_file: str | None = None,
    data_render: bool = False,
    header_dict: Mapping[str, Any] | None = None,
    header_list: list[str] | None = None,
    header_file: str | None = None,
    header_render: bool = False,
    template_dict: Mapping[str, Any] | None = None,
    username: str | None = None,
    password: str | None = None,
    decode: bool = False,
    decode_type: str = "auto",
    text: bool = False,
    status: bool = False,
    headers: bool = False,
    raise_error: bool = True,
    verify_ssl: bool = True,
    ca_bundle: str | None = None,
    cert: str | list[str] | None = None,
    agent: str = "runner",
    timeout: float = 30,
    test: bool = False,
    test_url: str | None = None,
    **ignored: Any,
) -> dict[str, Any]:
    """Ask a web server. Raises RunnerError for text_out, headers_out and decode_out.

    method, params (of the address), data (a text, or a mapping for a form), data_file, header_dict,
    header_list, header_file, username, password, agent: what is asked. data_render, header_render:
    the files are Jinja templates with the variables template_dict. decode: read JSON, XML or YAML
    into `dict`, by the answer's type unless decode_type says which. text, status, headers: give
    these, too. raise_error: name codes from 400 on in `error`. verify_ssl, ca_bundle, cert: how the
    server is trusted. timeout: seconds. test: ask test_url, or nobody. Answers with {body, ...};
    with {error, ...} when there is no answer. `backend` changes nothing.

        {{ salt['http.query']('https://api.example.com/x', decode=True).dict }}
    """
    for name in ("text_out", "headers_out", "decode_out"):
        if ignored.get(name):
            raise RunnerError(
                f"http.query: {name} is not supported", hint="write the answer with file.managed"
            )
    if test and not test_url:
        return {}
    variables = dict(template_dict or {})
    sent = _body(data, data_file, variables if data_render else None)
    sent_headers = _headers(
        header_dict, header_list, header_file, variables if header_render else None
    )
    sent_headers.setdefault("User-Agent", agent)
    if username:
        sent_headers["Authorization"] = _basic(username, password or "")
    request = _request(test_url if test and test_url else url, params, method, sent, sent_headers)
    answer = _send(request, timeout, _trust(verify_ssl, ca_bundle, cert), raise_error)
    wanted = {
        name
        for name, asked_for in (("status", status), ("headers", headers), ("text", text))
        if asked_for
    }
    if "error" in answer:
        wanted = {"status", "error"} if "body" in answer or status else {"error"}
    elif decode:
        wanted |= _decoded(answer, decode_type)
    answer |= {"text": answer.get("body", "")} if "text" in wanted else {}
    order = ("body", "status", "headers", "text", "dict", "error")
    shown = {key: answer[key] for key in order if key in answer and key in {"body", *wanted}}
    return {"test": True, **shown} if test else shown


# ---------------------------------------------------------------- what is asked


def _request(
    url: str, params: Mapping[str, Any] | None, method: str, data: bytes | None, headers: Any
) -> urllib.request.Request:
    if not url.startswith(("http://", "https://")):
        raise StateFailed(f"Unsupported url scheme: {url}")
    if params:
        url += ("&" if "?" in url else "?") + urllib.parse.urlencode(params)
    return urllib.request.Request(ascii_url(url), data, headers, method=method.upper())


def _file(path: str, variables: Mapping[str, Any] | None) -> str:
    try:
        text = _paths.read_text(os.fspath(path))
    except OSError as problem:
        raise StateFailed(f"http.query: {path} cannot be read: {problem.strerror}") from None
    return text if variables is None else here.render(text, "jinja", variables)


def _body(data: Any, path: str | None, variables: Mapping[str, Any] | None) -> bytes | None:
    if path is not None:
        data = _file(path, variables)
    if data is None or isinstance(data, bytes):
        return data
    return (urllib.parse.urlencode(data) if isinstance(data, Mapping) else str(data)).encode()


def _headers(
    mapping: Mapping[str, Any] | None,
    lines: list[str] | None,
    path: str | None,
    variables: Mapping[str, Any] | None,
) -> dict[str, str]:
    headers = {key: str(value) for key, value in (mapping or {}).items()}
    for line in [*(_file(path, variables).splitlines() if path else ()), *(lines or ())]:
        key, colon, value = line.partition(":")
        if colon:
            headers[key.strip()] = value.strip()
    return headers


def _basic(username: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


def _trust(
    verify_ssl: bool, ca_bundle: str | None, cert: str | list[str] | None
) -> ssl.SSLContext | None:
    if verify_ssl and not ca_bundle and not cert:
        return None
    context = ssl.create_default_context(cafile=ca_bundle)
    if not verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if cert:
        context.load_cert_chain(*([cert] if isinstance(cert, str) else cert))
    return context


# ---------------------------------------------------------------- what is answered


def _send(request: Request, timeout: float, context: Any, raise_error: bool) -> dict[str, Any]:
    refuse_unforeseen(request.full_url)
    host = urllib.parse.urlsplit(request.full_url).hostname or ""
    # asked here: urlopen would wait as long as the resolver does
    if not urllib.request.getproxies() and not resolver.resolve(host):
        return {"status": 0, "error": "[Errno -2] Name or service not known"}
    try:
        opener = urllib.request.build_opener(
            _redirects(), urllib.request.HTTPSHandler(context=context)
        )
        with opener.open(request, timeout=timeout) as answer:
            return _read(answer, answer.status)
    except urllib.error.HTTPError as problem:
        with problem:
            failure = _read(problem, problem.code)
        return (
            {**failure, "error": f"HTTP {problem.code}: {problem.reason}"}
            if raise_error
            else failure
        )
    except (OSError, ValueError, http.client.HTTPException) as problem:
        return {"status": 0, "error": str(getattr(problem, "reason", problem))}


def _redirects() -> Any:
    """Follows redirections, and takes what proves who asks to no other server."""

    class OwnServer(urllib.request.HTTPRedirectHandler):
        def redirect_request(
            self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
        ) -> Request | None:
            new = super().redirect_request(req, fp, code, msg, headers, newurl)
            before, after = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
            is_same_host = before.hostname == after.hostname
            is_upgrade = is_same_host and (before.scheme, after.scheme) == ("http", "https")
            if new and not (before[:2] == after[:2] or is_upgrade):
                kept = new.headers.items()
                new.headers = {key: value for key, value in kept if not _PROOF.search(key)}
            return new

    return OwnServer()


def _read(answer: Any, code: int) -> dict[str, Any]:
    charset = answer.headers.get_content_charset("utf-8")
    data = answer.read(LARGEST + 1)
    if len(data) > LARGEST:
        size = f"larger than {LARGEST >> 20} MiB"
        raise StateFailed(f"http.query: the answer is {size}: file.managed fetches it as a file")
    try:
        body = data.decode(charset, "replace")
    except LookupError:
        raise StateFailed(f"http.query: the answer is in an unknown code: {charset}") from None
    return {"status": code, "body": body, "headers": dict(answer.headers.items())}


def _decoded(answer: dict[str, Any], kind: str) -> set[str]:
    """Put what the body says into `dict`; the keys that hold it (`text`, for what is not data)."""
    if kind == "auto":
        content = next(
            (value for key, value in answer["headers"].items() if key.lower() == "content-type"), ""
        )
        kind = next((known for known in ("json", "xml", "yaml") if known in content), "plain")
    if kind == "plain":
        return {"text"}
    if kind not in DECODERS:
        answer["error"] = (
            f"Invalid decode_type specified. Valid decode types are: {(*DECODERS, 'plain')}"
        )
        return {"error"}
    try:
        answer["dict"] = DECODERS[kind](answer["body"])
    except (ValueError, SyntaxError, RunnerError) as problem:
        raise StateFailed(f"the answer is not {kind.upper()}: {problem}") from None
    return {"dict"}


def _xml(text: str) -> Any:
    """The elements as lists of {tag: text or elements}."""

    def shaped(element: Any) -> Any:
        return [{child.tag: shaped(child)} for child in element] or element.text

    if "<!ENTITY" in text:
        raise ValueError("it declares entities, which are not expanded")
    return shaped(xml.etree.ElementTree.fromstring(text))


DECODERS: Mapping[str, Callable[[str], Any]] = {"json": json.loads, "xml": _xml, "yaml": yaml.load}


def wait_for_successful_query(
    url: str,
    wait_for: float = 300,
    request_interval: float = 0,
    status: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Ask until there is an answer (with this status), for so many seconds at most.

    request_interval: seconds between two tries (without it: one). options: as those of query.
    """
    until = time.monotonic() + wait_for
    while True:
        answer = query(url, **{"status": status is not None, **options})
        if (
            "error" not in answer if status is None else answer.get("status") == status
        ) or time.monotonic() >= until:
            return answer
        time.sleep(min(request_interval or 1, max(until - time.monotonic(), 0)))
