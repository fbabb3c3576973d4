# SPDX-License-Identifier: Apache-2.0
"""A real gem, with a repository of gems that is made here."""

from __future__ import annotations

from debian import Debian

LAYER = "databases"
GEMS = r"""
require "rubygems/package"; require "rubygems/indexer"
Dir.mkdir("/srv/gems"); Dir.mkdir("/srv/gems/gems"); Dir.chdir("/srv/gems/gems")
%w[1.0 2.0].each { |version|
    Gem::Package.build(Gem::Specification.new { |s|
        s.name = "demo"; s.version = version; s.summary = "x"; s.authors = ["x"] }, true)
}
Gem::Indexer.new("/srv/gems").generate_index
"""
SITE = """
demo:
  gem.installed:
    - version: '>= 1.0, < 2'
    - source: file://user:s3cret@/srv/gems/
file:///srv/gems/:
  gem.sources_add: []
"""
AGAIN = (
    SITE
    + """
nosuch:
  gem.installed: []
gone:
  gem.removed:
    - name: demo
"""
)


def test_gems(debian: Debian) -> None:
    debian.run("ruby", "-e", GEMS)
    debian.write(
        "/usr/local/bin/gem",
        '#!/bin/sh\necho "$@" >>/root/arguments\nexec /usr/bin/gem "$@"\n',
        0o755,
    )
    debian.tree(site=SITE, again=AGAIN)
    real = debian.results("sls", "site")
    assert real["demo"]["changes"] == {"demo": "Installed"}
    assert debian.read("ls /var/lib/gems/*/gems") == "demo-1.0"
    again = debian.results("sls", "again", code=2)
    comments = {name: result["comment"] for name, result in again.items()}
    assert "Could not find a valid gem 'nosuch'" in comments.pop("nosuch")
    assert [*comments.values()] == [
        "Installed Gem meets version requirements.",
        "Gem source is already added.",
        "Gem was successfully removed.",
    ]
    assert "s3cret" not in debian.read("cat /root/arguments")
    assert debian.read("ls /var/lib/gems/*/gems") == ""
