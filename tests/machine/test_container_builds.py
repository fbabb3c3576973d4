# SPDX-License-Identifier: Apache-2.0
"""Podman builds containers by `RUN runner highstate --image`, in both ways that it runs a step."""

from __future__ import annotations

import pytest
from debian import Debian

LAYER = "containers"
PACKAGES = (
    "python3-minimal python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 zlib1g"
    " libssl3 libsqlite3-0 libffi8 liblzma5 libbz2-1.0 libexpat1 libuuid1 libgcc-s1"
)
# the image base: a shell and Debian's Python
BASE = rf"""
mkdir -p /base/usr/bin /base/usr/sbin /base/usr/lib /base/usr/lib64; cd /base
mkdir -m 1777 tmp; mkdir etc root proc dev sys run
for name in bin sbin lib lib64; do ln -s usr/$name $name; done
dpkg -L {PACKAGES} | grep -v /doc/ | sort -u | tar -C / --no-recursion -T - -cf - 2>/dev/null |
    tar -x --keep-directory-symlink
cp /bin/busybox usr/bin; for name in sh cat ls stat; do ln -s busybox usr/bin/$name; done
cp /etc/os-release etc
printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >etc/passwd
printf 'root:x:0:\nnogroup:x:65534:\n' >etc/group
mkdir /srv/base; tar -cf /srv/base/base.tar .
printf 'FROM scratch\nADD base.tar /\n' >/srv/base/Containerfile; podman build -q -t base /srv/base
runner init --containerfile /srv/web; cd /srv/web; runner bundle runner.tar
sed -i s:/tmp/runner-motd:/etc/motd: pillar/motd.sls
# the base has its Python already, and no apt
sed -i -e 's:docker.io/library/debian.*:localhost/base:' -e '/apt-get update/d' \
    -e 's/ --image .*/ --image/' -e '/apt-get clean/d' Containerfile
"""
TREE = """
/etc/made:
  file.managed: [contents: made]
/etc/resolv.conf:
  file.managed: [contents: nameserver 192.0.2.1]
name:
  network.system: [hostname: web, apply_hostname: True]
"""
STAGES = """FROM localhost/base AS first
COPY . /tree
ADD runner.tar /runner/
USER 65534
RUN /runner/runner sls more --config /tree/runner.yaml --id web --image || true
USER 0
RUN /runner/runner sls more --config /tree/runner.yaml --id web --image
FROM localhost/base
COPY --from=first /etc/made /etc/made
"""


@pytest.fixture
def podman(debian: Debian) -> Debian:
    debian.run(BASE)
    debian.write("/srv/web/states/more.sls", TREE)
    debian.write("/srv/web/Stages", STAGES)
    return debian


def build(machine: Debian, *words: str) -> str:
    done = machine.run("podman", "build", "--no-cache", "--tag", "web", *words, "/srv/web")
    return done.stdout + done.stderr


def seen(machine: Debian, line: str) -> str:
    return machine.read("podman", "run", "--rm", "--network", "none", "web", "sh", "-c", line)


def test_the_containerfile_that_init_writes(podman: Debian) -> None:
    said = build(podman, "--build-arg", "ID=web1", "--build-arg", "SOURCE_DATE_EPOCH=1700000000")
    assert "2 changed" in said and "warning" not in said
    assert seen(podman, "stat -c %Y /etc/motd; ls -d /mnt/tree /var/lib/runner || true") == (
        "1700000000"
    )


@pytest.mark.parametrize("isolation", ["oci", "chroot"])
def test_stages_users_and_what_is_mounted(podman: Debian, isolation: str) -> None:
    """A user who may not is told so; what goes to the builder's own files is told, too."""
    said = build(podman, "--isolation", isolation, "--file", "/srv/web/Stages")
    refused, _, done = said.partition("USER 0")
    assert refused.count("failed: Permission denied") == 3
    assert "failed" not in done and "3 changed" in done
    assert "The name is web at boot" in done
    assert "what was written to /etc/" in done
    warning = next(line for line in done.splitlines() if "what was written to" in line)
    assert "/etc/hostname" in warning and "/etc/resolv.conf" in warning
    assert "/etc/made" not in warning
    assert seen(podman, "cat /etc/made; ls -d /runner /tree 2>/dev/null || true") == "made"
