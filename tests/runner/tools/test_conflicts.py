# SPDX-License-Identifier: Apache-2.0
"""States that undo each other in each run: which pairs `runner check` reports, and which not."""

from __future__ import annotations

import json

import pytest
from command import Machine
from harness import own_name
from trying import REGISTRY

from runner.language.arguments.bind import known

WHOLE = 'w: {file.managed: [{name: /f}, {contents: "one\\ntwo"}]}\n'
APPENDING = "{name: /x}, {pattern: ^a}, {append_if_not_found: true}"
GRANT = "{user: zoe}, {grant: select}"
DIGITS = "AAAAC3NzaC1lZDI1NTE5AAAAIM9ZlHWFsbz2jWdL5p0Yf1aQXYqW5b0mV6gK3e4qQ5Yz"
KEY = f"{{user: zoe}}, {{name: {DIGITS}}}"
DASH = "{shell: /usr/bin/dash}, {creates: /x}"
CODES = ("undone", "written-twice", "trap")


def said(machine: Machine, text: str) -> list[dict[str, object]]:
    machine.write(web=text)
    out = machine("check", "web", "--out", "json", code=None).stdout
    return [each for each in json.loads(out)["diagnostics"] if each["code"] in CODES]


ON_APP = "{user: zoe}, {database: app.*}"
ON_TABLE = "{name: zoe}, {object_name: t}, {object_type: table}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f"a: {{ssh_auth.present: [{{user: zoe}}, {{name: 'no-pty ssh-ed25519 {DIGITS} z'}}]}}\n"
            f"b: {{ssh_auth.present: [{KEY}, {{enc: ed25519}}]}}\n",
            f"options of key {DIGITS} of zoe in .ssh/authorized_keys is set differently",
        ),
        (
            "a: {file.blockreplace: [{name: /f}, {content: x}]}\n"
            "b: {file.blockreplace: [{name: /f}, {content: y}]}\n",
            "'#-- start managed zone --' in /f is written by two states",
        ),
        (
            "a: {file.absent: [{name: /f}]}\n" + WHOLE,
            "/f is removed by file.absent a and made by file.managed w",
        ),
        (
            f"a: {{mysql_grants.absent: [{{grant: 'drop,insert(x)'}}, {ON_APP}]}}\n"
            f"b: {{mysql_grants.present: [{{grant: ALL}}, {ON_APP}]}}\n",
            "zoe@localhost: app.* loses by mysql_grants.absent a what mysql_grants.present b adds",
        ),
        (
            f"a: {{mysql_grants.present: [{{grant: insert}}, {{host: localhost}}, {ON_APP}]}}\n"
            f"b: {{mysql_grants.present: [{{grant: select}}, {{revoke_first: true}}, {ON_APP}]}}\n",
            "zoe@localhost: app.* loses by mysql_grants.present b what mysql_grants.present a adds",
        ),
        (
            f"a: {{mysql_grants.absent: [{{grant: drop}}, {ON_APP}]}}\n"
            f"b: {{mysql_grants.present: [{{grant: drop}}, {ON_APP}]}}\n",
            "zoe@localhost: app.* loses by mysql_grants.absent a what mysql_grants.present b adds",
        ),
        (
            f"a: {{postgres_privileges.present: [{{privileges: [ALL]}}, {ON_TABLE}]}}\n"
            f"b: {{postgres_privileges.absent: [{{privileges: delete}}, {ON_TABLE}]}}\n",
            "zoe: table t public loses by postgres_privileges.absent b what",
        ),
        (
            "a: {file.absent: [{name: /d/}]}\nb: {file.symlink: [{name: /d/e/f}, {target: /x}]}\n",
            "/d/e/f is removed by file.absent a and made by file.symlink b",
        ),
        (
            "a: {file.absent: [{name: /d}]}\n"
            "b: {git.latest: [{name: 'https://x.org/y'}, {target: /d}]}\n",
            "/d is removed by file.absent a and made by git.latest b",
        ),
        (
            "a: {file.absent: [{name: /f}]}\nb: {file.append: [{name: /f}, {text: x}]}\n",
            "/f is removed by file.absent a and edited by file.append b",
        ),
        (
            WHOLE + "b: {file.append: [{name: /f}, {text: [one, three]}]}\n",
            "/f is written whole by file.managed w and edited by file.append b: each run",
        ),
        (
            WHOLE + "b: {file.replace: [{name: /f}, {pattern: '^t'}, {repl: T}]}\n",
            "edited by file.replace b: each run",
        ),
        (
            WHOLE + "b: {file.line: [{name: /f}, {mode: delete}, {match: two}]}\n",
            "edited by file.line b: each run",
        ),
        (
            WHOLE + "b: {file.comment: [{name: /f}, {regex: ^two}]}\n",
            "edited by file.comment b: each run",
        ),
        (
            "w: {file.managed: [{name: /f}, {source: salt://t/x}, {template: jinja}]}\n"
            "b: {file.append: [{name: /f}, {text: x}]}\n",
            "edited by file.append b: unless it has the edit, each run",
        ),
        (
            "w: {file.managed: [{name: /f}, {source: salt://t/x}]}\n"
            "b: {ini.options_present: [{name: /f}, {sections: {a: {b: c}}}]}\n",
            "edited by ini.options_present b: unless it has the edit, each run",
        ),
        (
            "w: {file.recurse: [{name: /d}, {source: 'salt://t'}, {clean: true}]}\n"
            "b: {file.append: [{name: /d/x}, {text: z}]}\n",
            "/d/x is written whole by file.recurse w and edited by file.append b: each run",
        ),
        (
            "w: {file.recurse: [{name: /d}, {source: 'salt://t'}]}\n"
            "b: {file.managed: [{name: /d/x}, {contents: z}]}\n",
            "/d/x is written by two states",
        ),
        (
            "a: {cron.present: [{name: /b}, {minute: 0}, {hour: 3}]}\n"
            "b: {cron.present: [{name: /b}, {minute: 0}, {hour: 5}]}\n",
            "'/b' in crontab of root is written by two states",
        ),
        (
            "a: {cron.present: [{name: /b}, {identifier: x}]}\n"
            "b: {cron.present: [{name: /c}, {identifier: x}, {minute: 0}, {hour: 1}]}\n",
            "'x' in crontab of root is written by two states",
        ),
        (
            "a: {host.present: [{name: x}, {ip: 10.0.0.1}]}\n"
            "b: {file.managed: [{name: /etc/hosts}, {contents: x}]}\n",
            "/etc/hosts is written whole by file.managed b and edited by host.present a",
        ),
        (
            "a: {user.present: [{name: bob}]}\nb: {user.absent: [{name: bob}]}\n",
            "user bob is removed by user.absent b and made by user.present a",
        ),
        (
            "a: {pkg.installed: [{pkgs: [x, y]}]}\nb: {pkg.removed: [{name: y}]}\n",
            "pkg y is removed by pkg.removed b and made by pkg.installed a",
        ),
        (
            "a: {pkg.purged: [{pkgs: [x, y]}]}\nb: {pkg.latest: [{name: y}]}\n",
            "pkg y is removed by pkg.purged a and made by pkg.latest b",
        ),
        (
            "a: {cron.present: [{name: /a}, {identifier: x}]}\n"
            "b: {cron.present: [{name: /b}, {identifier: x}]}\n",
            "'x' in crontab of root is written by two states: cron.present a and cron.present b",
        ),
        (
            "a: {cron.file: [{name: 'salt://t/x'}]}\nb: {cron.file: [{name: 'salt://t/y'}]}\n",
            "crontab of root is written by two states: cron.file a and cron.file b",
        ),
        (
            "a: {sysctl.present: [{name: vm.x}, {value: 1}]}\n"
            "b: {sysctl.present: [{name: vm.x}, {value: 2}]}\n",
            "value of sysctl vm.x is set differently by two states: sysctl.present a and",
        ),
        (
            "a: {ini.options_present: [{name: /f}, {sections: {s: {k: 1, l: 1}}}]}\n"
            "b: {ini.options_present: [{name: /f}, {sections: {s: {k: 2, l: 1}}}]}\n",
            "option k in section s of /f is set differently by two states",
        ),
        (
            "a: {ini.options_present: [{name: /f}, {sections: {k: 1}}]}\n"
            "b: {ini.options_present: [{name: /f}, {sections: {k: null}}]}\n",
            "option k of /f is set differently by two states",
        ),
        (
            "a: {file.managed: [{name: /f}, {mode: '0644'}]}\n"
            "b: {file.managed: [{name: /f}, {mode: '0600'}]}\n",
            "mode of /f is set differently by two states: file.managed a and file.managed b",
        ),
        (
            "a: {file.directory: [{name: /d}, {user: bob}]}\n"
            "b: {file.directory: [{name: /d/}, {user: root}]}\n",
            "user of /d is set differently by two states",
        ),
        (
            "a: {file.managed: [{name: /f}]}\nb: {file.directory: [{name: /f}]}\n",
            "type of /f is set differently by two states: file.managed a and file.directory b",
        ),
        (
            WHOLE + "b: {file.symlink: [{name: /f}, {target: /x}]}\n",
            "/f is written by two states: file.managed w and file.symlink b",
        ),
        (
            "a: {service.dead: [{name: x}, {enable: false}]}\nb: {service.enabled: [{name: x}]}\n",
            "service x at the start of the machine is removed by service.dead a and made by",
        ),
        (
            "a: {file.append: [{name: /f}, {text: [x, y]}]}\n"
            "b: {file.line: [{name: /f}, {mode: delete}, {content: y}]}\n",
            "/f loses by file.line b what file.append a adds: each run does both",
        ),
        (
            "a: {file.line: [{name: /f}, {mode: delete}, {match: '^y'}]}\n"
            "b: {file.append: [{name: /f}, {text: y=1}]}\n",
            "/f loses by file.line a what file.append b adds: each run does both",
        ),
        (
            "a: {file.absent: [{name: /f}]}\nb: {cmd.run: [{name: make}, {creates: [/e, /f]}]}\n",
            "/f is removed by file.absent a and made by cmd.run b",
        ),
        (
            "a: {pkg.removed: [{name: x}]}\nb: {pkg.installed: [{name: x}]}\n",
            "pkg x is removed by pkg.removed a and made by pkg.installed b",
        ),
        (
            "a: {pkg.purged: [{name: x}]}\nb: {pkg.installed: [{name: x}]}\n",
            "pkg x is removed by pkg.purged a and made by pkg.installed b",
        ),
        (
            "a: {file.directory: [{name: /}, {user: bob}]}\n"
            "b: {file.directory: [{name: /}, {user: root}]}\n",
            "user of / is set differently by two states",
        ),
        (
            "a: {mysql_user.present: [{name: zoe}, {password: one}]}\n"
            "b: {mysql_user.present: [{name: zoe}, {password: two}]}\n",
            "password of mysql_user zoe is set differently by two states: mysql_user.present a and",
        ),
        (
            "a: {postgres_user.present: [{name: zoe}, {superuser: true}]}\n"
            "b: {postgres_user.present: [{name: zoe}, {superuser: false}]}\n",
            "superuser of postgres_user zoe is set differently",
        ),
        (
            "a: {user.present: [{name: zoe}, {shell: /bin/sh}, {groups: [a, b]}]}\n"
            "b: {user.present: [{name: zoe}, {shell: /bin/bash}, {groups: [b, a]}]}\n",
            "shell of user zoe is set differently by two states: user.present a and user.present b",
        ),
        (
            "Europe/Berlin: {timezone.system: []}\nUTC: {timezone.system: []}\n",
            "name of timezone.system is set differently by two states",
        ),
        (
            "a: {pkg.installed: [{pkgs: [x: '1', y: '1']}]}\n"
            "b: {pkg.installed: [{name: y}, {version: '2'}]}\n",
            "version of pkg y is set differently by two states",
        ),
        (
            "a: {pkg.installed: [{name: y}, {version: '2'}]}\nb: {pkg.latest: [{name: y}]}\n",
            "version of pkg y is set differently by two states",
        ),
        (
            "a: {iptables.set_policy: [{chain: INPUT}, {policy: DROP}]}\n"
            "b: {iptables.set_policy: [{chain: INPUT}, {policy: ACCEPT}]}\n",
            "policy of iptables.set_policy, chain INPUT is set differently",
        ),
        (
            "a: {apparmor.complain: [{name: x}]}\nb: {apparmor.enforced: [{name: x}]}\n",
            "mode of apparmor x is set differently by two states",
        ),
        (
            "a: {mysql_user.present: [{name: zoe}, {host: localhost}]}\n"
            "b: {mysql_user.absent: [{name: zoe}]}\n",
            "mysql_user zoe is removed by mysql_user.absent b and made by mysql_user.present a",
        ),
        (
            "a: {mysql_user.present: [{name: zoe}, {password: one}]}\n"
            "b: {mysql_user.present: [{name: zoe}, {password: two}, {host: localhost}]}\n",
            "password of mysql_user zoe is set differently by two states",
        ),
        (
            "a: {locale.present: [{name: de_DE.utf8}]}\n"
            "b: {locale.absent: [{name: de_DE.UTF-8}]}\n",
            "locale de_DE.utf8 is removed by locale.absent b and made by locale.present a",
        ),
        (
            "a: {acl.present: [{name: /f}, {acl_type: u}, {acl_name: zoe}, {perms: rwx}]}\n"
            "b: {acl.present: [{name: /f}, {acl_type: user}, {acl_name: zoe}, {perms: r}]}\n",
            "perms of acl /f, acl_type user, acl_name zoe is set differently by two states",
        ),
    ],
)
def test_a_pair_is_reported(text: str, words: str, machine: Machine) -> None:
    (machine.folder / "states/t").mkdir()
    (machine.folder / "states/t/x").write_text("text\n")
    (problem,) = said(machine, text)
    user = "root" if own_name().isdigit() else own_name()
    assert words.replace("of root", f"of {user}") in str(problem["message"])
    assert problem["severity"] == "warning" and problem["hint"] and problem["line"]


