# SPDX-License-Identifier: Apache-2.0
"""What a release is: one version in all its parts, its name, its licences, its commit."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from command import ROOT
from jsonschema import Draft7Validator
from packaging.requirements import Requirement
from referencing import Registry, Resource
from wheels import SAFELY

import runner
from runner.sources.bundle import LEFT_OUT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, BUILD = PYPROJECT["project"], PYPROJECT["build-system"]
DEV = PROJECT["optional-dependencies"]["dev"]
SUFFIXES = {"wheel": ".whl", "sdist": ".tar.gz"}


def test_tag_package_and_program_agree() -> None:
    changelog = re.findall(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    docs = "\n".join((ROOT / f"docs/{name}.md").read_text() for name in ("ansible", "editors"))
    named = re.findall(r"\brunner-(?:runner|sls)-([\d.]+\d)\.(?:tar\.gz|vsix)", docs)
    assert len(named) == 2
    versions = {
        "program": runner.__version__,
        "collection": yaml.safe_load((ROOT / "ansible/galaxy.yml").read_text())["version"],
        "extension": json.loads((ROOT / "editors/vscode/package.json").read_text())["version"],
        "changelog": changelog[0],
        **dict(zip(("file of docs/ansible.md", "file of docs/editors.md"), named, strict=True)),
    }
    git = ["git", "-C", ROOT, "tag", "--points-at", "HEAD"]
    if (ROOT / ".git").exists():
        tags = subprocess.run(git, capture_output=True, text=True).stdout.split()
        versions |= {f"tag {tag}": tag[1:] for tag in tags if re.match(r"v\d", tag)}
    different = {name: value for name, value in versions.items() if value != PROJECT["version"]}
    assert different == {}


def test_the_distribution_has_one_name() -> None:
    """`runner` in the registry is somebody else's."""
    name, extras = PROJECT["name"], set(PROJECT["optional-dependencies"])
    folders = ("runner", "states", "modules", "ansible", "editors", "docs")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    wrong = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in [*ROOT.glob("*.md"), *paths]
        if path.suffix in (".py", ".md", ".yml")
        for line in path.read_text().splitlines()
        if ("install " in line or "runner[" in line)
        and (
            re.search(r"\b(?:pipx?|uv tool) install (?:[\w-]+ )*'?runner\b", line)
            or any(
                found[1] != name or found[2] not in extras
                for found in re.finditer(r"\b((?:sls-)?runner)\[([a-z]\w+)\]", line)
            )
        )
    ]
    assert wrong == []


def test_what_is_locked_is_what_runner_needs() -> None:
    for name, needed in (
        ("requirements.txt", PROJECT["dependencies"]),
        ("requirements-build.txt", BUILD["requires"]),
    ):
        text = (ROOT / "packaging" / name).read_text()
        locked = dict(re.findall(r"^([\w.-]+)==(\S+) \\\n    --hash=sha256:", text, re.MULTILINE))
        assert len(locked) == text.count("==")
        for requirement in map(Requirement, needed):
            assert locked[requirement.name.lower()] in requirement.specifier


def test_every_part_asks_for_the_same_ansible() -> None:
    """The oldest one that the tests run, and that ansible-core's own support reaches."""
    (extra,) = map(Requirement, PROJECT["optional-dependencies"]["fleet"])
    (ansible,) = (each for each in map(Requirement, DEV) if each.name == "ansible-core")
    assert str(extra) == str(ansible)
    (least,) = (each.version for each in extra.specifier if each.operator == ">=")
    runtime, role = (
        yaml.safe_load((ROOT / f"ansible/{path}").read_text())
        for path in ("meta/runtime.yml", "roles/bootstrap/meta/main.yml")
    )
    assert runtime["requires_ansible"] == f">={least}.0"
    assert role["galaxy_info"]["min_ansible_version"] == least
    pages = "\n".join((ROOT / f"docs/{name}.md").read_text() for name in ("ansible", "fleet"))
    assert {*re.findall(r"ansible-core ([\d.]+\d) or newer", pages)} == {least}


def test_the_licences_are_with_what_they_are_for() -> None:
    """The Ansible collection has that of ansible-core, all else Apache-2.0."""
    assert PROJECT["license"] == "Apache-2.0 AND GPL-3.0-or-later"
    starts = {name: (ROOT / name).read_text()[:300] for name in PROJECT["license-files"]}
    assert "Apache License" in starts["LICENSE"] and "Apache License" in starts["NOTICE"]
    assert re.search(r"GNU GENERAL PUBLIC LICENSE\s+Version 3", starts["ansible/COPYING"])
    galaxy = yaml.safe_load((ROOT / "ansible/galaxy.yml").read_text())
    assert galaxy["license"] == ["GPL-3.0-or-later"]
    extension = json.loads((ROOT / "editors/vscode/package.json").read_text())
    assert extension["license"] == "Apache-2.0"
    line = "# SPDX-License-Identifier: GPL-3.0-or-later\n"
    code = [path for path in (ROOT / "ansible").rglob("*") if path.suffix in (".py", ".yml")]
    assert [str(path) for path in code if line not in path.read_text()[:200]] == []


