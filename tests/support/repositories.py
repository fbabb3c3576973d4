# SPDX-License-Identifier: Apache-2.0
"""Git repositories for tests: made with the program git, without anybody's configuration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from needing import require

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
}


class Repository:
    """A work tree. Its URL is that of its folder."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.url = f"file://{folder}"
        require("git")
        subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True, env=ENVIRONMENT)
        for key, value in settings.items():
            self.git("config", key.replace("__", "."), value)

    def git(self, *words: str, **variables: str) -> str:
        return subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env={**ENVIRONMENT, **variables},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(self, files: Mapping[str, str] = {}, *options: str, message: str = "change") -> str:
        """Write files, commit all, and return the commit; options: of `git commit`."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", message, *options)
        return self.git("rev-parse", "HEAD")


class SshSigner:
    """One who signs with an ssh key. options: of a repository. signers: the line for a file of
    allowed signers.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.key = folder / f"{name}-key"
        require("ssh-keygen")
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(self.key)]
        subprocess.run(words, check=True)
        self.line = f"{name}@example.org {self.key.with_suffix('.pub').read_text()}"
        self.variables = {
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "gpg.format",
            "GIT_CONFIG_VALUE_0": "ssh",
            "GIT_CONFIG_KEY_1": "user.signingKey",
            "GIT_CONFIG_VALUE_1": str(self.key),
        }


class GpgSigner:
    """One who signs with a gpg key, whose public part is exported to `keys`."""

    def __init__(self, folder: Path, name: str) -> None:
        home = folder / f"{name}-gpg"
        home.mkdir(mode=0o700)
        self.keys = folder / f"{name}.gpg"
        require("gpg")
        gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet", "--pinentry-mode", "loopback"]
        words = ["--passphrase", "", "--quick-generate-key", f"{name}@example.org", "ed25519"]
        subprocess.run([*gpg, *words, "sign", "never"], check=True, capture_output=True)
        self.keys.write_bytes(
            subprocess.run([*gpg, "--export"], check=True, capture_output=True).stdout
        )
        self.variables = {
            "GNUPGHOME": str(home),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "user.signingKey",
            "GIT_CONFIG_VALUE_0": f"{name}@example.org",
        }