@pytest.mark.parametrize(
    "text",
    [
        WHOLE + "b: {file.append: [{name: /f}, {text: two}]}\n",
        WHOLE + "b: {file.replace: [{name: /f}, {pattern: three}, {repl: x}]}\n",
        WHOLE + "b: {file.line: [{name: /f}, {mode: delete}, {match: three}]}\n",
        WHOLE + "b: {file.absent: [{name: /f}, {onlyif: 'false'}]}\n",
        WHOLE + "b: {file.absent: [{name: /f}, {onchanges: [{file: w}]}]}\n",
        WHOLE + "b: {file.absent: [{name: /f2}]}\n",
        WHOLE + WHOLE.replace("w:", "b:"),
        "a: {file.managed: [{name: /f}]}\nb: {file.append: [{name: /f}, {text: x}]}\n",
        "a: {file.managed: [{name: /f}, {contents: x}, {replace: false}]}\n"
        "b: {file.append: [{name: /f}, {text: x}]}\n",
        "a: {file.blockreplace: [{name: /f}, {content: x}, {marker_start: A}]}\n"
        "b: {file.blockreplace: [{name: /f}, {content: y}, {marker_start: B}]}\n",
        "a: {file.append: [{name: /f}, {text: x}]}\nb: {file.append: [{name: /f}, {text: y}]}\n",
        "a: {file.directory: [{name: /f}, {clean: true}]}\nb: {file.managed: [{name: /f/g}]}\n",
        "w: {file.recurse: [{name: /d}, {source: 'salt://t'}, {clean: true}]}\n"
        "b: {file.managed: [{name: /d/own}, {contents: z}]}\n",
        "a: {cron.present: [{name: /b}, {identifier: x}]}\n"
        "b: {cron.present: [{name: /b}, {user: bob}]}\n",
        "a: {cron.present: [{name: /b}, {identifier: x}]}\n"
        "b: {cron.present: [{name: /b}, {identifier: y}, {minute: 0}, {hour: 1}]}\n",
        "a: {cron.present: [{name: '/b \\%F'}]}\n",
        "a: {sysctl.present: [{name: vm.x}, {value: 1}]}\n"
        "b: {sysctl.present: [{name: vm/x}, {value: '1'}]}\n"
        "c: {sysctl.present: [{name: vm.y}, {value: 2}]}\n"
        "d: {sysctl.present: [{name: vm.x}, {value: 2}, {onlyif: 'false'}]}\n",
        "a: {ini.options_present: [{name: /f}, {sections: {s: {k: 1}}}]}\n"
        "b: {ini.options_present: [{name: /f}, {sections: {s: {k: '1'}, t: {k: 2}}}]}\n"
        "c: {ini.options_present: [{name: /g}, {sections: {s: {k: 2}}}]}\n"
        "d: {ini.options_present: [{name: /f}, {sections: {s: {k: 3}}}, {unless: 'true'}]}\n",
        "a: {file.managed: [{name: /f}, {mode: '0644'}, {user: root}]}\n"
        "b: {file.managed: [{name: /f}, {mode: 0644}, {user: 0}, {dir_mode: 711}, {group: adm}]}\n"
        "e: {file.managed: [{name: /f}, {mode: 644}, {user: root}, {group: 4}]}\n"
        "c: {file.managed: [{name: /f}, {mode: keep}, {source: 'salt://t/x'}]}\n"
        "d: {file.managed: [{name: /f}, {mode: '0600'}, {onchanges: [{file: c}]}]}\n",
        "a: {file.directory: [{name: /d}, {mode: '0700'}, {children_only: true}]}\n"
        "b: {file.directory: [{name: /d}, {mode: '0755'}]}\n",
        "a: {file.symlink: [{name: /d}, {target: /e}]}\nb: {file.directory: [{name: /d}]}\n"
        "c: {file.recurse: [{name: /d}, {source: 'salt://t'}]}\n",
        "a: {service.dead: [{name: x}]}\nb: {service.enabled: [{name: x}]}\n",
        "a: {service.dead: [{name: x}, {enable: false}, {runlevels: [boot]}]}\n"
        "b: {service.enabled: [{name: x}]}\n",
        "a: {service.dead: [{name: x}, {enable: false}]}\nb: {service.enabled: [{name: y}]}\n",
        "a: {file.append: [{name: /f}, {text: x}]}\n"
        "b: {file.line: [{name: /f}, {mode: delete}, {match: '^y'}]}\n"
        "c: {file.line: [{name: /f}, {mode: delete}, {match: '^x'}, {onlyif: 'false'}]}\n",
        "a: {file.absent: [{name: /f}]}\nb: {cmd.run: [{name: make}, {creates: /g}]}\n"
        "c: {cmd.run: [{name: make}, {creates: /f}, {onlyif: 'false'}]}\n"
        "d: {cmd.wait: [{name: make}, {creates: /f}]}\n",
        "a: {pkg.purged: [{name: x}]}\nb: {pkg.installed: [{name: y}]}\n",
        "a: {mysql_user.present: [{name: zoe}, {password: one}]}\n"
        "b: {mysql_user.present: [{name: zoe}, {password: two}, {host: '%'}]}\n"
        "c: {mysql_user.present: [{name: zoe}, {password: one}]}\n",
        "a: {user.present: [{name: zoe}, {uid: 7}, {gid: 7}, {groups: [x]}]}\n"
        "b: {user.present: [{name: zoe}, {uid: '7'}, {gid: zoe}, {groups: [y]},"
        " {remove_groups: false}, {password: '*'}]}\n"
        "c: {user.present: [{name: zoe}, {enforce_password: false}, {password: '!'}]}\n",
        "a: {mysql_database.present: [{name: x}, {character_set: utf8}]}\n"
        "b: {mysql_database.present: [{name: x}, {character_set: UTF8}]}\n"
        "c: {mysql_database.present: [{name: x}, {character_set: latin1},"
        " {connection_default_file: /f}]}\n",
        "a: {mount.mounted: [{name: /m}, {device: d}, {fstype: ext4}, {opts: 'rw,noatime'}]}\n"
        "b: {mount.mounted: [{name: /m}, {device: d}, {fstype: ext4}, {opts: [noatime, rw]}]}\n",
        "a: {selinux.boolean: [{name: x}, {value: true}]}\n"
        "b: {selinux.boolean: [{name: x}, {value: 'on'}]}\n",
        "a: {user.present: [{name: zoe}, {home: /home/zoe/}]}\n"
        "b: {user.present: [{name: zoe}, {home: /home/zoe}]}\n",
        "a: {pkgrepo.managed: [{name: deb http://x y z}, {file: /f}, {humanname: one}]}\n"
        "b: {pkgrepo.managed: [{name: deb http://x y z}, {file: /f}, {humanname: two}]}\n",
        "a: {pkg.installed: [{name: y}, {version: '2'}]}\n"
        "b: {pkg.installed: [{pkgs: [y, x: '1']}]}\n"
        "c: {pkg.installed: [{name: y}, {version: '>=1'}]}\n",
        "a: {postgres_extension.present: [{name: x}, {schema: a}, {maintenance_db: one}]}\n"
        "b: {postgres_extension.present: [{name: x}, {schema: b}, {maintenance_db: two}]}\n",
        "a: {docker_container.running: [{name: x}, {image: nginx}]}\n"
        "b: {docker_container.running: [{name: x}, {image: 'nginx:latest'}]}\n",
        "a: {lvm.lv_present: [{name: x}, {vgname: v}, {size: 1G}]}\n"
        "b: {lvm.lv_present: [{name: x}, {vgname: v}, {size: 1024M}]}\n",
        "a: {swap.file: [{name: /x}, {size: 1G}]}\nb: {swap.file: [{name: /x}, {size: 1024M}]}\n",
        "a: {acl.present: [{name: /f}, {acl_type: u}, {acl_name: zoe}, {perms: rwx}]}\n"
        "b: {acl.present: [{name: /f}, {acl_type: user}, {acl_name: zoe}, {perms: xwr}]}\n"
        "c: {acl.present: [{name: /f}, {acl_type: user}, {acl_name: zoe}, {perms: 7}]}\n",
        "a: {locale.system: [{name: en_US.utf8}]}\nb: {locale.system: [{name: en_US.UTF-8}]}\n",
        "a: {rabbitmq_policy.present: [{name: x}, {pattern: y}, {definition: {a: 1}}]}\n"
        "b: {rabbitmq_policy.present: [{name: x}, {pattern: y}, {definition: '{\"a\": 1}'}]}\n",
    ],
)
def test_states_that_get_on_are_not(text: str, machine: Machine) -> None:
    (machine.folder / "states/t").mkdir()
    (machine.folder / "states/t/x").write_text("text\n")
    assert said(machine, text) == []


