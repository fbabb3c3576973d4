# SPDX-License-Identifier: Apache-2.0
"""What a pull costs: CPU of the machine and of the git server, and bytes, by file, ssh and https.

    python bench/pulls.py [SLS FILES] [PULLS] [TRANSPORT ...]

In a throw-away machine (root on a Debian), with a real sshd, and with git's own http-backend below
a small TLS server in Python, whose own share a web server in C would do for less; `static` is a
server of plain files, which knows nothing of git. For each transport: the first pull, one that
finds a commit of one file, and the mean of those that find nothing new; beside them a highstate of
the same tree without a pull, and git's ls-remote alone.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
HOME = Path("/root/pulls")
SITE = HOME / "site.git"
RUNNER = str(Path(sys.executable).parent / "runner")
PORTS = {"ssh": 2222, "https": 8443, "static": 8444}
PASSED = 1000  # beyond a server's port: that of the relay which counts bytes before it
FILE = (
    "{{%- set name = 'x{0}' %}}\n/root/pulls/out/{0}:\n  file.managed:\n    - contents: text {0}\n"
    "    - makedirs: true\n"
)


def main(files: str = "300", pulls: str = "10", *transports: str) -> None:
    """Start a machine, and measure in it."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests/support")]
    from debian import debian
    from debian_layer import layer_or_skip

    with debian(layer_or_skip("base")) as machine:
        line = [sys.executable, __file__, "inside", files, pulls, *transports]
        subprocess.run(machine.argv(line), check=True)


def inside(files: int, pulls: int, transports: list[str]) -> None:
    """Measure in the machine that this runs in."""
    prepare(files)
    print(f"{'':8}{'':16}{'client CPU s':>14}{'server CPU s':>14}{'KB sent':>9}{'KB got':>9}")
    urls = {
        "file": str(SITE),
        "ssh": f"ssh://root@localhost:{PORTS['ssh'] + PASSED}{SITE}",
        "https": f"https://localhost:{PORTS['https'] + PASSED}/site.git",
        "static": f"https://localhost:{PORTS['static'] + PASSED}/site.git",
    }
    for transport in transports or urls:
        url = urls[transport]
        folder = HOME / transport
        folder.mkdir()
        (folder / "runner.yaml").write_text(
            json.dumps({"id": "web1", "cachedir": str(folder), "tree": {"remote": url}})
        )
        pull = [RUNNER, "pull", "--config", f"{folder}/runner.yaml", "-q"]
        measured(transport, "first pull", pull, 1)
        commit(f"{files}-{transport}")
        measured(transport, "one commit", pull, 1)
        measured(transport, "nothing new", pull, pulls)
        measured(transport, "ls-remote", ["git", "ls-remote", "-q", url], pulls)
        alone = [RUNNER, "highstate", "--config", f"{folder}/runner.yaml", "-q"]
        measured("", "without a pull", alone, pulls)


def prepare(files: int) -> None:
    """The repository, keys, certificates and the servers' configuration."""
    HOME.mkdir()
    os.environ["HOME"] = "/root"
    run = "git config --global user.name me; git config --global user.email me@example.org"
    shell(f"{run}; git init -q -b main {HOME}/work; git init -q --bare -b main {SITE}")
    states = HOME / "work" / "states"
    states.mkdir()
    (states / "top.sls").write_text("base: {'*': [role1, role2]}\n")
    for number in range(files):
        (states / f"role{number}.sls").write_text(
            "".join(FILE.format(number * 10 + n) for n in range(10))
        )
    for number in range(50):  # some history
        commit(str(number % files))
    shell(f"git -C {SITE} repack -adq; git -C {SITE} update-server-info")
    shell("mkdir -p -m 700 /root/.ssh /run/sshd; ssh-keygen -A >/dev/null")
    shell("ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519")
    shell("cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys")
    shell(
        f"sed 's/^/[localhost]:{PORTS['ssh'] + PASSED} /' /etc/ssh/ssh_host_ed25519_key.pub"
        " >/root/.ssh/known_hosts"
    )
    shell(
        f"cd {HOME}; openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 9"
        " -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null;"
        " cat cert >>/etc/ssl/certs/ca-certificates.crt"
    )


