# SPDX-License-Identifier: Apache-2.0
"""Signatures of plans, as OpenSSH makes and checks them: FILE.sig beside FILE.

What `ssh-keygen -Y sign -f KEY -n runner-plan FILE` writes is the same, so that whoever reviews a
plan can sign it on another machine. The namespace keeps a signature that was made for something
else (a git commit, a mail) from being one of a plan.
"""

from __future__ import annotations

import os
import subprocess
import tempfile

from runner.model.errors import RunnerError, UsageError, reason_of

NAMESPACE = "runner-plan"
SUFFIX = ".sig"
LARGEST = 64 * 1024  # bytes of a signature


def sign(data: bytes, key: str) -> bytes:
    """The signature of a plan by a key: the file of a private key, or of a public one whose private
    one an agent has. Raises RunnerError.
    """
    done = _ssh_keygen(["sign", "-f", os.path.abspath(key), "-n", NAMESPACE], data)
    if done.returncode or b"BEGIN SSH SIGNATURE" not in done.stdout:
        raise RunnerError(f"the plan cannot be signed with {key}: {_words(done)}", code="plan")
    return done.stdout


def check_key(key: str) -> None:
    """Raise UsageError for a key that cannot be read, before a long dry run."""
    if not os.path.isfile(key) or not os.access(key, os.R_OK):
        why = "it is no file that can be read" if os.path.exists(key) else "there is no such file"
        raise UsageError(f"--sign-key {key}: {why}", hint="ssh-keygen -t ed25519 -f KEY makes one")


def signer(data: bytes, signature: bytes, allowed_signers: bytes, signers_file: str) -> str:
    """Who signed a plan: one of an ALLOWED SIGNERS file (man ssh-keygen), of which these are the
    contents as they were checked. Raises RunnerError when none of them did.
    """
    with tempfile.TemporaryDirectory(prefix="runner-plan-") as folder:
        where = []
        for option, content in (("-f", allowed_signers), ("-s", signature)):
            path = os.path.join(folder, f"file{option}")
            with open(path, "xb") as file:
                file.write(content)
            where += [option, path]
        candidates = _ssh_keygen(["find-principals", *where], data)
        problem = _words(candidates)
        for name in candidates.stdout.decode(errors="replace").splitlines():
            words = ["verify", *where, "-n", NAMESPACE, "-I", name]
            done = _ssh_keygen(words, data)
            if done.returncode == 0:
                return name
            problem = _words(done)
    raise RunnerError(
        f"the plan has no valid signature of anybody in {signers_file}: {problem}",
        hint=f"ssh-keygen -Y sign -f KEY -n {NAMESPACE} FILE signs it",
        code="plan",
    )


def _ssh_keygen(words: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", "-Y", *words], input=data, capture_output=True, check=False, timeout=300
        )
    except FileNotFoundError:
        hint = "apt-get install openssh-client"
        raise RunnerError("ssh-keygen is not there, which signs plans", hint=hint) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunnerError(f"ssh-keygen: {reason_of(error)}") from None


def _words(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"ssh-keygen ended with {done.returncode}"
