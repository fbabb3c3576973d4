# SPDX-License-Identifier: Apache-2.0
"""How file.decode, cached, not_cached, patch, pruned and signatures of file.managed are tried."""

from __future__ import annotations

import base64
import functools
import hashlib
import http.server
import subprocess
from pathlib import Path
from typing import Any

from laws import Scenario, in_folder, scenario
from needing import require
from serving import served

TEXT = "alpha\nbeta\ngamma\n"
PATCH = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n alpha\n-{old}\n+BETA\n gamma\n"
SEVERAL = PATCH.replace("{old}", "beta") + "--- a/sub/g\n+++ b/sub/g\n@@ -1 +1 @@\n-x\n+y\n"
DIGEST = hashlib.sha256(b"hello\n").hexdigest()


class _Answers(http.server.BaseHTTPRequestHandler):
    """/missing is not there; all else is hello, with an ETag."""

    def do_GET(self) -> None:
        code = (
            404
            if self.path == "/missing"
            else 304
            if self.headers.get("If-None-Match") == "one"
            else 200
        )
        self.send_response(code)
        self.send_header("ETag", "one")
        self.end_headers()
        if code == 200:
            self.wfile.write(
                f"{DIGEST}  file\n".encode() if self.path.endswith(".sha256") else b"hello\n"
            )

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def tree(folder: Path) -> None:
    for name in ("d/sub", "empty/inner", "full/inner", "mixed/a", "mixed/b"):
        (folder / name).mkdir(parents=True)
    (folder / "mixed/b/x").write_text("x")
    (folder / "full/x").write_text("x")
    for name in ("f", "d/f"):
        (folder / name).write_text(TEXT)
    (folder / "d/sub/g").write_text("x\n")
    (folder / "one.patch").write_text(PATCH.replace("{old}", "beta"))
    (folder / "bad.patch").write_text(PATCH.replace("{old}", "nope"))
    (folder / "jinja.patch").write_text(PATCH.replace("{old}", "{{ old }}"))
    (folder / "several.patch").write_text(SEVERAL)
    (folder / "garbage.patch").write_text("this is not a patch\n")
    (folder / "patched").write_text(TEXT.replace("beta", "BETA"))


on = in_folder("file.", tree)


def patch(source: str = "one", name: str = "{tmp}/f", **args: Any) -> Scenario:
    return on("patch", name=name, source=f"{{tmp}}/{source}.patch", **args)


@functools.cache
def keys() -> Path:
    """The home folder of a gpg key that is made here, with what it signed."""
    import atexit
    import shutil
    import tempfile

    require("gpg", "openssl")
    home = Path(tempfile.mkdtemp(prefix="laws-gpg-"))
    home.chmod(0o700)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet", "--passphrase", ""]
    subprocess.run(
        [*gpg, "--quick-gen-key", "zoe@example.com", "ed25519"], check=True, capture_output=True
    )
    (home / "words").write_text("signed\n")
    for how in ("--detach-sign", "--clear-sign"):
        subprocess.run([*gpg, how, str(home / "words")], check=True, capture_output=True)
    (home / "sums").write_text(f"{hashlib.sha256(b'signed' + bytes([10])).hexdigest()}  words\n")
    subprocess.run([*gpg, "--detach-sign", str(home / "sums")], check=True, capture_output=True)
    subprocess.run(
        [*gpg, "--export", "-o", str(home / "ring.gpg")], check=True, capture_output=True
    )
    for name, options in ASYMMETRIC.items():
        key, public, signature = (
            str(home / f"{name}.{end}") for end in ("key", "pem", "signature")
        )
        for words in (
            ["genpkey", *options, "-out", key],
            ["pkey", "-in", key, "-pubout", "-out", public],
            [
                "pkeyutl",
                "-sign",
                "-inkey",
                key,
                "-rawin",
                "-in",
                str(home / "words"),
                "-out",
                signature,
                *HOW[name],
            ],
        ):
            subprocess.run(["openssl", *words], check=True, capture_output=True)
        (home / f"{name}.base64").write_bytes(base64.encodebytes(Path(signature).read_bytes()))
    subprocess.run(
        ["gpgconf", "--homedir", str(home), "--kill", "all"], check=False, capture_output=True
    )
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


