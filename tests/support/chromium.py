# SPDX-License-Identifier: Apache-2.0
"""A browser in a throw-away machine: Chromium, driven by its DevTools protocol over a pipe."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from debian import Debian
from starting import PATIENCE

START = (
    "exec chromium-headless-shell --no-sandbox --disable-gpu --remote-debugging-pipe"
    " 3<&0 4>&1 >/dev/null 2>&1 </dev/null"
)


class Chromium:
    """A browser that runs, at the other end of two pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin and process.stdout
        self._write, self._read = process.stdin, process.stdout.fileno()
        self._unread = b""
        self._numbers = itertools.count(1)

    def send(self, message: dict[str, Any]) -> int:
        """Send a call of the protocol; its number."""
        number = next(self._numbers)
        self._write.write(json.dumps({"id": number, **message}).encode() + b"\0")
        self._write.flush()
        return number

    def receive(self) -> dict[str, Any]:
        """Return the next answer, or event."""
        while b"\0" not in self._unread:
            assert select.select([self._read], [], [], PATIENCE)[0], "the browser does not answer"
            piece = os.read(self._read, 1 << 16)
            assert piece, "the browser has ended"
            self._unread += piece
        data, _, self._unread = self._unread.partition(b"\0")
        message: dict[str, Any] = json.loads(data)
        return message

    @contextmanager
    def browser(self) -> Iterator[Browser]:
        """A page that shares nothing with those before it."""
        browser = Browser(self)
        try:
            yield browser
        finally:
            browser.close()


class Browser:
    """One page of a browser, in a profile of its own.

    problems: what it complained of: errors of scripts, what the page's policy forbids. requests:
    the addresses that it asked for, without those that the policy forbids.
    """

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium
        self._session = ""
        self._events: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._asked: dict[str, str] = {}
        self._profile = self.call("Target.createBrowserContext")
        page = self.call("Target.createTarget", url="about:blank", **self._profile)
        attached = self.call("Target.attachToTarget", **page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one call of the protocol."""
        number = self._send(method, parameters)
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result

    def _send(self, method: str, parameters: dict[str, Any]) -> int:
        session = {"sessionId": self._session} if self._session else {}
        return self._chromium.send({"method": method, "params": parameters, **session})

    def _next(self) -> dict[str, Any]:
        message = self._chromium.receive()
        if message.get("sessionId") == self._session:  # not of a page before it
            self._note(message)
        return message

    def close(self) -> None:
        """Forget the page and its profile."""
        self._session = ""
        self.call("Target.disposeBrowserContext", **self._profile)

    def _note(self, event: dict[str, Any]) -> None:
        method, about = event.get("method"), event.get("params", {})
        if method == "Log.entryAdded":
            self.problems.append(about["entry"]["text"])
        elif method in ("Runtime.exceptionThrown", "Page.javascriptDialogOpening"):
            self.problems.append(json.dumps(about))
            if "Dialog" in method:
                self._send("Page.handleJavaScriptDialog", {"accept": True})
        elif method == "Network.requestWillBeSent":
            self._asked[about["requestId"]] = about["request"]["url"]
            self.requests.append(about["request"]["url"])
        elif method == "Network.loadingFailed" and about.get("blockedReason") == "csp":
            self.requests.remove(self._asked[about["requestId"]])
        elif method:
            self._events.append(event)

    def open(self, address: str) -> None:
        """Show a page, and wait until it is there."""
        self._events.clear()
        self.call("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._next()

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    def size(self, width: int, height: int, phone: bool = False) -> None:
        """Give the window a size, as a desk has it or a phone."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )

    def key(self, key: str, code: str) -> None:
        """Press a key, as `KeyboardEvent` names it, and let it go."""
        numbers = {"Enter": 13, "Tab": 9}
        more: dict[str, Any] = {"text": {"Enter": "\r"}.get(key, key)} if key != "Tab" else {}
        if key in numbers:
            more["windowsVirtualKeyCode"] = numbers[key]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, **more)

    def dark(self, on: bool) -> None:
        features = [{"name": "prefers-color-scheme", "value": "dark" if on else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def scripts(self, on: bool) -> None:
        """Whether pages may run scripts; `value` still may."""
        self.call("Emulation.setScriptExecutionDisabled", value=not on)

    def screenshot(self, whole: bool = False) -> bytes:
        """A PNG of the window, or of the whole page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        return base64.b64decode(shot["data"])


@contextmanager
def chromium(machine: Debian) -> Iterator[Chromium]:
    """Start Chromium in a machine of the layer `browser`."""
    process = subprocess.Popen(
        machine.argv(["sh", "-c", START]), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        yield Chromium(process)
    finally:
        process.kill()
        process.communicate()
