# SPDX-License-Identifier: Apache-2.0
"""A real gem, with a repository of gems that is made here; what asks a server without a network."""

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


UNREACHABLE = """
nosuch:
  gem.installed: []
/root/page:
  file.managed:
    - source: http://gems.example.com/page
    - skip_verify: true
http://gems.example.com/cached:
  file.cached:
    - skip_verify: true
http://gems.example.com/repository.git:
  git.latest:
    - target: /root/repository
http://127.0.0.1:9/page:
  file.cached:
    - skip_verify: true
below:
  cmd.run:
    - name: "true"
    - creates: /root/repository/file
"""


def test_without_a_network_a_dry_run_is_undecided(debian: Debian) -> None:
    """What a server has is not known; the real run fails."""
    debian.tree(far=UNREACHABLE)
    planned = debian.results("sls", "far", "--test", code=2)
    near = planned.pop("http://127.0.0.1:9/page")
    assert near["result"] is False and "Connection refused" in near["comment"]
    for name, result in planned.items():
        assert result["result"] is None, name
        assert not result["changes"], name
        if name != "below":
            assert "is not known, as this machine has no network: " in result["comment"], result
    assert planned["nosuch"]["comment"].startswith("What gem would install is not known, ")
    assert planned["below"]["__decided_by__"].startswith("git: ")
    real = debian.results("sls", "far", code=2)
    assert real.pop("below")["changes"]
    assert not any(result["result"] for result in real.values())
