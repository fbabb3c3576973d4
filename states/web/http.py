# SPDX-License-Identifier: Apache-2.0
"""Ask web servers whether all is well."""

from __future__ import annotations

import re
import time
from typing import Any, Literal

from modules.web import http
from runner.api import OneOrMany, Plan, Planned, Secret, StateFailed

NON_IDEMPOTENT = dict.fromkeys(
    ("query", "wait_for_successful_query"), "a server is asked in each run"
)
WHY = "what the server answers is known when it has been asked"


def query(
    name: str,
    match: str | None = None,
    match_type: Literal["string", "pcre"] = "string",
    status: OneOrMany[int | str] | None = None,
    status_type: Literal["string", "pcre", "list"] = "string",
    wait_for: float | None = None,
    request_interval: float = 1,
    method: str = "GET",
    params: dict[str, Any] | None = None,
    data: Any = None,
    data_file: str | None = None,
    data_render: bool = False,
    header_dict: dict[str, Any] | None = None,
    header_list: list[str] | None = None,
    header_file: str | None = None,
    header_render: bool = False,
    template_dict: dict[str, Any] | None = None,
    username: str | None = None,
    password: Secret[str] | None = None,
    verify_ssl: bool = True,
    ca_bundle: str | None = None,
    cert: OneOrMany[str] | None = None,
    agent: str | None = None,
    timeout: float = 30,
    backend: str | None = None,
    test_url: str | None = None,
) -> Planned:
    """Make sure that a web server answers as it should.

    name: The address.
    match: A text that the answer has; this or `status` is needed.
    match_type: Whether `match` is a text (`string`) or a regular expression (`pcre`).
    status: The code that the answer has to have.
    status_type: Whether `status` is one code (`string`), a regular expression (`pcre`) or a list of
      codes (`list`).
    wait_for: Ask again for so many seconds, until the answer is right.
    request_interval: Seconds from one question to the next.
    method: The method of the request.
    params: What is added to the address behind `?`, as a mapping.
    data: What is sent: a text, or a mapping for a form.
    data_file: A file with what is sent.
    data_render: Render data_file with Jinja.
    header_dict: Headers of the request, as a mapping.
    header_list: Headers of the request, as a list of lines `Name: value`.
    header_file: A file with headers of the request.
    header_render: Render header_file with Jinja.
    template_dict: Variables of the templates data_file and header_file.
    username: The name to log in with.
    password: The password of username.
    verify_ssl: False asks servers whose certificate is not valid, too.
    ca_bundle: A file with the authorities that are trusted, instead of the system's.
    cert: The client's certificate: a file, or two with the key in the second.
    agent: What the client calls itself, in the header User-Agent.
    timeout: Seconds to wait for an answer.
    backend: Ignored; there is one.
    test_url: The address that is asked in a dry run; without it a dry run asks nobody.

        the site answers:
          http.query:
            - name: http://localhost/health
            - status: 200
            - match: OK
            - wait_for: 30

    Behaviour: Salt 3008's http.query.
    """
    if match is None and status is None:
        raise StateFailed(" Either match text (match) or a status code (status) is required.")
    wanted = _Conditions(match, match_type, status or [], status_type)
    arguments = {
        "method": method,
        "params": params,
        "data": data,
        "data_file": data_file,
        "data_render": data_render,
        "header_dict": header_dict,
        "header_list": header_list,
        "header_file": header_file,
        "header_render": header_render,
        "template_dict": template_dict,
        "username": username,
        "password": password,
        "verify_ssl": verify_ssl,
        "ca_bundle": ca_bundle,
        "cert": cert,
        "agent": agent,
        "timeout": timeout,
    }
    options = {
        key: value
        for key, value in arguments.items()
        if value not in (None, False) or key == "verify_ssl"
    }
    plan = Plan({}, "The server is set to be asked", exact=False, why=WHY)

    def asking() -> Plan:
        answer = wanted.met(_ask(str(test_url), options))[1]
        return plan._replace(comment=f"{answer} (asked {test_url})")

    yield plan._replace(in_dry_run=asking if test_url else None)
    until = time.monotonic() + (wait_for or 0)
    while True:
        matches, answer = wanted.met(_ask(name, options))
        if matches:
            return answer
        if time.monotonic() + request_interval > until:
            raise StateFailed(answer, changes={})
        time.sleep(request_interval)