NOTHING = {  # with arguments that say how, when or whether; or what only adds
    "at",
    "cmd",
    "composer",
    "debconf",
    "docker_compose",
    "docker_image",
    "environ",
    "event",
    "http",
    "kmod",
    "mysql_query",
    "npm",
    "pip",
    "postgres_cluster",
    "postgres_initdb",
    "postgres_language",
    "process",
    "rabbitmq_cluster",
    "rabbitmq_plugin",
    "raid",
    "saltutil",
    "ssh_known_hosts",
    "supervisord",
    "system",
    "btrfs",
    "test",
}


def test_each_module_says_what_it_decides() -> None:
    silent, unknown = set(), []
    for module in REGISTRY.state_modules():
        names = [*REGISTRY.state_functions(module)]
        unknown_meanings = {*(REGISTRY.state(f"{module}.{names[0]}").hook("MEANS") or ())}
        for name in names:
            function = REGISTRY.state(f"{module}.{name}")
            decided = (function.hook("DECIDES") or {}).get(name)
            arguments = known(function.function)
            unknown_meanings -= arguments
            if decided:
                words = (
                    decided.replace(":", " ").split()
                    + (function.hook("TOLD_APART_BY") or "").split()
                )
                unknown += [f"{module}.{name}: {word}" for word in {*words} - {"*"} - arguments]
            if not (function.hook("DECIDES") or function.hook("owns")) and arguments - {"name"}:
                silent.add(module)
        unknown += [f"{module}: {word}" for word in unknown_meanings]
    assert unknown == [], "no such argument"
    assert silent == NOTHING, "`DECIDES` of the module (runner/api/state_module.py) has to say"


