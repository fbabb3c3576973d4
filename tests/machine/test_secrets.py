# SPDX-License-Identifier: Apache-2.0
"""Values of the pillar that are encrypted with age: for the machine's own ssh key, and others."""

from __future__ import annotations

import json

from debian import Debian

FILE = "/srv/runner/pillar/s.sls"


def test_age(debian: Debian) -> None:
    debian.run("ssh-keygen -A; age-keygen -o /root/other.key 2>/dev/null")
    host = debian.read("cut -d' ' -f1,2 /etc/ssh/ssh_host_ed25519_key.pub")
    other = debian.read("age-keygen -y /root/other.key")
    config = {"age_recipients": [host, other]}
    debian.write("/etc/runner/runner.yaml", json.dumps(config))
    assert debian.runner("secret", "recipients").stdout.split("\n")[:2] == [host, other]
    line = debian.read("printf hunter2 | runner secret encrypt")
    assert line.startswith("age:") and "\n" not in line
    armor = debian.read(f"printf 'by armor' | age -a -r '{host}' | sed 's/^/    /'")
    debian.write("/srv/runner/pillar/top.sls", "base: {'*': [s]}")
    debian.write(
        FILE,
        f"#!jinja|yaml|age\nsecrets:\n  one: {line}\n  two: |\n{armor}\n  three: [a, {line}]\n",
        0o640,
    )
    template = "{{ pillar.secrets.one }}/{{ pillar.secrets.two }}/{{ pillar.secrets.three[1] }}"
    debian.tree(show=f"/root/out:\n  file.managed:\n    - contents: {template}\n")
    shown = debian.runner("sls", "show").stdout
    assert "hunter2" not in shown and debian.read("cat /root/out") == "hunter2/by armor/hunter2"
    debian.run(f"EDITOR='sed -i 0,/hunter2/s//changed/' runner secret edit {FILE}")
    assert debian.read(f"stat -c %a {FILE}") == "640"
    debian.runner("sls", "show")
    assert debian.read("cat /root/out") == "changed/by armor/hunter2", "three is as it was"
    debian.write("/root/add", "echo '  four: DEC::AGE[new]!' >>$1\n")
    debian.run(f"EDITOR='sh /root/add' runner secret edit {FILE}")
    assert "AGE[" not in debian.read(f"cat {FILE}")
    debian.tree(show="/root/out:\n  file.managed:\n    - contents: {{ pillar.secrets.four }}\n")
    debian.runner("sls", "show")
    assert debian.read("cat /root/out") == "new"
    assert debian.read("ls /dev/shm") == "", "no plain text is left"
    # for the other one alone: this machine can no longer read it
    debian.run(f"runner secret rekey {FILE} --recipient {other}")
    failed = debian.runner("sls", "show", code=1).stderr
    assert f"{FILE}:3" in failed and "the age message cannot be decrypted" in failed
    assert "age_identities says which keys decrypt" in failed
    debian.write("/etc/runner/runner.yaml", json.dumps({"age_identities": ["/root/other.key"]}))
    debian.run("sed -i 's/four/five/' /srv/runner/states/show.sls; sed -i 's/four/five/' " + FILE)
    debian.runner("sls", "show")
    before = debian.read(f"cat {FILE}")
    missing = debian.runner("secret", "rekey", FILE, code=1).stderr
    assert "nobody is named who could decrypt it" in missing
    bad = debian.runner("secret", "rekey", FILE, "--recipient", "nonsense", code=1).stderr
    assert "nonsense" in bad and debian.read(f"cat {FILE}") == before
