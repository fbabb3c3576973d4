# SPDX-License-Identifier: Apache-2.0
"""Ask web servers whether all is well."""

from __future__ import annotations

import re
import time
from typing import Annotated, Any, Literal

from modules.web import http
from runner.api import Duration, Group, OneOrMany, Plan, Planned, Record, Secret, StateFailed

NON_IDEMPOTENT = dict.fromkeys(
    ("query", "wait_for_successful_query"), "a server is asked in each run"
)
WHY = "what the server answers is known when it has been asked"


class Query(Record):
    """How a server is asked, and what it has to answer.

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
    """

    match: str | None = None
    match_type: Literal["string", "pcre"] = "string"
    status: OneOrMany[int | str] | None = None
    status_type: Literal["string", "pcre", "list"] = "string"
    wait_for: Duration[float] | None = None
    request_interval: Duration[float] = 1
    method: str = "GET"
    params: dict[str, Any] | None = None
    data: Any = None
    data_file: str | None = None
    data_render: bool = False
    header_dict: dict[str, Any] | None = None
    header_list: list[str] | None = None
    header_file: str | None = None
    header_render: bool = False
    template_dict: dict[str, Any] | None = None
    username: str | None = None
    password: Secret[str] | None = None
    verify_ssl: bool = True
    ca_bundle: str | None = None
    cert: OneOrMany[str] | None = None
    agent: str | None = None
    timeout: Duration[float] = 30
    backend: str | None = None
    test_url: str | None = None

    def options(self) -> dict[str, Any]:
        """Return what `http.query` takes."""
        names = self._fields[self._fields.index("method") : self._fields.index("backend")]
        options = {name: getattr(self, name) for name in names}
        return {
            name: value
            for name, value in options.items()
            if value not in (None, False) or name == "verify_ssl"
        }


AnyQuery = Annotated[Query, Group()]


def query(name: str, wanted: AnyQuery = Query()) -> Planned:
    """Make sure that a web server answers as it should.

    name: The address.

        the site answers:
          http.query:
            - name: http://localhost/health
            - status: 200
            - match: OK
            - wait_for: 30
    """
    if wanted.match is None and wanted.status is None:
        raise StateFailed(" Either match text (match) or a status code (status) is required.")
    options = wanted.options()
    plan = Plan({}, "The server is set to be asked", exact=False, why=WHY)

    def asking() -> Plan:
        answer = _met(wanted, _ask(str(wanted.test_url), options))[1]
        return plan._replace(comment=f"{answer} (asked {wanted.test_url})")

    yield plan._replace(in_dry_run=asking if wanted.test_url else None)
    until = time.monotonic() + (wanted.wait_for or 0)
    while True:
        matches, answer = _met(wanted, _ask(name, options))
        if matches:
            return answer
        if time.monotonic() + wanted.request_interval > until:
            raise StateFailed(answer, changes={})
        time.sleep(wanted.request_interval)


def wait_for_successful_query(name: str, wanted: AnyQuery = Query(wait_for=300)) -> Planned:
    """Make sure that a web server answers as it should before so many seconds are over. The rest as
    http.query.

    name: As of http.query.
    wait_for: Seconds after which it has failed.

        http://localhost:8080/ready:
          http.wait_for_successful_query:
            - status: 200
            - wait_for: 60
            - request_interval: 2
    """
    return (yield from query(name, wanted))


def _met(wanted: Query, answer: dict[str, Any]) -> tuple[bool, str]:
    """Check an answer: whether it meets the conditions, and a comment."""
    checks = [check for check in (_text(wanted, answer), _code(wanted, answer)) if check]
    comment = " ".join(text for _, text in checks)
    fits = all(good for good, _ in checks)
    if not fits and not answer.get("body") and answer.get("error"):
        error = str(answer["error"])
        comment += f" ({error.partition('] ')[2] if error.startswith('[Errno') else error})"
    return fits, comment


def _text(wanted: Query, answer: dict[str, Any]) -> tuple[bool, str] | None:
    if wanted.match is None:
        return None
    body = str(answer.get("text", answer.get("body", "")))
    pattern = wanted.match_type == "pcre"
    matches = bool(re.search(wanted.match, body)) if pattern else wanted.match in body
    what = "pattern" if pattern else "text"
    return matches, f'Match {what} "{wanted.match}" was {"" if matches else "not "}found.'


def _code(wanted: Query, answer: dict[str, Any]) -> tuple[bool, str] | None:
    if not wanted.status:
        return None
    status, code = [str(each) for each in wanted.status], str(answer.get("status", ""))
    if wanted.status_type == "pcre":
        matches = re.search(status[0], code) is not None
        return matches, f'Status pattern "{status[0]}" was {"" if matches else "not "}found.'
    matches = code in status
    if wanted.status_type == "list":
        found = f"Status {code} was found."
        return matches, found if matches else f"Statuses [{', '.join(status)}] were not found."
    return matches, f"Status {status[0]} was {'' if matches else 'not '}found."


def _ask(url: str, options: dict[str, Any]) -> dict[str, Any]:
    return http.query(url, status=True, text=True, **options)
