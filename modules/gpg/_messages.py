# SPDX-License-Identifier: Apache-2.0
"""Signatures and messages, with gpg."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import Any

from modules import cmd, file
from modules._machine.surroundings import identity
from modules._texts.lines import plain_name
from modules.gpg._run import Keyring, passphrase, reason, reports, text_or_file
from runner.api import CommandFailed, StateFailed, here, refuse_unforeseen


def signers(
    path: str, signature: str | None = None, keyring: str | None = None, home: str | None = None
) -> tuple[list[str], str]:
    """The fingerprints of those who signed a file (primary and signing key), and what gpg says
    where it is not good.

    signature: the signature's file; without it the file carries its own. keyring, home: where the
    keys are. Raises CommandFailed when there is no gpg.
    """
    argv = [*Keyring(None, home, keyring).command(), "--status-fd", "1"]
    done = cmd.probe([*argv, "--verify", "--", *([signature] if signature else []), path])
    lines = [line.removeprefix("[GNUPG:] ").split() for line in done.stdout.splitlines()]
    has_bad = any(line[:1] in (["BADSIG"], ["EXPKEYSIG"], ["REVKEYSIG"]) for line in lines)
    signer_keys = [{line[1], line[-1]} for line in lines if line[:1] == ["VALIDSIG"]]
    messages = done.stderr.splitlines()
    return [] if has_bad else sorted(set().union(*signer_keys)), messages[
        -1
    ] if messages else "gpg says nothing"


def decrypt(
    user: str | None = None,
    text: str | None = None,
    filename: str | None = None,
    output: str | None = None,
    use_passphrase: bool = False,
    gnupghome: str | None = None,
    bare: bool = False,
    keyring: str | None = None,
) -> Any:
    """A PGP message in clear: {res, comment}, or with `bare` the text alone (False when gpg
    cannot). Raises StateFailed without a text and a filename.

    text, filename: the message, one of them. output: the file that it is written to instead, 0600.
    use_passphrase: the pillar's gpg_passphrase opens the key. user: whose keys are used (of salt
    those in /etc/salt/gpgkeys), else those of who runs; gnupghome, keyring: the directory, the file
    of the keys.
    """
    if (text is None) == (filename is None):
        raise StateFailed("gpg.decrypt takes a text or a filename")
    message = str(text).encode() if filename is None else file.read_bytes(filename)
    keys = Keyring(user, gnupghome, keyring)
    with passphrase(use_passphrase, user) as words:
        argv = [*keys.command(), "--quiet", *(words if use_passphrase else [])]
        argv += ["--status-fd", "2", "--decrypt"]
        other = keys.other_user()
        env = {"PATH": os.environ.get("PATH", os.defpath)} if other else dict(os.environ)
        who = identity(other, None, env)
        refuse_unforeseen(argv[0])
        done = subprocess.run(argv, input=message, capture_output=True, check=False, env=env, **who)
    messages = done.stderr.decode("utf-8", "replace").splitlines()
    if done.returncode and "[GNUPG:] DECRYPTION_OKAY" not in messages:
        why = [line for line in messages if not line.startswith("[GNUPG:]")]
        comment = why[-1] if why else "gpg says nothing"
        return False if bare else {"res": False, "comment": comment}
    if output:
        file.write(output, done.stdout, mode="0600")
        comment = f"Decrypted data has been written to {output}"
        return comment if bare else {"res": True, "comment": comment}
    plain = done.stdout.decode("utf-8", "replace")
    if not here.called_directly:
        here.secret(plain.strip())
    return plain if bare else {"res": True, "comment": plain}


def encrypt(
    user: str | None = None,
    recipients: str | Sequence[str] | None = None,
    text: str | None = None,
    filename: str | None = None,
    output: str | None = None,
    sign: bool | str | None = None,
    use_passphrase: bool = False,
    always_trust: bool = False,
    gnupghome: str | None = None,
    bare: bool = False,
    keyring: str | None = None,
) -> Any:
    """A text or a file as a PGP message: {res, comment}, or with `bare` the message alone (False
    when gpg cannot).

    recipients: whose keys can open it, a list or with commas. text, filename: one of them. output:
    the file that it is written to instead. sign: true, or a key that signs it, with the pillar's
    gpg_passphrase where `use_passphrase` says so. always_trust: also for keys that nobody trusts.
    user, gnupghome, keyring: where the keys are.

    {{ salt['gpg.encrypt'](recipients='ada@example.org', text='hello', bare=True) }}
    """
    message = text_or_file(text, filename)
    parts = recipients.split(",") if isinstance(recipients, str) else recipients or ()
    options = [f"--recipient={str(part).strip()}" for part in parts]
    options += ["--trust-model", "always"] if always_trust else []
    options += ["--sign"] if sign else []
    options += [f"--local-user={sign}"] if isinstance(sign, str) else []
    with passphrase(use_passphrase, user) as words:
        secrecy = words if use_passphrase else []
        done = Keyring(user, gnupghome, keyring).run(
            *secrecy, "--armor", *options, "--encrypt", stdin=message
        )
    if done.retcode:
        return False if bare else {"res": False, "comment": reason(done)}
    encrypted = f"{done.stdout}\n"
    if output:
        file.write(output, encrypted.encode())
        comment = f"Encrypted data has been written to {output}"
        return comment if bare else {"res": True, "comment": comment}
    return encrypted if bare else {"res": True, "comment": encrypted}


def sign(
    user: str | None = None,
    keyid: str | None = None,
    text: str | None = None,
    filename: str | None = None,
    output: str | None = None,
    use_passphrase: bool = False,
    gnupghome: str | None = None,
    keyring: str | None = None,
) -> str:
    """A text or a file with a signature around it. Raises CommandFailed when gpg cannot sign.

    keyid: the key (default: gpg's own choice), with the pillar's gpg_passphrase where
    `use_passphrase` says so. text, filename: one of them. output: a file that it is written to,
    too. user, gnupghome, keyring: where the keys are.

    {{ salt['gpg.sign'](text='hello', keyid='3FAD9F1E') }}
    """
    message = text_or_file(text, filename)
    options = [f"--local-user={keyid}"] if keyid else []
    with passphrase(use_passphrase, user) as words:
        done = Keyring(user, gnupghome, keyring).run(
            *words, "--armor", *options, "--clear-sign", stdin=message
        )
    if done.retcode:
        raise CommandFailed(f"gpg cannot sign: {reason(done)}")
    signed = f"{done.stdout}\n"
    if output:
        file.write(output, signed.encode())
    return signed


_TRUST = {
    "TRUST_UNDEFINED": "Undefined",
    "TRUST_NEVER": "Never",
    "TRUST_MARGINAL": "Marginal",
    "TRUST_FULLY": "Fully",
    "TRUST_ULTIMATE": "Ultimate",
}


def verify(
    text: str | None = None,
    user: str | None = None,
    filename: str | None = None,
    gnupghome: str | None = None,
    signature: str | None = None,
    trustmodel: str | None = None,
    signed_by_any: str | Sequence[str] | None = None,
    signed_by_all: str | Sequence[str] | None = None,
    keyring: str | None = None,
) -> dict[str, Any]:
    """Return whether a signature is good: {res, message}, and of a good one username, key_id and
    trust_level.

    text, filename: what was signed, one of them. signature: the file of a signature that lies
    apart. trustmodel: of gpg (always, tofu, ...). signed_by_any, signed_by_all: fingerprints of
    keys one or all of which have to have signed it. user, gnupghome, keyring: where the keys are.

    {{ salt['gpg.verify'](filename='/srv/app.tar', signature='/srv/app.tar.asc').res }}
    """
    model = ["--trust-model", plain_name(trustmodel, "trustmodel")] if trustmodel else []
    keys = Keyring(user, gnupghome, keyring)
    if filename:
        files = [signature, filename] if signature else [filename]
        done = keys.run(*model, "--verify", "--", *files)
    else:
        apart = [signature, "-"] if signature else []
        done = keys.run(*model, "--verify", "--", *apart, stdin=text_or_file(text, filename))
    outcome = reports(done)
    by = {word for words in outcome if words[0] == "VALIDSIG" for word in (words[1], words[-1])}
    any_of, all_of = _fingerprints(signed_by_any), _fingerprints(signed_by_all)
    if done.retcode and not (by and (any_of or all_of)):
        return {"res": False, "message": "The signature could not be verified."}
    if (any_of and not any_of & by) or not all_of <= by:
        wanted = ", ".join(sorted(any_of | all_of))
        return {
            "res": False,
            "message": f"It is not signed by the keys that are asked for: {wanted}",
        }
    good = next((words for words in outcome if words[0] == "GOODSIG"), ["", "", ""])
    trust = next((_TRUST[words[0]] for words in outcome if words[0] in _TRUST), "Undefined")
    return {
        "res": True,
        "username": " ".join(good[2:]),
        "key_id": good[1],
        "trust_level": trust,
        "message": "The signature is verified.",
    }


def _fingerprints(given: str | Sequence[str] | None) -> set[str]:
    parts = given.split(",") if isinstance(given, str) else given or ()
    return {str(part).replace(" ", "").upper() for part in parts}