def test_states_of_two_environments_are_not_compared(machine: Machine) -> None:
    machine.write(
        top="base: {'*': [web]}\ndev: {'*': [own]}\n",
        web="a: {sysctl.present: [{name: vm.x}, {value: 1}]}\n",
    )
    dev = machine.folder / "dev"
    dev.mkdir()
    (dev / "own.sls").write_text("b: {sysctl.present: [{name: vm.x}, {value: 2}]}\n")
    machine.config["file_roots"] = {"base": ["states"], "dev": [str(dev)]}
    out = machine.document("check", code=None)["diagnostics"]
    assert [each for each in out if each["code"] in CODES] == []


def test_the_later_one_is_named_with_the_place_of_the_other(machine: Machine) -> None:
    text = "later:\n  file.absent:\n    - name: /f\nfirst:\n  file.touch:\n    - name: /f\n"
    (problem,) = said(machine, text)
    assert (problem["line"], problem["column"]) == (6, 7)
    assert "web.sls:3:7" in str(problem["hint"])


def test_a_value_that_the_pillar_lacks(machine: Machine) -> None:
    machine.write(pillar__top="base: {'*': [x]}", pillar__x="here: {a: 1}")
    text = "/f: {file.managed: [{contents_pillar: KEY}]}\n"
    (problem,) = said(machine, text.replace("KEY", "['here:a', 'here:b']"))
    assert problem["message"] == (
        "file.managed: contents_pillar: the pillar of this machine has no here:b"
    )
    assert said(machine, text.replace("KEY", "here:a")) == []
    machine.write(top="base: {other: [web]}", web=text.replace("KEY", "nosuch"))
    out = machine.document("check", code=None)["diagnostics"]
    assert [each for each in out if each["code"] == "trap"] == [], "another machine's"


