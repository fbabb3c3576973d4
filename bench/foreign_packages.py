# SPDX-License-Identifier: Apache-2.0
"""Debian's packages for dnf, zypper and pacman: what formulas install there in bench/foresight.py.

The registries of these package managers are out of reach for machines without a network, so that
the packages of a Debian are packed anew: the same files, configuration files and dependencies, with
their scripts, but for those that ask debconf.
"""

from __future__ import annotations

_ALL = r"""
set +f; mkdir -p /tmp/anew/scripts
cd /usr/local/archive
new() { dpkg-deb -f $1 Package; }
for deb in *.deb; do dpkg -s $(new $deb) >/dev/null 2>&1 || echo $(new $deb); done >/tmp/anew/new
bare() { tr ',' '\n' | sed 's/|.*//; s/(.*//; s/:any//; s/ //g' | sort -u; }
for deb in *.deb; do
    name=$(new $deb)
    grep -qx -- "$name" /tmp/anew/new && ! test -e /tmp/anew/done-$name || continue
    : >/tmp/anew/done-$name
    root=/tmp/anew/root; rm -rf $root /tmp/anew/DEBIAN; dpkg-deb -x $deb $root
    dpkg-deb -e $deb /tmp/anew/DEBIAN
    version=$(dpkg-deb -f $deb Version | sed 's/^[0-9]*://; s/-.*//' | tr -c 'A-Za-z0-9.\n' '.')
    needs=$(printf '%s,%s\n' "$(dpkg-deb -f $deb Depends)" "$(dpkg-deb -f $deb Pre-Depends)" |
        bare | grep -Fxf /tmp/anew/new || :)
    provides=$(dpkg-deb -f $deb Provides | bare)
    kept=$(cat /tmp/anew/DEBIAN/conffiles 2>/dev/null | grep '^/' || :)
    rm -f /tmp/anew/scripts/*
    for kind in preinst postinst prerm postrm; do
        text=/tmp/anew/DEBIAN/$kind
        test -e $text && head -n1 $text | grep -Eq 'bin/(ba|da)?sh' || continue
        grep -Eq 'debconf|db_' $text && continue
        case $kind in
            preinst) words=install ;; postinst) words='configure ""' ;; *) words=remove ;;
        esac
        { echo "export DPKG_MAINTSCRIPT_PACKAGE=$name DPKG_MAINTSCRIPT_NAME=$kind"
          echo "set -- $words"; cat $text; } >/tmp/anew/scripts/$kind
    done
    pack
done
"""
_RPM = r"""
pack() {
    spec=/tmp/anew/$name.spec
    { printf 'Name: %s\nVersion: %s\nRelease: 1\nSummary: x\nLicense: x\n' $name $version
      printf 'BuildArch: noarch\nAutoReqProv: no\nProvides: /bin/sh\n'
      for each in $needs; do echo "Requires: $each"; done
      for each in $provides; do echo "Provides: $each"; done
      echo '%description'; echo x
      for pair in preinst:pre postinst:post prerm:preun postrm:postun; do
          text=/tmp/anew/scripts/${pair%:*}
          test -e $text && { echo "%${pair#*:}"; sed 's/%/%%/g' $text; }
      done
      echo '%files'
      cd $root; find . -mindepth 1 | sed 's/^[.]//' | while read -r path; do
          if test -d "$root$path" -a ! -h "$root$path"; then
              test -d "$path" || echo "%dir \"$path\""
          elif printf '%s\n' "$kept" | grep -Fqx -- "$path"; then
              echo "%config(noreplace) \"$path\""
          else
              echo "\"$path\""
          fi
      done; cd /usr/local/archive
    } >$spec
    rpmbuild -bb --buildroot $root --noprep --nocheck --noclean -D '_rpmdir /usr/local/rpms' \
        -D '_topdir /tmp/anew/build' -D '__os_install_post %{nil}' -D 'debug_package %{nil}' \
        -D '_build_id_links none' -D '_binaries_in_noarch_packages_terminate_build 0' \
        -D '__spec_install_pre %{___build_pre}' -D '_binary_payload w1.gzdio' \
        -D '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.noarch.rpm' \
        $spec >/tmp/anew/log 2>&1 || { echo "$name"; tail -n3 /tmp/anew/log; } >&2
}
"""
_PACMAN = r"""
chown -R root /usr/local/pacman
pack() {
    for each in bin lib sbin; do # links here, which pacman takes for conflicts
        test -d $root/$each || continue
        mkdir -p $root/usr; cp -a $root/$each $root/usr; rm -r $root/$each
    done
    { printf 'pkgname = %s\npkgver = %s-1\narch = any\nsize = 1\n' $name $version
      for each in $needs; do echo "depend = $each"; done
      for each in $provides; do echo "provides = $each"; done
      for each in $kept; do echo "backup = ${each#/}"; done
    } >$root/.PKGINFO
    for pair in preinst:pre_install postinst:post_install prerm:pre_remove postrm:post_remove; do
        text=/tmp/anew/scripts/${pair%:*}
        test -e $text && { echo "${pair#*:}() { ("; cat $text; echo; echo ') }'; }
    done >$root/.INSTALL || :
    test -s $root/.INSTALL || rm $root/.INSTALL
    (cd $root; tar -c --format=pax .PKGINFO $(ls -A | grep -v .PKGINFO) |
        zstd -q -1 -f -o /usr/local/pacman/$name-$version-1-any.pkg.tar.zst)
}
"""
_LISTS = {
    "dnf": "createrepo_c -q /usr/local/rpms; dnf -q --refresh makecache",
    "zypper": "createrepo_c -q /usr/local/rpms; zypper -q -n refresh",
    "pacman": (
        "repo-add -q /usr/local/pacman/testing.db.tar.gz /usr/local/pacman/*.pkg.tar.zst"
        " >/dev/null; pacman -Sy"
    ),
}


def packed_anew(manager: str) -> str:
    """Return the shell script that lets a package manager install what apt has at hand."""
    configured = (
        f"mkdir -p /etc/runner; echo 'providers: {{pkg: {manager}}}' >/etc/runner/runner.yaml"
    )
    how = _PACMAN if manager == "pacman" else _RPM
    return f"{how}{_ALL}{_LISTS[manager]}\n{configured}\nrm -rf /tmp/anew"
