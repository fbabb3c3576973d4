# SPDX-License-Identifier: Apache-2.0
"""Expectations: YAML that says what holds on a machine, read strictly and evaluated by looking."""

from __future__ import annotations

import http.server
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command import Machine
from serving import served

from runner.model.errors import CompileError, RunnerError
from runner.output import expectations as shown
from runner.output import junit
from runner.tools.expectations import evaluation, reading

# ---------------------------------------------------------------- reading

MISTAKES = """\
fil:
  /etc/motd: {exists: true}
file:
  motd: {exists: true}
  /etc/motd:
    exsits: true
    mode: rw
    filetype: dir
    contents: [fine, 80, "/(/"]
    sha256: abc
  /gone:
    exists: false
    mode: "0644"
port:
  http: {listening: yes}
  tcp:80: {ip: everywhere}
service:
  nginx: {}
  cron: {running: "yes"}
command: [true]
http:
  localhost: {status: 200}
  http://localhost/: {timeout: 0, allow-unsecure: true}
package:
  nginx: {versions: [1.22]}
user:
  www: [exists]
"""
NAMED = """\
1:1 there are no expectations of a 'fil' | did you mean file?
4:3 file: 'motd' is not an absolute path
6:5 file /etc/motd: unknown word 'exsits' | did you mean exists?
7:11 file /etc/motd: mode: has to be a file mode such as '0644', not 'rw'
8:15 file /etc/motd: filetype: there is no 'dir' | one of file, directory
9:22 file /etc/motd: contents: has to be text, not 80 | put it in quotes: '80'
9:26 file /etc/motd: contents: '/(/' is not a regular expression
10:13 file /etc/motd: sha256: has to be 64 hexadecimal digits, not 'abc'
13:5 file /gone: mode cannot hold where exists is false | leave one of them out
15:3 port: 'http' is not a port | write tcp:80 (there are tcp, tcp6, udp and udp6)
16:16 port tcp:80: ip: 'everywhere' is not an IP address
18:3 service nginx: nothing is asserted | its words are enabled, running
19:19 service cron: running: has to be true or false, not 'yes'
20:10 command has to be a mapping of names, not a list
22:3 http: 'localhost' is not the address of a web server | write http://HOST/PATH
23:32 http http://localhost/: timeout: has to be milliseconds, or a time such as 30s, not 0
23:35 http http://localhost/: unknown word 'allow-unsecure' | did you mean allow-insecure?
25:22 package nginx: versions: has to be text, not 1.22 | put it in quotes: '1.22'
27:8 user www: expected a mapping of words, not a list
"""


def test_all_mistakes_are_named_at_once_with_their_places() -> None:
    with pytest.raises(CompileError) as raised:
        reading.of_text(MISTAKES, "web.yaml")
    problems = raised.value.diagnostics
    named = [
        f"{problem.source.line}:{problem.source.column} {problem.message}"
        + (f" | {problem.hint}" if problem.hint else "")
        for problem in problems
        if problem.source
    ]
    assert all(problem.source and problem.source.file == "web.yaml" for problem in problems)
    wanted = NAMED.splitlines()
    for line, expected in zip(named, wanted, strict=False):
        assert line.startswith(expected), line
    assert len(named) == len(wanted), named


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("file:\n  /a: {exists: true}\nfile:\n  /b: {}\n", "3:1", "'file' comes twice"),
        ("# nothing\n", "", "nothing is expected"),
        ("- file\n", "1:3", "expectations are a mapping of kinds, not a list"),
        ("file:\n  /a: {contains: [a], contents: [b]}\n", "2:23", "contents is said twice"),
        ("file: [\n", "", ""),
    ],
)
def test_a_file_that_expects_nothing_clear_is_refused(text: str, place: str, message: str) -> None:
    with pytest.raises(RunnerError) as raised:
        reading.of_text(text, "e.yaml")
    (problem,) = raised.value.diagnostics
    assert str(problem.source) == f"e.yaml:{place}".rstrip(":") or not message
    assert message in problem.message


# ---------------------------------------------------------------- looking


def problems(text: str, patience: float = 0) -> dict[str, str]:
    """Return what does not hold, by kind and word, and `not checked` for what was not looked at."""
    outcomes = evaluation.evaluate(reading.of_text(text, "e.yaml"), patience=patience)
    return {f"{item.kind} {item.word}": item.problem for item in outcomes if not item.ok}