ASYMMETRIC = {
    "rsa": ["-algorithm", "RSA"],
    "ec": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    "ed": ["-algorithm", "ED25519"],
}
PSS = ("-digest", "sha256", "-pkeyopt", "rsa_padding_mode:pss", "-pkeyopt", "rsa_pss_saltlen:max")
HOW = {"rsa": PSS, "ec": ("-digest", "sha256"), "ed": ()}


def signing(folder: Path) -> None:
    home = keys()
    for name in ("words", "words.sig", "words.asc", "sums", "sums.sig"):
        (folder / name).write_bytes((home / name).read_bytes())
    (folder / "other").write_text("not signed\n")
    (folder / "home").symlink_to(home)


def signed(source: str, **given: Any) -> Scenario:
    function = "file.managed name={tmp}/out gnupghome={tmp}/home"
    return scenario(function, signing, source=f"{{tmp}}/{source}", **given)


BY_KEY: dict[str, Any] = {"sig_backend": "asymmetric"}
BAD: dict[str, Any] = {**BY_KEY, "fails": "signature could not be verified"}
TWO = ["{tmp}/home/rsa.signature", "{tmp}/home/ec.base64"]
NOBODY = "0" * 40
SCENARIOS = [
    on("decode name={tmp}/new encoded_data=aGVsbG8= encoding_type=base64 checksum=sha256"),
    on("decode name={tmp}/f", encoded_data="aGVs\nbG8=\n"),
    on("decode name={tmp}/f encoded_data=YWxwaGEKYmV0YQpnYW1tYQo=", plans=False),
    on("decode name={tmp}/f encoded_data=!!!", fails="this is not base64"),
    on("decode name={tmp}/f", fails="Specify either the 'encoded_data' or 'contents_pillar'"),
    on("decode name={tmp}/f encoded_data=eA== contents_pillar=x", fails="Specify only one"),
    on("decode name={tmp}/f contents_pillar=nope", fails="Pillar data not found."),
    on("decode name={tmp}/no/f encoded_data=eA==", fails="Parent directory not present"),
    on("decode name={tmp}/d encoded_data=eA==", fails="not a regular file"),
    on("cached name={tmp}/f", plans=False),
    on(
        "cached name={tmp}/f saltenv=base",
        plans=False,
        source_hash=hashlib.md5(TEXT.encode()).hexdigest(),
    ),
    on("cached name={tmp}/f", source_hash="0" * 32, fails="does not match the specified hash"),
    on("cached name={tmp}/nope", fails="is not present on the minion"),
    on("cached name=salt://nope", fails="it is not in the file roots"),
    on("cached name=nope", fails="Only URLs or local file paths"),
    on(
        "cached",
        name=served(_Answers) + "/f",
        fails="please set source_hash or set skip_verify or use_etag to True",
    ),
    on("cached skip_verify=true", name=served(_Answers) + "/missing", fails="HTTP 404"),
    on(
        "cached",
        name=served(_Answers) + "/f",
        source_hash="0" * 64,
        fails="does not match the specified hash",
    ),
    Scenario(
        "file.cached", {"name": served(_Answers) + "/f", "source_hash": DIGEST}, converges=False
    ),
    Scenario("file.cached use_etag=true", {"name": served(_Answers) + "/f"}, converges=False),
    Scenario(
        "file.cached source_hash_name=file",
        {"name": served(_Answers) + "/f", "source_hash": served(_Answers) + "/f.sha256"},
        converges=False,
    ),
    *(
        Scenario(
            "file.cached skip_verify=true",
            {"name": f"{served(_Answers)}/f?{more}", "saltenv": saltenv},
            converges=False,
        )
        for saltenv, more in (("x" * 300, ""), ("..", "ü" * 300), ("a\0b", ""))
    ),
    on("not_cached saltenv=base", plans=False, name=served(_Answers) + "/f"),
    on("not_cached name={tmp}/f", plans=False),
    on("pruned name={tmp}/empty/inner"),
    on("pruned name={tmp}/empty recurse=true"),
    on("pruned name={tmp}/mixed recurse=true ignore_errors=true"),
    on("pruned name={tmp}/mixed ignore_errors=true"),
    on("pruned name={tmp}/mixed recurse=true", fails="Failed to remove directory"),
    on("pruned name={tmp}/full", fails="Failed to remove directory"),
    on("pruned name={tmp}/empty recurse=true older_than=1", plans=False),
    on("pruned name={tmp}/empty recurse=true older_than=0"),
    on("pruned name={tmp}/nope", plans=False),
    patch(),
    patch(plans=False, name="{tmp}/patched"),
    patch(plans=False, options="-R"),
    patch(name="{tmp}/patched", options="--reverse --fuzz=1"),
    patch("several", name="{tmp}/d", strip=1),
    patch(
        "jinja", template="jinja", context={"old": "beta"}, defaults={"old": "x"}, skip_verify=True
    ),
    patch(
        source_hash=hashlib.md5(PATCH.replace("{old}", "beta").encode()).hexdigest(),
        source_hash_name="x",
    ),
    patch(source_hash="0" * 32, fails="does not match actual checksum"),
    patch(saltenv="base", reject_file="{tmp}/rejects"),
    patch(
        "bad", reject_file="{tmp}/rejects", fails="Patch would not apply cleanly, no changes made."
    ),
    patch("bad", fails="Run state again using the reject_file option"),
    patch("garbage", fails="Only garbage was found in the patch input."),
    patch("nope", fails="does not exist"),
    patch(name="{tmp}/nope", fails="does not exist"),
    patch(reject_file="{tmp}/no/rejects", fails="Parent directory for reject_file"),
    patch(options="-o /x", fails="The following CLI options are not allowed: -o"),
    patch(options="-px", fails="Consider using the 'strip' option"),
    *[patch(options=written) for written in ("-p1", "--strip 1", "--strip=1")],
    on(
        "patch name={tmp}/f source=salt://no saltenv=base",
        fails="file salt://no not found in saltenv",
    ),
    on("patch name={tmp}/f", fails="A patch (source) is required"),
    signed("words", signature="{tmp}/words.sig"),
    signed("words.asc", signature=True, sig_backend="gpg"),
    signed("words", signature="{tmp}/words.sig", keyring="{tmp}/home/ring.gpg"),
    signed("other", signature="{tmp}/words.sig", fails="could not be verified"),
    signed("words", signature="{tmp}/words.sig", signed_by_any=[NOBODY], fails="as it should be"),
    signed("words", signature="{tmp}/words.sig", signed_by_all=[NOBODY], fails="as it should be"),
    signed(
        "words", signature="{tmp}/words.sig", sig_backend="x", fails="none of gpg and asymmetric"
    ),
    signed("words", signature=["{tmp}/words.sig", "{tmp}/words.sig"]),
    signed(
        "words",
        signature=["{tmp}/words.sig", "{tmp}/sums.sig"],
        fails="signature could not be verified",
    ),
    *(
        signed(
            "words",
            signature=f"{{tmp}}/home/{name}.{end}",
            signed_by_any=[f"{{tmp}}/home/{name}.pem"],
            **BY_KEY,
        )
        for name in ASYMMETRIC
        for end in ("signature", "base64")
    ),
    *(
        signed(
            "other",
            signature=[f"{{tmp}}/home/{name}.base64"],
            signed_by_any=[f"{{tmp}}/home/{name}.pem"],
            **BAD,
        )
        for name in ASYMMETRIC
    ),
    signed(
        "words", signature=TWO, signed_by_all=["{tmp}/home/rsa.pem", "{tmp}/home/ec.pem"], **BY_KEY
    ),
    signed(
        "words", signature=TWO, signed_by_all=["{tmp}/home/rsa.pem", "{tmp}/home/ed.pem"], **BAD
    ),
    signed(
        "words",
        signature=True,
        signed_by_any=["{tmp}/home/rsa.pem"],
        fails="carries no signature",
        **BY_KEY,
    ),
    signed("words", signature=TWO, fails="Missing pubkey", **BY_KEY),
    signed("words", signature=TWO, signed_by_any=["{tmp}/words"], fails="no public key", **BY_KEY),
    signed(
        "words",
        signature="/no base64",
        signed_by_any=["{tmp}/home/rsa.pem"],
        fails="neither a file",
        **BY_KEY,
    ),
    signed("words", source_hash="{tmp}/sums", source_hash_sig="{tmp}/sums.sig"),
    signed(
        "words",
        source_hash="{tmp}/sums",
        source_hash_sig="{tmp}/words.sig",
        fails="could not be verified",
    ),
]
