# SPDX-License-Identifier: Apache-2.0
"""How the packages of languages and application stores are tried: with programs that answer as npm
11, gem 3.3, cargo 1.8, composer 2.5, flatpak 1.14 and snap 2.5x do, and keep what is installed in
files. tests/machine/test_language_packages.py drives a real gem,
tests/modules/languages/test_npm.py npm.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from laws import Scenario, in_folder

START = """#!/bin/sh
cd "$(dirname "$0")/../have" || exit
command=$1; shift
words=; options=
for word; do case $word in -*) options="$options $word";; *) words="$words $word";; esac; done
"""
NPM = r"""
list() { # those whose name or name@version is asked for, or all
    comma=; printf '{"name": "lib", "dependencies": {'
    for file in npm-*; do
        name=${file#npm-}; test -e "$file" || continue
        case "$1" in ''|"$name"|"$name@^1") ;; *) continue;; esac
        printf '%s"%s": {"version": "%s", "overridden": false}' "$comma" "$name" "$(cat $file)"
        comma=', '
    done
    echo '}}'
}
case $command in
ls) list ${words# 0};;
cache) case $words in
    *ls) cat cache;;
    *clean*key*) sed -i /demo/d cache;;
    *) case $options in *--force*) : >cache;; *) echo 'npm error run it with --force' >&2; exit 1
    esac; esac;;
uninstall) rm -f npm-${words# }; echo '{"removed": 1}';;
install)
    test -n "$words" || words=" project@1.0.0"
    added=0
    for word in $words; do
        case $word in nosuch*) echo '{"error": {"code": "E404", "summary": "Not Found - nosuch"}}'
            exit 1;; esac
        name=${word%@*}; version=${word#"$name"}; version=${version#@}
        case $version in ''|latest|^1) version=1.0.0;; esac
        test "$(cat npm-$name 2>/dev/null)" = "$version" || added=$((added+1))
        case $options in *--dry-run*) ;; *) echo $version >npm-$name;; esac
    done
    echo "{\"added\": $added, \"changed\": 0, \"removed\": 0, \"change\": []}"
esac
"""
GEM = r"""
case $command in
list) case $options in
    *--installed*'>= -1'*) echo 'ERROR:  Illformed requirement ["-1"]' >&2; exit 1;;
    *--installed*'~> 1.0'*) echo true;;
    *--installed*) echo false; exit 1;;
    *) echo; echo '*** LOCAL GEMS ***'; echo; cat gems; esac;;
install)
    case $words in *nosuch) echo "ERROR:  Could not find a valid gem 'nosuch' (>= 0)" >&2; exit 2
    esac
    case $options in *--explain*) echo 'Gems to install:'; echo '  demo-2.0';;
    *) echo "${words# } (2.0, 1.0)" >gems; esac;;
uninstall) sed -i "/^${words# } /d" gems;;
sources) case $options in *--list*) echo '*** CURRENT SOURCES ***'; echo; cat sources;;
    *--add*) case $words in *bad*) echo "Error fetching ${words# }:" >&2; exit 1; esac
        echo ${words# } >>sources;;
    *) sed -i "\\#${words# }#d" sources; esac
esac
"""
CARGO = r"""
command="$command $options"
case $command in
install*--list*) echo 'a look has to read the record itself' >&2; touch .crates.toml; exit 1;;
install*) case $words in *nosuch) echo 'error: could not find `nosuch`' >&2; exit 101; esac
    version=2.0.0; case $options in *--version=*) version=${options#*--version=}; esac
    printf '"%s %s (registry)" = ["%s"]\n' ${words# } ${version%% *} ${words# } >>.crates.toml
    echo '{"installs": {"'${words# }' 1.0.0 (registry)": {"features": ["pcre2"]}}}' >.crates2.json;;
uninstall*) : >.crates.toml;;
esac
"""
PIPX = r"""
name=${words# }; name=${name%%==*}; version=${words#*==}
folder=$(echo $name | tr ._A-Z --a-z); test $folder != my-tool || name=My_Tool
case $command in
install) case $words in *nosuch*) echo 'No matching distribution found for nosuch' >&2; exit 1; esac
    case $words in *==*) ;; *) version=2.0.0; esac
    mkdir -p venvs/$folder
    test $name = plain || cp -r venvs/up-to-date/bin venvs/$folder
    printf '{"main_package": {"package": "%s", "package_version": "%s"}}' $name $version \
        >venvs/$folder/pipx_metadata.json;;
