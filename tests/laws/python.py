# SPDX-License-Identifier: Apache-2.0
"""How Python environments and packages are tried: real ones, from a wheel that is made here; no
network.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laws import Scenario, scenario
from wheels import write_demo

SPEC = importlib.util.find_spec("pip")
assert SPEC and SPEC.origin
PIP = Path(SPEC.origin).parent
for each in [each for each in os.environ if each.startswith("PIP_")]:
    del os.environ[each]  # what this machine says of pip is not what is tried


def made(*words: str) -> Callable[[Path], None]:
    """An environment with pip and two wheels beside it; words: what pip is to do first."""

    def setup(tmp: Path) -> None:
        for version in ("1.0", "2.0"):
            write_demo(tmp / "wheels", version)
        (tmp / "requirements.txt").write_text("demo==1.0  # old\n")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp / "v"], check=True)
        (site,) = (tmp / "v/lib").glob("python*/site-packages")
        # that of the environment that runs the tests: none has to be unpacked, and it starts in
        # half the time where it is alone
        for path in (PIP, *PIP.parent.glob("pip-*.dist-info")):
            (site / path.name).symlink_to(path)
        (site / "other.py").touch()  # pip removes a whole folder where only links would be left
        if words:
            _, _, version = words[1].partition("==")
            with zipfile.ZipFile(tmp / f"wheels/demo-{version}-py3-none-any.whl") as archive:
                archive.extractall(site)
            names = [*archive.namelist(), f"demo-{version}.dist-info/INSTALLER"]
            (site / names[-1]).write_text("pip\n")
            (site / f"demo-{version}.dist-info/RECORD").write_text(
                "".join(f"{name},,\n" for name in names)
            )

    return setup


def lost(tmp: Path) -> None:
    """An environment whose Python is gone."""
    made()(tmp)
    (tmp / "v/bin/python").unlink()
    (tmp / "v/bin/python").symlink_to("/usr/bin/python2.99")


OFFLINE = {"no_index": True, "find_links": "{tmp}/wheels", "bin_env": "{tmp}/v"}


def pip(function: str, *words: str, **given: Any) -> Scenario:
    offline = OFFLINE if function.startswith("installed") else {"bin_env": "{tmp}/v"}
    return scenario(f"pip.{function}", made(*words), **{"name": "demo", **offline, **given})


def with_project(tmp: Path) -> None:
    """A project with a build backend of its own, which needs nothing."""
    made()(tmp)
    project = tmp / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (project / "backend.py").write_text(BACKEND)


BACKEND = """
import os, zipfile
NAME, INFO = "edited-1.0-py3-none-any.whl", "edited-1.0.dist-info"
FILES = {
    "METADATA": "Metadata-Version: 2.1\\nName: edited\\nVersion: 1.0\\n",
    "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    "RECORD": "",
}
def build_wheel(folder, *more, **options):
    with zipfile.ZipFile(os.path.join(folder, NAME), "w") as archive:
        archive.writestr("edited.pth", os.getcwd())
        for name, text in FILES.items():
            archive.writestr(f"{INFO}/{name}", text)
    return NAME