@pytest.mark.parametrize(
    ("times", "message", "at"),
    [
        ("{hour: 5}", "without `minute` it runs in each minute of each hour that is meant", "hour"),
        (
            "{dayweek: 0}",
            "without `minute` it runs in each minute of each hour that is meant",
            "dayweek",
        ),
        (
            "{minute: 0}, {month: 2}",
            "without `hour` it runs in each hour of each day that",
            "month",
        ),
        (
            "{minute: 0}, {hour: 1}, {daymonth: 1-7}, {dayweek: 1}",
            "cron goes by either: on these days of the month, and on these of the week",
            "dayweek",
        ),
        (
            "{minute: 0}, {hour: 1}, {daymonth: '30,31'}, {month: 2}",
            "it never runs: there is no such day",
            "daymonth",
        ),
        ("{minute: '*/45'}", "cron counts from 0 in each hour: it runs at 0 and at 45", "minute"),
        (
            "{minute: 5}, {hour: '*/16'}",
            "cron counts from 0 in each day: it runs at 0 and at",
            "hour",
        ),
        ("{minute: '*'}, {hour: 5}", "", ""),
        ("{minute: random}", "", ""),
        ("{hour: '*'}", "", ""),
        ("{special: '@daily'}", "", ""),
        ("{minute: '*/15'}, {hour: '*/12'}, {daymonth: '*/2'}, {dayweek: 1}", "", ""),
        ("{minute: 0}, {hour: 1}, {daymonth: '1,31'}, {month: 2}", "", ""),
        ("{minute: 0}, {hour: 1}, {daymonth: 31}, {month: 1-4}", "", ""),
    ],
)
def test_times_of_cron_that_are_not_meant(
    machine: Machine, times: str, message: str, at: str
) -> None:
    text = f"a: {{cron.present: [{{name: echo x}}, {times}]}}\n"
    found = said(machine, text)
    assert len(found) == bool(message), found
    for problem in found:
        assert str(problem["message"]).startswith(f"cron.present: {message}")
        assert problem["code"] == "trap" and text[problem["column"] - 1 :].startswith(at)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            r"file.replace: [{name: /x}, {pattern: (a)b}, {repl: '\110.0.0.1'}]",
            r"repl: \110 is the",
        ),
        (r"file.replace: [{name: /x}, {pattern: (a)b}, {repl: '\g<1>10 \\110 \1 10'}]", ""),
        ("cmd.run: [{name: x}, {env: [{PATH: '/opt/bin:$PATH'}]}]", "env: no shell reads"),
        ("cmd.run: [{name: x}, {env: {LIBS: 'a ${LIBS}'}}]", "env: no shell reads"),
        ("cmd.run: [{name: x}, {env: [{PASS: 'a$b'}, {P: $PASS}]}]", ""),
        (rf"file.replace: [{APPENDING}, {{repl: 'a\d'}}]", "repl: where nothing matches it"),
        (rf"file.replace: [{APPENDING}, {{repl: 'a\d'}}, {{not_found_content: ad}}]", ""),
        (rf"file.replace: [{APPENDING}, {{repl: 'a\d'}}, {{backslash_literal: true}}]", ""),
        (rf"mysql_grants.present: [{GRANT}, {{database: 'a\_%.*'}}]", "on a database that is"),
        (rf"mysql_grants.present: [{GRANT}, {{database: 'a\_%.*'}}, {{escape: false}}]", ""),
        (f"mysql_grants.present: [{GRANT}, {{database: a_b.*}}]", ""),
        (
            "mysql_user.present: [{name: bob@web}, {password: x}]",
            "bob@web is taken for the user of",
        ),
        ("mysql_user.present: [{name: bob@web}, {host: '%'}, {password: x}]", ""),
        (
            "mysql_grants.absent: [{grant: all}, {database: a.*}, {user: bob@web}]",
            "user: bob@web is",
        ),
        (f"ssh_auth.present: [{KEY}]", "the key is one of ssh-ed25519, and sshd passes over it"),
        (f"ssh_auth.present: [{KEY}, {{enc: ed25519}}]", ""),
        (f"ssh_auth.present: [{KEY[:-8]}}}, {{enc: ed25519}}]", "a part of the key is missing"),
        (f"ssh_auth.manage: [{{user: zoe}}, {{ssh_keys: [{DIGITS}]}}]", "one of ssh-ed25519, and"),
        (f"ssh_auth.present: [{{user: zoe}}, {{name: ssh-ed25519 {DIGITS}}}]", ""),
        (f"ssh_auth.present: [{KEY}, {{enc: ed25519}}, {{options: [from=::1]}}]", "value of from"),
        (
            f"""ssh_auth.present: [{KEY}, {{enc: ed25519}}, {{options: 'from="::1,a",no-pty'}}]""",
            "",
        ),
        (
            "cron.present: [{name: '*/5 3 * * mon /bin/x'}]",
            "the times of the line, '*/5 3 * * mon'",
        ),
        ("cron.present: [{name: '@daily /bin/x'}]", "the times of the line, '@daily'"),
        ("cron.present: [{name: 7z a x 1 2 3 4 y}]", ""),
        ("cron.env_present: [{name: PATH}, {value: '/bin:$HOME/bin'}]", "cron puts nothing"),
        ("cron.env_present: [{name: COST}, {value: '5$ a day'}]", ""),
        ("file.absent: [{name: /etc/x/*.conf}]", "no shell reads /etc/x/*.conf"),
        ("file.directory: [{name: /x}, {mode: 644}]", "mode: a directory of mode 644 can be"),
        ("file.directory: [{name: /x}, {dir_mode: '2640'}]", "dir_mode: a directory of mode 2640"),
        ("file.directory: [{name: /x}, {mode: '2750'}, {file_mode: 644}]", ""),
        ("file.directory: [{name: /x}, {mode: 711}]", ""),
        ("pkg.installed: [{name: git vim}]", "'git vim' is taken for the name of one package"),
        ("pkg.installed: [{name: nginx=1.18}]", "'nginx=1.18' is taken for the name of one"),
        ("pkg.installed: [{name: '@Development Tools'}]", ""),
        ("pkg.installed: [{name: our tools}, {pkgs: [git, vim]}]", ""),
        ("cmd.run: [{name: x}, {unless: [-f /x]}]", "unless: YAML reads brackets as a list, and"),
        ("cmd.run: [{name: x}, {unless: '[ -f /x ]'}]", ""),
        ("cmd.run: [{name: x}, {creates: ~/x}]", "creates: ~/x is looked for below the directory"),
        ("cmd.run: [{name: x}, {creates: [/x, $HOME/x]}]", "creates: $HOME/x is looked for below"),
        (
            f"cmd.run: [{{name: '[[ -f /x ]]'}}, {DASH}]",
            "/dash reads it, which does not know bash's `[[`",
        ),
        (f"cmd.run: [{{name: set -euo pipefail}}, {DASH}]", "bash's `set -euo pipefail`"),
        (f"cmd.run: [{{name: a; source ~/x}}, {DASH}]", "bash's `source`"),
        (f"cmd.run: [{{name: x=(1 2)}}, {DASH}]", "bash's `x=(`"),
        (f"cmd.run: [{{name: diff <(a) b}}, {DASH}]", "bash's `<(`"),
        (f"cmd.run: [{{name: apt-get source x}}, {DASH}]", ""),
        (f"""cmd.run: [{{name: "awk '$1>(2)' x"}}, {DASH}]""", ""),
        ("cmd.run: [{name: '[[ -f /x ]]'}, {creates: /x}, {shell: /bin/bash}]", ""),
    ],
)
def test_what_is_read_otherwise_than_it_is_meant(
    machine: Machine, state: str, message: str
) -> None:
    found = [str(each["message"]) for each in said(machine, f"a: {{{state}}}\n")]
    assert len(found) == bool(message) and all(message in each for each in found), found