uninstall) rm -r venvs/$folder;;
upgrade) sed -i 's/"1.0"/"2.0.0"/' venvs/$folder/pipx_metadata.json;;
*) echo 'a look has to read the records itself' >&2; touch venvs/looked; exit 1;;
esac
"""
UV = r"""
name=${words##* }; name=${name%%==*}; version=${words#*==}
name=$(echo $name | tr ._A-Z --a-z); record=$(echo $name | tr - _)
beside=; test $name != my-tool || { record=My_Tool; beside=other-3.0; }
case "$command $words" in
pip*up-to-date) echo 'Would make no changes' >&2; exit;;
pip*) printf 'Would install 1 package\n - my-tool==1.0\n + my-tool==2.0.0\n' >&2; exit;;
esac
case "$words" in
*nosuch*) echo 'nosuch was not found in the package registry' >&2; exit 1;;
' uninstall '*) rm -r tools/$name;;
' install '*) case $words in *==*) ;; *) version=2.0.0; esac
    rm -rf tools/$name; mkdir -p tools/$name/lib/python3.11/site-packages/$record-$version.dist-info
    : >tools/$name/uv-receipt.toml
    test -z "$beside" || mkdir tools/$name/lib/python3.11/site-packages/$beside.dist-info;;
*) echo 'a look has to read the records itself' >&2; touch tools/looked; exit 1;;
esac
"""
COMPOSER = r"""
case $options in *--working-dir=/nowhere*) echo 'Invalid working directory' >&2; exit 1; esac
if test -e composer-$command; then echo 'Nothing to install, update or remove' >&2; exit; fi
case $options in *--dry-run*) test -e silent ||
    echo 'Package operations: 2 installs, 0 updates, 0 removals' >&2;;
*) touch composer-install composer-update; echo 'Generating autoload files' >&2; esac
"""
PHP = '#!/bin/sh\nexec "$@"\n'
FLATPAK = r"""
case $options in *--user*) own=own-;; *--system*) own=;; *) echo 'say whose' >&2; exit 1; esac
case $command in
info) test -e ${own}app-${words# } && echo flathub;;
remotes) cat ${own}remotes;;
remote-add) case $words in *nosuch*) echo "error: Can't load uri" >&2; exit 1; esac
    echo "$words" | (read n u; printf '%s\t%s\n' $n $u) >>${own}remotes;;
install) case $words in *nosuch*) echo "error: No remote refs found for 'nosuch'" >&2; exit 1; esac
    touch ${own}app-${words##* };;
remote-delete) sed -i "/^${words# }\t/d" ${own}remotes;;
uninstall) rm ${own}app-${words# };;
esac
"""
SNAP = r"""
case $command in
list) test -e snaps || { echo 'error: cannot communicate with server' >&2; exit 1; }
    grep -q "^${words# } " snaps || { echo 'error: no matching snaps installed' >&2; exit 1; }
    echo 'Name  Version  Rev  Tracking       Publisher  Notes'; grep "^${words# } " snaps;;
remove) sed -i "/^${words# } /d" snaps;;
*) case $words in *nosuch) echo 'error: snap "nosuch" not found' >&2; exit 1; esac
    sed -i "/^${words# } /d" snaps
    case $options in *--channel=edge*) track=latest/edge;; *) track=latest/stable; esac
    echo "${words# } 1.0 12 $track me classic" >>snaps
