# SPDX-License-Identifier: Apache-2.0
"""An archive of Debian packages of a test's own, for a throw-away machine."""

from __future__ import annotations

from collections.abc import Mapping

FOLDER = "/srv/archive"
# the .deb files of the folder, as what apt installs from
INDEX = f"""
set -e
cd {FOLDER}
for f in *.deb; do
    dpkg-deb -f $f
    printf 'Filename: ./%s\\nSize: %s\\n' $f $(stat -c %s $f)
    printf 'SHA256: %s\\n\\n' $(sha256sum <$f | cut -d' ' -f1)
done >Packages
echo 'deb [trusted=yes] file:{FOLDER} ./' >/etc/apt/sources.list.d/own.list
apt-get -q update
"""


def package(name: str, version: str = "1", files: Mapping[str, str] = {}) -> str:
    """The shell script that makes a package. files: by their paths, and dpkg's scripts by theirs
    (DEBIAN/postinst).
    """
    folder = f"/srv/packages/{name}-{version}"
    control = f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: me\n"
    texts = {"DEBIAN/control": f"{control}Description: {name}\n"}
    texts |= files
    lines = ["set -e", f"mkdir -p {FOLDER}"]
    for path, text in texts.items():
        place = f"{folder}/{path}"
        lines += [f"mkdir -p $(dirname {place})", f"cat >{place} <<'END'\n{text.rstrip()}\nEND"]
    scripts = [f"{folder}/{path}" for path, text in texts.items() if text.startswith("#!")]
    lines += [f"chmod 755 {' '.join(scripts)}"] if scripts else []
    return "\n".join([*lines, f"dpkg-deb -b {folder} {FOLDER} >/dev/null\n"])


# greeting 2.0 is in an archive of security updates, greeting 3.0 is elsewhere
SECURITY = r"""
archive=/usr/local/archive; suite=/usr/local/safe/dists/stable-security/main/binary-all
mkdir -p $suite /tmp/three; cd /usr/local/safe
cp $archive/greeting_2.0_all.deb .; dpkg-deb -R greeting_2.0_all.deb /tmp/three
sed -i 's/^Version:.*/Version: 3.0/' /tmp/three/DEBIAN/control
dpkg-deb -b /tmp/three $archive/greeting_3.0_all.deb >/dev/null
listed() { # the entry of a package file in a list
    dpkg-deb -f $1; printf 'Filename: %s\nSize: %s\n' $1 $(stat -c %s $1)
    printf 'SHA256: %s\n\n' $(sha256sum <$1 | cut -d' ' -f1)
}
listed greeting_2.0_all.deb >$suite/Packages
cd $archive; (echo; listed ./greeting_3.0_all.deb) | gzip >>Packages.gz
cp -r /usr/local/safe/dists/stable-security/main/binary-all \
    /usr/local/safe/dists/stable-security/main/binary-$(dpkg --print-architecture)
echo 'deb [trusted=yes] file:/usr/local/safe stable-security main' >>/etc/apt/sources.list
apt-get -q update; """