build_editable = build_wheel
"""
PIP_CONF = "[global]\nno-index = true\nfind-links = {tmp}/wheels\n"


def with_configuration(*words: str) -> Callable[[Path], None]:
    """pip finds the wheels by itself."""

    def setup(tmp: Path) -> None:
        made(*words)(tmp)
        (tmp / "v/pip.conf").write_text(PIP_CONF.replace("{tmp}", str(tmp)))

    return setup


ONE = ("install", "demo==1.0")
REFUSED = tuple(
    """
    no_install no_download download build mirrors install_options allow_all_external
    allow_external allow_unverified process_dependency_links
    """.split()
)
LIKE_PIP = {
    "index_url": "http://127.0.0.1:1/",
    "extra_index_url": ["http://127.0.0.1:1/x"],
    "trusted_host": "127.0.0.1",
    "proxy": "http://127.0.0.1:1",
    "timeout": 1,
    "cache_dir": "{tmp}/c",
    "exists_action": "w",
    "source": "{tmp}/s",
    "log": "{tmp}/v/log",
    "no_binary": ":none:",
    "extra_args": ["--no-compile"],
    "cert": "/etc/hosts",
}
TAKEN = {
    "use_wheel": True,
    "no_use_wheel": False,
    "download_cache": "/x",
    "use_vt": True,
    "user": "root",
}
HERE = {
    "env_vars": {"PIP_FIND_LINKS": "{tmp}/wheels", "PIP_NO_INDEX": "1"},
    "user": "root",
    "cwd": "/",
}
AGAIN = {"force_reinstall": True, "ignore_installed": True}
NEW: dict[str, Any] = {
    "python": sys.executable,
    "system_site_packages": True,
    "prompt": "x",
    "clear": False,
    "use_vt": True,
    "distribute": True,
    "extra_search_dir": ["/x"],
    "pip_download": None,
    "never_download": True,
    "pip_download_cache": "/x",
    "process_dependency_links": False,
    "pip_exists_action": "w",
    "index_url": "http://127.0.0.1:1/",
    "extra_index_url": "http://127.0.0.1:1/",
    "proxy": "http://127.0.0.1:1",
    "pip_ignore_installed": False,
    "pip_no_cache_dir": True,
    "pip_cache_dir": "{tmp}/c",
    "no_binary": ":none:",
}
SCENARIOS = [
    pip("installed", **LIKE_PIP),
    pip(
        "installed name=x repo=demo==2.0 bin_env=null pip_bin={tmp}/v/bin/python target={tmp}/t",
        **TAKEN,
    ),
    Scenario("pip.installed name=demo", {**OFFLINE, **AGAIN}, made(*ONE), converges=False),
    Scenario("pip.installed name=x editable={tmp}/project", OFFLINE, with_project, converges=False),
    Scenario(
        "pip.installed name=nosuch global_options=[x]",
        OFFLINE,
        made(),
        fails="Failed to install packages",
    ),
    *(Scenario("pip.installed name=x", {each: ["y"]}, fails=each) for each in REFUSED[4:6]),
    *(Scenario("pip.installed name=x", {each: True}, fails=each) for each in REFUSED[:2]),
    *(Scenario("pip.installed name=x", {each: "y"}, fails=each) for each in REFUSED[2:4]),
    *(Scenario("pip.installed name=x", {each: "y"}, fails=each) for each in REFUSED[7:9]),
    *(
        Scenario("pip.installed name=x", {each: True}, fails=each)
        for each in (REFUSED[6], REFUSED[9])
    ),
    Scenario(
        "pip.uptodate name=all bin_env={tmp}/v user=root cwd=/", setup=with_configuration(*ONE)
    ),
    pip("removed log={tmp}/log proxy=http://x timeout=1 user=root cwd=/ use_vt=true", *ONE),
    Scenario(
        "virtualenv.managed name={tmp}/new venv_bin='python3 -m venv'",
        fails="Python's own venv needs none: `- python: python3`",
    ),
    Scenario(
        "virtualenv.managed name={tmp}/new venv_bin=nosuchprogram", fails="there is no 'nosuch"
    ),
    Scenario(
        "virtualenv.managed name={tmp}/v requirements={tmp}/requirements.txt pip_upgrade=true"
        " no_deps=true pre_releases=true",
        HERE,
        made(),
    ),
    Scenario("virtualenv.managed name={tmp}/new pip_pkgs=demo", {**NEW, **HERE}, made()),
    *(
        Scenario(
            "virtualenv.managed name={tmp}/new", {each: True}, fails=f"'{each}' option is only"
        )
        for each in ("use_wheel", "no_use_wheel")
    ),
    Scenario("virtualenv.managed name={tmp}/v", setup=made(), plans=False),
    Scenario("virtualenv.managed name={tmp}/v", setup=lost, fails="`clear: true` once makes"),
    Scenario("virtualenv.managed name={tmp}/v clear=true", setup=lost, converges=False),
    Scenario("virtualenv.managed name={tmp}/new python=/no/python", breaks="/no/python"),
    Scenario("virtualenv.managed name={tmp}/new venv_bin=/no/virtualenv", fails="/no/virtualenv"),
    pip("installed name=demo==1.0 no_deps=true pre_releases=true cwd=/ no_cache_dir=true"),
    pip("installed", *ONE, plans=False),
    pip("installed name=demo>=0.9,<2", *ONE, plans=False),
    pip("installed upgrade=true", *ONE),
    pip("installed disable_version_check=true env_vars='{A: b}'", *ONE, pkgs=[{"demo": "2.0"}]),
    pip("installed", requirements=["{tmp}/requirements.txt", "{tmp}/requirements.txt"]),
    pip("installed requirements=/none.txt", fails="not found"),
    pip("installed bin_env=/none", fails="Error installing 'demo': there is no /none"),
    pip("removed bin_env=/none", fails="Error uninstalling 'demo': there is no /none"),
    pip("installed name=demo=1.0", fails="'=' is not supported, use '==' instead."),
    pip("removed", *ONE),
    pip("removed requirements={tmp}/requirements.txt", *ONE),
    pip("removed", *ONE, requirements=["{tmp}/requirements.txt"]),
    pip("removed pkgs=[demo,other]", plans=False),
    Scenario("virtualenv.managed name={tmp}/v", setup=made(), plans=False),
    Scenario("virtualenv.manage name={tmp}/v", setup=made(), plans=False),
    Scenario("pip.uptodate name=all bin_env=/none", fails="there is no /none"),
]