def commit(name: str) -> None:
    """Change one file of the tree, and push it."""
    with open(HOME / "work" / "states" / f"role{name}.sls", "a", encoding="utf-8") as file:
        file.write(f"# {time.time()}\n")
    shell(f"cd {HOME}/work; git add -A; git commit -qm change; git push -q {SITE} main")
    shell(f"git -C {SITE} update-server-info")


def shell(line: str) -> None:
    subprocess.run(["sh", "-ec", line], check=True)


def measured(transport: str, what: str, line: list[str], times: int) -> None:
    """Run a line so often, and print its mean cost."""
    server = SERVERS.get(transport)
    relay = Relay(PORTS[transport]) if server else None
    process = subprocess.Popen(server()) if server else None
    if process:
        wait_for(PORTS[transport])
    used = sum(usage(subprocess.Popen(line, stdout=subprocess.DEVNULL)) for _ in range(times))
    served = stopped(process) - idle(transport) if process else 0.0
    sent, got = relay.close() if relay else (0, 0)
    numbers = f"{used / times:14.3f}{served / times:14.4f}"
    print(f"{transport:8}{what:16}{numbers}{sent / times / 1e3:9.1f}{got / times / 1e3:9.1f}")
    sys.stdout.flush()


def stopped(process: subprocess.Popen[bytes]) -> float:
    process.send_signal(signal.SIGTERM)
    return usage(process, None)


def idle(transport: str) -> float:
    """Return what a server's start and end cost."""
    process = subprocess.Popen(SERVERS[transport]())
    wait_for(PORTS[transport])
    return stopped(process)


def usage(process: subprocess.Popen[bytes], expected: int | None = 0) -> float:
    """CPU seconds of a process that ends, and of those that it waited for."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if expected is not None and process.returncode != expected:
        sys.exit(f"{process.args} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    sys.exit("a server does not start")


class Relay:
    """Passes connections on to a server, and counts what goes through."""

    def __init__(self, port: int) -> None:
        self._port, self._counts = port, [0, 0]
        self._listener = socket.create_server(("127.0.0.1", port + PASSED))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._port))
            for source, target, index in ((client, server, 0), (server, client, 1)):
                threading.Thread(
                    target=self._pass, args=(source, target, index), daemon=True
                ).start()

    def _pass(self, source: socket.socket, target: socket.socket, index: int) -> None:
        try:
            while data := source.recv(65536):
                self._counts[index] += len(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self) -> tuple[int, int]:
        """Bytes to the server, and from it."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        return self._counts[0], self._counts[1]


def sshd() -> list[str]:
    options = ["UsePAM=no", "PidFile=none", "PermitRootLogin=yes", "MaxStartups=100"]
    words = [word for option in options for word in ("-o", option)]
    return ["/usr/sbin/sshd", "-D", "-p", str(PORTS["ssh"]), *words]


def https() -> list[str]:
    return [sys.executable, __file__, "https"]


def static() -> list[str]:
    return [sys.executable, __file__, "static"]


SERVERS: dict[str, Callable[[], list[str]]] = {"ssh": sshd, "https": https, "static": static}


class Backend(BaseHTTPRequestHandler):
    """git's own http-backend, as CGI."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        length = int(self.headers.get("Content-Length") or 0)
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(HOME),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(length),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
        }
        done = subprocess.run(
            ["git", "http-backend"],
            input=self.rfile.read(length),
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        self.send_response(200)
        for line in head.decode().split("\r\n"):
            self.send_header(*line.split(": ", 1))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *words: object) -> None:
        pass


class Files(SimpleHTTPRequestHandler):
    """The repository's files as they are."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *words: Any) -> None:
        super().__init__(*words, directory=str(HOME))

    def log_message(self, *words: object) -> None:
        pass


HANDLERS = {"https": Backend, "static": Files}


def serve(transport: str) -> None:
    """Serve by https until SIGTERM."""
    server = ThreadingHTTPServer(("127.0.0.1", PORTS[transport]), HANDLERS[transport])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(HOME / "cert", HOME / "key")
    server.socket = context.wrap_socket(server.socket, True, False)  # each in its thread
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1:2] in (["https"], ["static"]):
        serve(sys.argv[1])
    elif sys.argv[1:2] == ["inside"]:
        inside(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
    else:
        main(*sys.argv[1:])
