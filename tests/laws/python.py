"""How Python environments and packages are tried: real ones, from a wheel that is made here; no network."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laws import Scenario


def wheel(tmp: Path, version: str) -> None:
    info = f"demo-{version}.dist-info"
    (tmp / "wheels").mkdir(exist_ok=True)
    with zipfile.ZipFile(tmp / f"wheels/demo-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr("demo.py", f"VERSION = {version!r}\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: demo\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def made(*words: str) -> Callable[[Path], None]:
    """An environment with pip and two wheels beside it; words: what pip is to do first."""

    def setup(tmp: Path) -> None:
        for version in ("1.0", "2.0"):
            wheel(tmp, version)
        (tmp / "requirements.txt").write_text("demo==1.0  # old\n")
        # the packages of the environment that runs the tests: no pip has to be unpacked
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", tmp / "v"], check=True)
        paths = [path for path in sys.path if path.endswith("site-packages")]
        (site,) = (tmp / "v/lib").glob("python*/site-packages")
        (site / "tests.pth").write_text("\n".join(paths))
        if words:
            argv = [tmp / "v/bin/python", "-m", "pip", *words, "--no-index", "--find-links", tmp / "wheels"]
            subprocess.run(argv, check=True, capture_output=True)

    return setup


OFFLINE = {"no_index": True, "find_links": "{tmp}/wheels", "bin_env": "{tmp}/v"}


def pip(function: str, *words: str, plans: bool = True, fails: str | None = None, **args: Any) -> Scenario:
    offline = OFFLINE if function == "installed" else {"bin_env": "{tmp}/v"}
    given = {"name": "demo", **offline, **args}
    return Scenario(f"pip.{function}", given, made(*words), plans=plans and not fails, fails=fails)


ONE = ("install", "demo==1.0")
SCENARIOS = [
    pip("installed"),
    pip("installed", name="demo==1.0", no_deps=True, pre_releases=True, cwd="/", no_cache_dir=True),
    pip("installed", *ONE, plans=False),
    pip("installed", *ONE, plans=False, name="demo>=0.9,<2"),
    pip("installed", *ONE, upgrade=True),
    pip("installed", *ONE, pkgs=[{"demo": "2.0"}], disable_version_check=True, env_vars={"A": "b"}),
    pip("installed", requirements="{tmp}/requirements.txt"),
    pip("installed", requirements="/none.txt", fails="not found"),
    pip("installed", bin_env="/none", fails="there is no /none"),
    pip("removed", *ONE),
    pip("removed", *ONE, requirements="{tmp}/requirements.txt"),
    pip("removed", plans=False, pkgs=["demo", "other"]),
    Scenario("virtualenv.managed", {"name": "{tmp}/v"}, made(), plans=False),
    Scenario("virtualenv.managed", {"name": "{tmp}/new", "system_site_packages": True, "prompt": "x"}),
    Scenario("pip.uptodate", {"name": "all", "bin_env": "/none"}, fails="there is no /none", plans=False),
]