def test_files(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("Hello\n<b>World</b> !\n")
    (tmp_path / "page").chmod(0o640)
    (tmp_path / "link").symlink_to("page")
    (tmp_path / "lost").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    owner = (tmp_path / "page").owner()
    digest = "2f57c1a1a4b5a0e4a35bdcd5d16d2fb1f2d0ab1b3ae93d8d7ba7c8d1cbd5b1b0"
    body = (
        f"mode: 0640, owner: {owner}, group: {os.getgid()}, size: 21,"
        " contents: [Hello, '!Bye', '/W.r/', '!/^W/', '\\!'{}]"
    )
    good = (
        f"file:\n  {tmp_path}/page: {{filetype: file, {body.format('')}}}\n"
        f"  {tmp_path}/link: {{filetype: symlink, linked-to: page, {body.format('')}}}\n"
        f"  {tmp_path}/lost: {{filetype: symlink}}\n  {tmp_path}/pipe: {{filetype: pipe}}\n"
        f"  {tmp_path}:\n    filetype: directory\n  {tmp_path}/gone: {{exists: no}}\n"
        f'  {tmp_path}/./page:\n    contents: "Hello\\n<b>World</b> !"\n'
    )
    assert problems(good) == {}
    bad = "file:\n  {0}: {{{1}}}\n"
    assert problems(bad.format(tmp_path / "gone", "mode: 0644, owner: root")) == {
        "file exists": "expected true, it is false",
        "file mode": "not checked",
        "file owner": "not checked",
    }
    assert problems(bad.format(tmp_path / "page", "exists: false")) == {
        "file exists": "expected false, it is true"
    }
    assert problems(
        bad.format(tmp_path / "page", f"mode: 0600, linked-to: x, size: 3, sha256: {digest}")
        + "    # with words that do not hold\n"
    ) == {
        "file mode": "expected 0600, it is 0640",
        "file linked-to": "expected x, it is no link",
        "file size": "expected 3, it is 21",
        "file sha256": f"expected {digest}, it is {_sha256(tmp_path / 'page')}",
    }
    wrong = "contents: [Bye, '!Hello', '/^b/', '!/b.W/']"
    assert problems(bad.format(tmp_path / "page", wrong)) == {
        "file contents": "no line contains 'Bye'; line 1 contains 'Hello'; no line matches /^b/;"
        " line 2 matches /b.W/"
    }
    for text, problem in {
        "Hello": "it goes on with line 2: '<b>World</b> !'",
        '"Hello\\nYou"': "line 2 is '<b>World</b> !', not 'You'",
        '"Hello\\n<b>World</b> !\\nBye"': "it ends before line 3: 'Bye'",
    }.items():
        assert problems(bad.format(tmp_path / "page", f"contents: {text}")) == {
            "file contents": problem
        }
    lost = problems(bad.format(tmp_path / "lost", "mode: 0644, size: 1"))
    assert lost == {
        "file mode": "the link leads to nowhere, which is not there",
        "file size": "not checked",
    }
    refused = problems(bad.format(tmp_path, "contents: [a]"))
    assert refused == {"file contents": f"{tmp_path} is not a regular file"}


def _sha256(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_ports_of_each_protocol() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(type=socket.SOCK_DGRAM) as udp,
    ):
        udp.bind(("127.0.0.1", 0))
        port, other = tcp.getsockname()[1], udp.getsockname()[1]
        assert (
            problems(
                f"port:\n  {port}: {{ip: 127.0.0.1}}\n  udp:{other}:\n    listening: true\n"
                f"  tcp6:{port}: {{listening: false}}\n"
            )
            == {}
        )
        assert problems(f"port:\n  tcp:{port}: {{ip: [127.0.0.1, '::']}}\n") == {
            "port ip": ":: missing: it has 127.0.0.1"
        }
    # one question more shows that a port that does not answer yet is waited for
    assert problems(f"port:\n  tcp:{port}: {{ip: 127.0.0.1}}\n", patience=0.05) == {
        "port listening": "expected true, it is false",
        "port ip": "not checked",
    }


def test_commands_and_users() -> None:
    text = (
        "command:\n  echo hi; echo oh >&2; sleep 3 & exit 3: {exit-status: 3, stdout: hi,"
        " stderr: ['/^oh$/']}\n  greeting: {exec: echo hello, stdout: ['!bye']}\n"
        "user:\n  root: {uid: 0, gid: 0, groups: [root], home: /root}\n  nobodyhere: {exists: no}\n"
    )
    assert problems(text) == {}
    assert problems("command:\n  sleep 9: {timeout: 50, stdout: []}\n") == {
        "command exit-status": "it did not end in 0.05 s",
        "command stdout": "not checked",
    }
    assert problems("command:\n  echo sorry >&2; exit 4: {stdout: ''}\n") == {
        "command exit-status": "expected 0, it is 4: sorry"
    }
    assert problems("user:\n  root: {uid: 1, groups: wheels}\n") == {
        "user uid": "expected 1, it is 0",
        "user groups": "wheels missing: it has root",
    }


class Pages(http.server.BaseHTTPRequestHandler):
    """/ is a page, /old redirects to it, /slow is slow; what is posted comes back."""

    def do_GET(self) -> None:
        if self.path == "/old":
            self.send_response(301)
            self.send_header("Location", "/")
            self.end_headers()
            return
        self.send_response(200 if self.path == "/" else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"It works\n" + self.headers.get("X-Name", "").encode())

    def do_POST(self) -> None:
        self.send_response(201)
        self.end_headers()
        self.wfile.write(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, *_: object) -> None:
        pass


def test_web_servers() -> None:
    base = served(Pages)
    good = (
        f"http:\n  {base}/: {{body: [It works, fly], headers: ['Content-Type: text/html'],"
        " request-headers: ['X-Name: fly']}\n"
        f"  {base}/old: {{status: 301, no-follow-redirects: true}}\n"
        f"  {base}/../old: {{status: 404}}\n"
        f"  {base}/post: {{method: POST, request-body: data, status: 201, body: data}}\n"
    )
    assert problems(good) == {}
    assert problems(f"http:\n  {base}/old: {{body: ['!works']}}\n  {base}/gone:\n") == {
        "http body": "line 1 contains 'works'",
        "http status": "expected 200, it is 404",
    }
    assert problems("http:\n  http://127.0.0.1:1/: {body: [x]}\n") == {
        "http status": "no answer: Connection refused",
        "http body": "not checked",
    }


# ---------------------------------------------------------------- elsewhere, and what is shown


def test_a_sandbox_is_asked_by_one_program() -> None:
    commands: list[Sequence[str]] = []

    def run(
        argv: Sequence[str], *, input: str | None = None, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        commands.append(argv)
        return subprocess.run(argv, input=input, timeout=timeout, capture_output=True, text=True)

    text = "user:\n  root: {uid: 0}\nfile:\n  /no/<such>: {mode: '0644'}\n"
    outcomes = evaluation.evaluate(reading.of_text(text, "e.yaml"), run)
    assert [argv[0] for argv in commands] == [sys.executable]
    assert [(item["word"], item["ok"], item["line"]) for item in shown.data(outcomes)] == [
        ("exists", True, 2),
        ("uid", True, 2),
        ("exists", False, 4),
        ("mode", None, 4),
    ]
    assert [line for line, _ in shown.lines(outcomes)] == [
        "  failed  file /no/<such>: exists: expected true, it is false",
        "          at e.yaml:4:3",
        "Expectations: 2 hold, 1 failed, 1 not checked",
    ]
    assert ("  holds   user root: uid: 0", "") in shown.lines(outcomes, verbose=True)
    suite = ElementTree.fromstring("\n".join(junit.of_expectations(outcomes)))
    assert suite.attrib["name"] == "expectations" and suite.attrib["failures"] == "1"
    cases = {(case.get("classname"), case.get("name")): case for case in suite}
    failure = cases["file", "/no/<such>: exists"].find("failure")
    assert failure is not None and failure.get("message") == "expected true, it is false"
    assert cases["file", "/no/<such>: mode"].find("skipped") is not None
    assert len(cases["user", "root: uid"]) == 0


def test_a_sandbox_that_lost_its_python_is_an_error() -> None:
    def run(
        argv: Sequence[str], *, input: str | None = None, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(argv, 127, "", "sh: python: not found\n")

    with pytest.raises(RunnerError, match="could not be evaluated: sh: python: not found"):
        evaluation.evaluate(reading.of_text("user: {root: {uid: 0}}", "e.yaml"), run)


def test_nothing_is_begun_where_the_file_is_wrong(machine: Machine) -> None:
    path = machine.folder / "web.yaml"
    path.write_text("file:\n  /etc/motd:\n    mod: '0644'\n    exists: maybe\n")
    words = ("rehearse", "single", "test.nop", "name=a", "--expect", str(path))
    done = machine(*words, code=1)
    for line in (f"{path}:3:5", f"{path}:4:13", "did you mean mode?"):
        assert line in done.stderr
    assert done.stdout == ""
    suite = ElementTree.fromstring(machine(*words, "--out", "junit", code=1).stdout)
    assert [case.get("line") for case in suite] == ["3", "4"]
    machine(*words[:-1], str(machine.folder / "none.yaml"), code=1)