esac
"""
# the pip of an environment of pipx
PIP = """#!/bin/sh
case "$*" in *up-to-date) echo '{"install": []}'; exit;; esac
echo '{"install": [{"metadata": {"name": "My_Tool", "version": "2.0.0"}}]}'
"""
PROGRAMS = {
    "npm": START + NPM,
    "gem": START + GEM,
    "cargo": START + CARGO,
    "composer": START + COMPOSER,
    "pipx": START + PIPX,
    "uv": START + UV,
    "php": PHP,
    "flatpak": START + FLATPAK,
    "snap": START + SNAP,
}
OFFICIAL = "make-fetch-happen:request-cache:https://registry.npmjs.org"
HAVE = {  # what is there before: files of the programs
    "npm-old": "1.0.0\n",
    "cache": f"{OFFICIAL}/demo\n{OFFICIAL}/demo/-/demo-1.0.0.tgz#key\n{OFFICIAL}/demos\n",
    "gems": "demo (1.0)\njson (default: 2.6.1)\n",
    "sources": "https://rubygems.org/\n",
    ".crates.toml": '[v1]\n"demo 1.0.0 (registry+https://x)" = ["demo"]\n'
    '"mine 0.1.0 (path+file:///srv/mine)" = ["mine"]\n',
    "remotes": "flathub\thttps://dl.flathub.org/repo/\n",
    "app-org.old.App": "",
    "own-remotes": "mine\thttps://example.org/\n",
    "own-app-org.own.App": "",
    "snaps": "lxd 5.0 1 latest/stable canonical -\n",
}


def having(*without: str, also: str = "") -> Callable[[Path], None]:
    """The programs, and what they have but for some files. also: a file that is there beside."""

    def setup(tmp: Path) -> None:
        (tmp / "bin").mkdir()
        (tmp / "have").mkdir()
        for name, text in PROGRAMS.items():
            program = tmp / "bin" / name
            program.write_text(text)
            program.chmod(0o755)
        for name, text in HAVE.items():
            if name not in without:
                (tmp / "have" / name).write_text(text)
        if also:
            (tmp / "have" / also).write_text("")
        os.environ["PATH"] = f"{tmp}/bin:{os.environ['PATH']}"
        os.environ["CARGO_HOME"] = os.environ["PIPX_HOME"] = f"{tmp}/have"
        record = tmp / "have/venvs/my-tool/pipx_metadata.json"
        record.parent.mkdir(parents=True)
        record.write_text('{"main_package": {"package": "My_Tool", "package_version": "1.0"}}')
        fresh = tmp / "have/venvs/up-to-date/pipx_metadata.json"
        fresh.parent.mkdir()
        fresh.write_text('{"main_package": {"package": "up-to-date", "package_version": "3.0"}}')
        plain = tmp / "have/venvs/plain/pipx_metadata.json"
        plain.parent.mkdir()
        plain.write_text('{"main_package": {"package": "plain", "package_version": "1.0"}}')
        for environment in (record.parent, fresh.parent):
            (environment / "bin").mkdir()
            (environment / "bin/python").write_text(PIP)
            (environment / "bin/python").chmod(0o755)
        os.environ["UV_TOOL_DIR"] = f"{tmp}/have/tools"
        for tool, *packages in (
            ("my-tool", "My_Tool-1.0", "other-3.0"),
            ("up-to-date", "up_to_date-3.0"),
            ("plain", "plain-1.0"),
        ):
            environment = tmp / "have/tools" / tool
            for package in packages:
                place = environment / f"lib/python3.11/site-packages/{package}.dist-info"
                place.mkdir(parents=True)
            (environment / "uv-receipt.toml").touch()
        for program in without:
            (tmp / "bin" / program).unlink(missing_ok=True)

    return setup


on = in_folder("", having())


def without_programs(tmp: Path) -> None:
    os.environ |= {"PATH": str(tmp), "HOME": str(tmp)}


LIKE_COMPOSER: dict[str, Any] = {
    "name": "{tmp}",
    "composer": "{tmp}/bin/composer",
    "php": "php",
    "user": "root",
    **dict.fromkeys(("prefer_source", "prefer_dist", "no_scripts", "no_plugins"), True),
    "optimize": True,
    "no_dev": True,
    "composer_home": "/root",
    "env": {"A": "b"},
}


def programs(module: str, program: str) -> Iterator[Scenario]:
    """What pipx and uv are alike in."""
    installed, removed = f"{module}.installed", f"{module}.removed"
    yield on(installed, name="new", user="root")
    yield on(installed, name="my.tool", version="1.2.3")
    yield on(installed, plans=False, name="My_Tool")
    yield on(installed, plans=False, name="my-tool", version="1.0")
    yield on(installed, name="my-tool", upgrade=True)
    yield on(installed, name="new", upgrade=True)
    yield on(installed, plans=False, name="up-to-date", upgrade=True)
    yield on(installed, name="x", version="1.0", upgrade=True, fails="Only one of 'version' and")
    yield on(installed, name="nosuch", breaks=f"Error installing 'nosuch': {program}")
    yield on(installed, without_programs, name="x", fails=f"{program} is missing: it comes with")
    yield on(removed, name="Plain", user="root")
    yield on(removed, plans=False, name="other")


SCENARIOS = [
    on("npm.installed", name="demo", user="root", registry="http://u:p@127.0.0.1/", env=["A=b"]),
    on("npm.installed", name="x", pkgs=["old", "demo@2.0.0", "@scope/x"], dir="{tmp}"),
    on("npm.installed", plans=False, name="old"),
    on("npm.installed", plans=False, name="old@1.0.0"),
    on("npm.installed", plans=False, name="old@^1"),
    on("npm.installed", plans=False, name="old@latest"),
    on("npm.installed", name="old@2.0.0"),
    Scenario("npm.installed", {"name": "old", "force_reinstall": True}, having(), converges=False),
    on("npm.installed", name="nosuch", fails="Error installing 'nosuch': npm install: Not Found"),
    on("npm.installed", name="x", dir="/nowhere", fails="Error looking up 'x': Specified cwd"),
    on("npm.installed", without_programs, name="x", fails="npm is missing: it comes with npm"),
    on("npm.removed", name="old", dir="{tmp}", user="root"),
    on("npm.removed", plans=False, name="demo"),
    on("npm.bootstrap", name="{tmp}", user="root", silent=False),
    on("npm.bootstrap", name="/nowhere", fails="Error Bootstrapping '/nowhere': Specified cwd"),
    on("npm.cache_cleaned", name="demo", user="root"),
    on("npm.cache_cleaned", plans=False, name="other"),
    on("npm.cache_cleaned", name=None, force=True),
    on("npm.cache_cleaned", name=None, breaks="Error cleaning cached packages: npm cache:"),
    on("gem.installed", name="new", rdoc=True, ri=True, pre_releases=True, proxy="http://u:p@x/"),
    on("gem.installed", name="demo", version="2.0", user="root", source="https://u:p@gems.x/"),
    on("gem.installed", plans=False, name="demo", version="1.0", gem_bin="{tmp}/bin/gem"),
    on("gem.installed", plans=False, name="demo", version="~> 1.0"),
    on("gem.installed", plans=False, name="json", version="2.6.1"),
    on("gem.installed", name="demo", version=">= -1", fails="Could not install gem: gem list: ER"),
    on("gem.installed", name="nosuch", fails="Could not install gem: gem install: ERROR:  Could"),
    on("gem.installed", name="demo", ruby="2.0", fails="gem_bin names the gem of a Ruby"),
    on("gem.installed", name="demo", gem_bin="/no/gem", fails="there is no /no/gem"),
    on("gem.removed", name="demo", user="root", gem_bin="gem"),
    on("gem.removed", plans=False, name="other"),
    on("gem.removed", name="demo", ruby="2.0", fails="gem_bin names"),
    on("gem.sources_add", name="http://gems.example.com/", user="root"),
    on("gem.sources_add", plans=False, name="https://rubygems.org/"),
    on("gem.sources_add", name="http://bad/", breaks="Could not add gem source: gem sources: Erro"),
    on("gem.sources_add", name="http://u:p@x/", breaks="all users could read in a command line"),
    on("gem.sources_add", name="http://x/", ruby="2.0", fails="gem_bin names"),
    on("gem.sources_remove", name="https://rubygems.org/", user="root"),
    on("gem.sources_remove", plans=False, name="http://gems.example.com/"),
    on("gem.sources_remove", without_programs, name="x", fails="gem is missing: it comes with ru"),
    on("gem.sources_remove", name="x", ruby="2.0", fails="gem_bin names"),
    on("cargo.installed", name="new", user="root", locked=True),
    on("cargo.installed", name="new", version="1.2.3", root="{tmp}/have", features=["pcre2"]),
    on("cargo.installed", plans=False, name="demo"),
    on("cargo.installed", plans=False, name="mine", version="0.1.0"),
    on("cargo.installed", name="nosuch", breaks="Error installing 'nosuch': cargo install: error"),
    on("cargo.installed", without_programs, name="x", root="{tmp}", fails="cargo is missing: it"),
    on("cargo.removed", name="demo", root="{tmp}/have", user="root"),
    on("cargo.removed", plans=False, name="other"),
    *programs("pipx", "pipx"),
    *programs("uv_tool", "uv"),
    on("composer.installed", **LIKE_COMPOSER, quiet=True),
    on("composer.installed", having(also="composer-install"), plans=False, name="{tmp}"),
    on("composer.installed", having(also="silent"), name="{tmp}", always_check=False),
    on("composer.installed", name="/nowhere", fails="Error executing composer in '/nowhere': com"),
    on("composer.update", **LIKE_COMPOSER, quiet=False),
    on("composer.update", having(also="composer-update"), plans=False, name="{tmp}"),
    on("composer.update", without_programs, name="{tmp}", fails="composer is missing: it comes"),
    on("flatpak.installed", name="org.new.App", location="flathub"),
    on("flatpak.installed", plans=False, name="org.old.App", location="flathub"),
    on("flatpak.installed", name="nosuch", location="flathub", breaks='Package "nosuch" failed to'),
    on("flatpak.installed", without_programs, name="x", location="x", fails="flatpak is missing"),
    on("flatpak.installed", name="org.old.App", location="mine", method="user", user="root"),
    on("flatpak.installed", plans=False, name="org.own.App", location="mine", method="user"),
    on("flatpak.installed", name="org.own.App", location="flathub"),
    on("flatpak.installed", name="x", location="x", user="root", fails="is for `method: user`"),
    on("flatpak.uninstalled", name="org.old.App"),
    on("flatpak.uninstalled", name="org.own.App", method="user", user="root"),
    on("flatpak.uninstalled", plans=False, name="org.old.App", method="user"),
    on("flatpak.add_remote", name="flathub", location="https://x/", method="user", user="root"),
    on("flatpak.add_remote", plans=False, name="mine", location="https://x/", method="user"),
    on("flatpak.uninstalled", plans=False, name="org.new.App"),
    on("flatpak.add_remote", name="mine", location="https://example.org/mine.flatpakrepo"),
    on("flatpak.add_remote", plans=False, name="flathub", location="https://flathub.org/x"),
    on(
        "flatpak.add_remote", name="x", location="http://nosuch/", breaks='Failed to add remote "x"'
    ),
    on("snap.installed", name="hello", classic=True),
    on("snap.installed", plans=False, name="lxd", channel="stable"),
    on("snap.installed", plans=False, name="lxd", channel="latest"),
    on("snap.installed", name="lxd", channel="edge"),
    on("snap.installed", name="nosuch", breaks='Package "nosuch" failed to install: snap install'),
    on("snap.installed", having("snaps"), name="lxd", fails="cannot communicate with server"),
    on("snap.removed", name="lxd"),
    on("snap.removed", plans=False, name="hello"),
    on("snap.removed", without_programs, name="lxd", fails="snap is missing: it comes with snapd"),
]