def test_each_source_file_names_its_licence() -> None:
    """But for those of the Ansible collection, examples and the trees that tests apply."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    others = ("ansible/", "sls_examples/", "tests/data/", "tests/salt_tree/")
    sources = [
        name
        for name in listed.stdout.split()
        if name.endswith((".py", ".sh", ".js", ".css", ".c")) and not name.startswith(others)
    ]
    assert len(sources) > 1000
    line = "SPDX-License-Identifier: Apache-2.0"
    assert [name for name in sources if line not in (ROOT / name).read_text()[:200]] == []


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of one commit with what a build reads, and little code."""
    folder = tmp_path_factory.mktemp("checkout")
    names = (
        ".gitignore",
        "pyproject.toml",
        "hatch_build.py",
        "README.md",
        *PROJECT["license-files"],
    )
    code = ("runner/__init__.py", "runner/model/releases.py", "runner/support/own_modules.py")
    for name in (*names, *code):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for package in ("runner/model", "runner/support", "states", "modules"):
        (folder / package).mkdir(exist_ok=True)
        (folder / package / "__init__.py").touch()
    git = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return folder


def built(source: Path, *targets: str) -> list[bytes]:
    """Return what is built in a folder: the bytes of each artefact."""
    words = [word for target in targets for word in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", source / "dist", *words],
        cwd=source,
        check=True,
        capture_output=True,
    )
    made = [next((source / "dist").glob(f"*{SUFFIXES[target]}")) for target in targets]
    contents = [path.read_bytes() for path in made]
    shutil.rmtree(source / "dist")
    return contents