COMMENT = "what begins with # is a comment for YAML, and nothing is left"
LOST = " for YAML, and lost"
QUOTED = "put it in quotes: '{}'".format


def test_an_exclamation_mark_that_yaml_drops_is_named(machine: Machine) -> None:
    text = "a:\n  cmd.run:\n    - name: x\n    - unless: ! test -f /x\n    - onlyif:\n"
    text += "      - '! test -f /y'\n      - ! test -f /z\n      - !!str x\n"
    found = [(each["line"], each["message"], each["hint"]) for each in said(machine, text)]
    assert found == [
        (
            4,
            "unless: the ! before 'test -f /x' is a tag for YAML, and lost",
            "put it in quotes: '! test -f /x'",
        ),
        (
            7,
            "onlyif: the ! before 'test -f /z' is a tag for YAML, and lost",
            "put it in quotes: '! test -f /z'",
        ),
    ]


def test_what_yaml_takes_off_a_text_is_named(machine: Machine) -> None:
    text = (
        "b:\n  cmd.run:\n    - name: ! test -f /x\n    - creates: /x\n"
        "c:\n  cmd.run:\n    - name: #true\n    - creates: /x\n"
        "/x:\n  file.line:\n    - mode: ensure\n    - content: #Port 22\n    - after: x # y\n"
        "d:\n  cmd.run:\n    - unless: &loop x\n    - onlyif: &used 'true'\n"
        "    - success_stdout: *used\n"
        "e:\n  cmd.run:\n    - unless: ‘true’\n    - onlyif: '‘true’'\n    - env: # none\n"
    )
    found = [(each["line"], each["message"], each["hint"]) for each in said(machine, text)]
    assert found == [
        (3, f"name: the ! before 'test -f /x' is a tag{LOST}", QUOTED("! test -f /x")),
        (7, "name: " + COMMENT, QUOTED("#true")),
        (12, "content: " + COMMENT, QUOTED("#Port 22")),
        (
            16,
            "unless: the &loop before 'x' is an anchor for YAML, and lost",
            QUOTED("&loop x"),
        ),
        (21, "unless: ‘ is a letter for YAML, no quote", "write the plain quotes ' or \""),
    ]


def test_a_module_of_the_tree_says_its_own(machine: Machine) -> None:
    own = machine.folder / "states/_states/box.py"
    own.parent.mkdir()
    own.write_text(
        "from runner.api.claims import PRESENT, Claim, Trap\n"
        "def made(name):\n    return 'made'\n    yield\n"
        "def owns(fun, name, **_):\n    yield Claim(PRESENT, name)\n"
        "def traps(fun, name, **_):\n    yield Trap('name', 'boxes leak', 'take two')\n"
    )
    text = "/b: {box.made: []}\na: {file.absent: [{name: /b}]}\n"
    trap, pair = said(machine, text)
    assert (trap["code"], trap["message"], trap["hint"]) == (
        "trap",
        "box.made: boxes leak",
        "take two",
    )
    assert "made by box.made /b" in str(pair["message"])
