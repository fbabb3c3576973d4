# SPDX-License-Identifier: Apache-2.0
"""The documents as a site, built by Debian's mkdocs."""

from __future__ import annotations

from pathlib import Path

from debian import Debian

LAYER = "browser"
INIT = "none"
ROOT = Path(__file__).parent.parent.parent


def test_the_site_is_built_without_a_warning(debian: Debian) -> None:
    """The pages of files stand for those of all modules, which one program makes alike."""
    debian.run(f"mkdir tree; cp -r {ROOT}/docs {ROOT}/mkdocs.yml tree")
    made = "tree/docs/reference/states tree/docs/reference/modules"
    debian.run(f"find {made} -name '*.md' ! -name file.md -exec truncate -s 0 {{}} +")
    built = debian.run("cd tree && mkdocs build --strict -d /root/site 2>&1", code=None)
    assert built.returncode == 0, built.stdout
    pages = list(debian.path("/root/site").rglob("index.html"))
    assert len(pages) > 200
    broken = [str(page) for page in pages if "```" in page.read_text()]
    states = debian.path("/root/site/reference/states/file/index.html").read_text()
    assert "<summary>Ignored or refused</summary>\n<table>" in states
    assert not broken, "a block whose language mkdocs does not understand"