def version_of(wheel: bytes, folder: Path) -> str:
    """Return what the program of a wheel says that it is."""
    path = folder / "a.whl"
    path.write_bytes(wheel)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "unpacked")
    code = "from runner.model.releases import version; print(version())"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = ['unpacked']; {code}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def test_a_build_knows_its_commit(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does what is built from a source package; two builds of a commit are equal."""
    pytest.importorskip("hatchling")
    monkeypatch.setenv("GIT_DIR", str(ROOT / ".git"))  # as in a hook of another repository
    git = ["git", f"--git-dir={checkout}/.git", "rev-parse", "--short=12", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    version = f"{runner.__version__} (commit {commit})"
    wheel, source = built(checkout, "wheel", "sdist")
    assert version_of(wheel, tmp_path) == version
    assert built(checkout, "wheel", "sdist") == [wheel, source]

    (tmp_path / "source.tar.gz").write_bytes(source)
    with tarfile.open(tmp_path / "source.tar.gz") as archive:
        archive.extractall(tmp_path, **SAFELY)
    unpacked = tmp_path / f"sls_runner-{runner.__version__}"
    assert version_of(built(unpacked, "wheel")[0], unpacked) == version

    (checkout / "states/new.py").touch()
    assert version_of(built(checkout, "wheel")[0], checkout) == version[:-1] + " with changes)"


WHEELS = {
    "sls_runner-1.0-py3-none-any.whl": """\
        Name: sls-runner
        Version: 1.0
        License-Expression: Apache-2.0 AND GPL-3.0-or-later
        Requires-Dist: Fast.YAML>=6
        Requires-Dist: rich
        Requires-Dist: gone; extra == 'docker'
        Requires-Dist: old; python_version < '3.11'""",
    "fast_yaml-6.1-cp311-cp311-manylinux_2_17_x86_64.whl": """\
        Name: Fast_YAML
        Version: 6.1
        Summary: reads YAML
        License: all of a text
         in many lines
        Classifier: License :: OSI Approved :: MIT License""",
    "gone-1-py3-none-any.whl": "Name: gone\nVersion: 1\nLicense: BSD",
    "rich-1-py3-none-any.whl": "Name: rich\nVersion: 1\nRequires-Dist: colours",
    "colours-1-py3-none-any.whl": "Name: colours\nVersion: 1",
}


def test_the_list_of_parts(tmp_path: Path) -> None:
    """It is valid CycloneDX, and says of what is in the wheels what they themselves say."""
    pytest.importorskip("cyclonedx")
    for name, about in WHEELS.items():
        with zipfile.ZipFile(tmp_path / name, "w") as wheel:
            folder = "-".join(name.split("-")[:2])
            wheel.writestr(f"{folder}.dist-info/METADATA", inspect.cleandoc(about) + "\n\nText")
    argv = [sys.executable, ROOT / "packaging/sbom.py", tmp_path]
    done = subprocess.run(argv, check=True, capture_output=True, env={"SOURCE_DATE_EPOCH": "0"})
    bill = json.loads(done.stdout)
    schemas = {
        name: json.loads(
            (files("cyclonedx.schema") / f"_res/{name}.SNAPSHOT.schema.json").read_text()
        )
        for name in ("bom-1.6", "spdx", "jsf-0.82")
    }
    known = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas.values()
    )
    Draft7Validator(schemas["bom-1.6"], registry=known).validate(bill)

    parts = {part["name"]: part for part in bill["components"]}
    own, yaml_parser = bill["metadata"]["component"], parts["fast-yaml"]
    assert (own["name"], own["version"], own["licenses"]) == (
        "sls-runner",
        "1.0",
        [{"expression": "Apache-2.0 AND GPL-3.0-or-later"}],
    )
    assert (yaml_parser["purl"], yaml_parser["licenses"]) == (
        "pkg:pypi/fast-yaml@6.1",
        [{"license": {"name": "MIT License"}}],
    )
    assert parts["gone"]["licenses"] == [{"license": {"name": "BSD"}}]
    optional = {name for name, part in parts.items() if part["scope"] == "optional"}
    assert optional == {"gone", "rich", "colours"}
    assert runpy.run_path(str(argv[1]))["LEFT_OUT"] == LEFT_OUT
    wheel = tmp_path / "fast_yaml-6.1-cp311-cp311-manylinux_2_17_x86_64.whl"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert yaml_parser["hashes"] == [{"alg": "SHA-256", "content": digest}]
    needed = {item["ref"]: item["dependsOn"] for item in bill["dependencies"]}
    assert needed[own["bom-ref"]] == [yaml_parser["bom-ref"], parts["rich"]["bom-ref"]]
    assert bill["metadata"]["timestamp"] == "1970-01-01T00:00:00Z"


def test_a_signature_is_checked_as_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs/releases.md").read_text()
    commands = re.findall(r"^    (.+)$", page.partition("## Check one")[2], re.MULTILINE)[:3]
    release = tmp_path / "release"
    release.mkdir()
    for name in ("a.whl", "b.tar", "c.deb"):
        (release / name).write_text(name)
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    argv = ["sh", str(ROOT / "packaging/sign"), str(release), str(key)]
    subprocess.run(argv, check=True, capture_output=True)
    shutil.copy(f"{key}.pub", release / "release_key.pub")

    def check() -> tuple[int, str]:
        script = ["sh", "-ec", "\n".join(commands)]
        done = subprocess.run(script, cwd=release, capture_output=True, text=True)
        return done.returncode, done.stdout

    (release / "b.tar").unlink()  # who wants one file need not have all
    code, said = check()
    assert code == 0 and said.startswith('Good "file" signature for runner')
    assert said.endswith("a.whl: OK\nc.deb: OK\n")
    (release / "a.whl").write_text("another")
    code, said = check()
    assert code == 1 and "a.whl: FAILED" in said
    text = (release / "SHA256SUMS").read_text()
    digest = hashlib.sha256(b"another").hexdigest()
    (release / "SHA256SUMS").write_text(re.sub(r"\w{64}(?=  a\.whl)", digest, text))
    code, said = check()
    assert code != 0 and "Good" not in said and "OK" not in said


def test_a_release_is_of_a_commit_and_its_tag(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / "packaging").mkdir(parents=True)
    for name in ("pyproject.toml", "packaging/release", "packaging/date"):
        shutil.copy(ROOT / name, repository / name)
    git = ("git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@example.org")

    def committed(*words: str) -> None:
        subprocess.run([*git, *words], check=True, capture_output=True)

    def refused(*words: str) -> str:
        argv = ["sh", repository / "packaging/release", *words]
        env = {"PATH": os.environ["PATH"], "PYTHON": sys.executable}
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 1 and not done.stdout
        return done.stderr.removeprefix("packaging/release: ")

    committed("init", "-q")
    committed("add", ".")
    assert refused().startswith("name a directory (packaging/release [--key FILE]")
    assert refused("--sign", "x", "out").startswith("what is --sign?")
    assert refused("repository").endswith("/repository is not empty\n")
    assert refused("--key", "nokey", "out").endswith("/nokey cannot be read\n")
    assert refused("--without-packages", "out").startswith("commit first")
    committed("commit", "-qm", "one")
    committed("tag", "v99.0")
    expected = f"this commit has the tag v99.0, and the version {runner.__version__}\n"
    assert refused("--without-packages", "out") == expected
    committed("tag", "-d", "v99.0")
    (tmp_path / "wheels").mkdir()
    own = tmp_path / f"wheels/sls_runner-{runner.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(own, "w") as wheel:
        wheel.writestr("runner/commit.txt", "0123456789ab\n")
    told = refused("--without-packages", "--wheels", "wheels", "out")
    assert told == "the wheels are of commit 0123456789ab\n"
    assert not list((tmp_path / "out").iterdir())