def wait_for_successful_query(
    name: str,
    match: str | None = None,
    match_type: Literal["string", "pcre"] = "string",
    status: OneOrMany[int | str] | None = None,
    status_type: Literal["string", "pcre", "list"] = "string",
    wait_for: float = 300,
    request_interval: float = 1,
    method: str = "GET",
    params: dict[str, Any] | None = None,
    data: Any = None,
    data_file: str | None = None,
    data_render: bool = False,
    header_dict: dict[str, Any] | None = None,
    header_list: list[str] | None = None,
    header_file: str | None = None,
    header_render: bool = False,
    template_dict: dict[str, Any] | None = None,
    username: str | None = None,
    password: Secret[str] | None = None,
    verify_ssl: bool = True,
    ca_bundle: str | None = None,
    cert: OneOrMany[str] | None = None,
    agent: str | None = None,
    timeout: float = 30,
    backend: str | None = None,
    test_url: str | None = None,
) -> Planned:
    """Make sure that a web server answers as it should before so many seconds are over. The rest as
    http.query.

    name, match, status, method, params, data, data_file, data_render, header_dict, header_list,
      header_file, header_render, template_dict, username, password, verify_ssl, ca_bundle, cert,
      agent, timeout, backend, test_url: As of http.query.
    match_type, status_type, request_interval: as of http.query.
    wait_for: Seconds after which it has failed.

        http://localhost:8080/ready:
          http.wait_for_successful_query:
            - status: 200
            - wait_for: 60
            - request_interval: 2

    Behaviour: Salt 3008's http.wait_for_successful_query.
    """
    return (
        yield from query(
            name=name,
            match=match,
            match_type=match_type,
            status=status,
            status_type=status_type,
            wait_for=wait_for,
            request_interval=request_interval,
            method=method,
            params=params,
            data=data,
            data_file=data_file,
            data_render=data_render,
            header_dict=header_dict,
            header_list=header_list,
            header_file=header_file,
            header_render=header_render,
            template_dict=template_dict,
            username=username,
            password=password,
            verify_ssl=verify_ssl,
            ca_bundle=ca_bundle,
            cert=cert,
            agent=agent,
            timeout=timeout,
            backend=backend,
            test_url=test_url,
        )
    )


class _Conditions:
    """The conditions that an answer has to meet."""

    def __init__(
        self, match: str | None, match_type: str, status: list[Any], status_type: str
    ) -> None:
        self._match = match
        self._pattern = match_type == "pcre"
        self._status = [str(code) for code in status]
        self._status_type = status_type

    def met(self, answer: dict[str, Any]) -> tuple[bool, str]:
        """Check an answer: whether it meets the conditions, and a comment."""
        checks = [check for check in (self._text(answer), self._code(answer)) if check]
        comment = " ".join(text for _, text in checks)
        fits = all(good for good, _ in checks)
        if not fits and not answer.get("body") and answer.get("error"):
            comment += f" ({answer['error']})"
        return fits, comment

    def _text(self, answer: dict[str, Any]) -> tuple[bool, str] | None:
        if self._match is None:
            return None
        body = str(answer.get("text", answer.get("body", "")))
        matches = bool(re.search(self._match, body)) if self._pattern else self._match in body
        what = "pattern" if self._pattern else "text"
        return matches, f'Match {what} "{self._match}" was {"" if matches else "not "}found.'

    def _code(self, answer: dict[str, Any]) -> tuple[bool, str] | None:
        if not self._status:
            return None
        code = str(answer.get("status", ""))
        if self._status_type == "pcre":
            matches = re.search(self._status[0], code) is not None
            return (
                matches,
                f'Status pattern "{self._status[0]}" was {"" if matches else "not "}found.',
            )
        matches = code in self._status
        if self._status_type == "list":
            all_of = f"[{', '.join(self._status)}]"
            return (
                matches,
                f"Status {code} was found." if matches else f"Statuses {all_of} were not found.",
            )
        return matches, f"Status {self._status[0]} was {'' if matches else 'not '}found."


def _ask(url: str, options: dict[str, Any]) -> dict[str, Any]:
    return http.query(url, status=True, text=True, **options)
