"""Answers of web servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from modules.file._download import _context


def query(
    url: str,
    method: str = "GET",
    params: Mapping[str, Any] | None = None,
    data: Any = None,
    header_dict: Mapping[str, str] | None = None,
    header_list: list[str] | None = None,
    username: str | None = None,
    password: str | None = None,
    decode: bool = False,
    decode_type: str = "auto",
    text: bool = False,
    status: bool = False,
    headers: bool = False,
    verify_ssl: bool = True,
    timeout: float = 30,
    **_: Any,
) -> dict[str, Any]:
    """Ask a web server.

    method, params (of the address), data, header_dict, header_list, username, password: what is asked, and how.
    decode: read JSON or XML into `dict`; text, status, headers: give these, too. timeout: seconds.
    Answers with {body, ...}, and with {error} when there is no answer.

        {{ salt['http.query']('https://api.example.com/x', decode=True).dict }}
    """
    import urllib.error
    import urllib.parse
    import urllib.request

    if params:
        url += ("&" if "?" in url else "?") + urllib.parse.urlencode(params)
    sent = {"User-Agent": "runner", **(header_dict or {})}
    sent |= {key.strip(): value.strip() for key, _, value in (each.partition(":") for each in header_list or ())}
    if username:
        import base64

        sent["Authorization"] = "Basic " + base64.b64encode(f"{username}:{password or ''}".encode()).decode()
    body = (
        json.dumps(data).encode() if isinstance(data, dict | list) else str(data).encode() if data is not None else None
    )
    request = urllib.request.Request(url, body, sent, method=method.upper())
    try:
        with urllib.request.urlopen(request, timeout=timeout, context=_context(verify_ssl)) as answer:
            return _answer(answer.read(), answer.status, answer.headers, decode, decode_type, text, status, headers)
    except urllib.error.HTTPError as problem:
        with problem:
            found = _answer(problem.read(), problem.code, problem.headers, False, "", text, True, headers)
        return {**found, "error": f"HTTP {problem.code}: {problem.reason}"}
    except (OSError, ValueError) as problem:
        return {"error": str(getattr(problem, "reason", problem))}


def _answer(
    data: bytes, code: int, got: Any, decode: bool, kind: str, text: bool, status: bool, headers: bool
) -> dict[str, Any]:
    body = data.decode("utf-8", "replace")
    found: dict[str, Any] = {"body": body}
    if status:
        found["status"] = code
    if headers:
        found["headers"] = dict(got.items())
    if text:
        found["text"] = body
    if decode:
        content = str(got.get("Content-Type", ""))
        if kind == "yaml":
            import yaml

            found["dict"] = yaml.safe_load(body)
        elif kind == "json" or (kind == "auto" and "xml" not in content):
            try:
                found["dict"] = json.loads(body)
            except ValueError:
                found["text"] = body
    return found


def wait_for_successful_query(url: str, wait_for: float = 300, **options: Any) -> dict[str, Any]:
    """Ask until there is an answer, for so many seconds at most."""
    import time

    until = time.monotonic() + wait_for
    while True:
        found = query(url, **options)
        if "error" not in found or time.monotonic() >= until:
            return found
        time.sleep(options.get("request_interval", 1))
