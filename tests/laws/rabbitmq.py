# SPDX-License-Identifier: Apache-2.0
"""How RabbitMQ is tried: with programs that answer as rabbitmqctl and rabbitmq-plugins 3.10 do
(recorded), and keep what there is in files. A real server takes 20 seconds of CI for each start.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laws import in_folder

START = """#!/bin/sh
cd "$(dirname "$0")/../have" || exit
test "$1" = -q && shift
command=$1; shift
table() { # the lines of a file as JSON, like rabbitmqctl: a line each, with commas between them
    echo '['; sed '2,$s/^/,/' "$1"; echo ']'
}
error() { printf 'Error:\\n%s\\n' "$2" >&2; exit $1; }
"""
CTL = r"""
test -e down && error 69 "unable to perform an operation on node 'rabbit@m'. Please see
diagnostics information and suggestions below."
case "$command $*" in
'list_users '*) table users;;
'list_vhosts '*) table vhosts;;
list_user_permissions*) test -e perms-$1 && table perms-$1 || echo '[]';;
'list_policies -p / '*) table policies;;
list_policies*) printf "Virtual host '%s' does not exist\n" "$2" >&2; exit 65;;
list_parameters*) table parameters;;
cluster_status*) echo "{\"disk_nodes\":[\"$(cat node)\"],\"ram_nodes\":[],\"running_nodes\":[]}";;
'authenticate_user zoe') read secret; test "$secret" = one && echo Success ||
    error 65 "Error: failed to authenticate user \"zoe\""
    ;;
add_user*) read secret; test "$1" = broken && error 70 'no'
    echo "{\"user\":\"$1\",\"tags\":[]}" >>users;;
change_password*) sed -i 's/.*/changed/' secrets;;
clear_password*) ;;
delete_user*) sed -i "/\"$1\"/d" users;;
'set_user_tags zoe') sed -i '/zoe/s/\[.*\]/[]/' users;;
set_user_tags*) sed -i "/\"$1\"/s/\[.*\]/[\"$2\"]/" users;;
'set_permissions -p /none'*) error 69 'Virtual host /none does not exist';;
set_permissions*) printf '{"vhost":"%s","configure":"%s","write":"%s","read":"%s"}\n' \
    "$2" "$5" "$6" "$7" >perms-$4;;
add_vhost*) test "$1" = broken && error 70 'no'; echo "{\"name\":\"$1\"}" >>vhosts;;
delete_vhost*) sed -i "\\#\"$1\"#d" vhosts;;
*nosuch*) error 69 'Validation failed

[{<<"nosuch">>,5}] are not recognised policy settings';;
set_policy*) priority=0; to=all; shift 2
    test "$1" = --priority && priority=$2 && shift 2
    test "$1" = --apply-to && to=$2 && shift 2
    definition=$(printf %s "$4" | sed 's/"/\\"/g')
    sed -i "/\"name\":\"$2\"/d" policies
    printf '{"vhost":"/","name":"%s","pattern":"%s","apply-to":"%s","definition":"%s","priority":%s}
' "$2" "$3" $to "$definition" $priority >>policies;;
clear_policy*) sed -i "/\"name\":\"$3\"/d" policies;;
import_definitions*) cat >definitions; grep -q '"far' definitions && error 69 'no such component'
    sed 's/.*"name": "\([^"]*\)", "value": \(.*\)}]}$/\1 \2/' definitions | (read -r name value
    value=$(printf %s "$value" | sed 's/"/\\"/g')
    printf '{"component":"federation-upstream","name":"%s","value":"%s"}\n' $name "$value" \
    >parameters);;
clear_parameter*) : >parameters;;
stop_app*|start_app*) ;;
join_cluster*) case $* in *rabbit@lost) error 69 'Could not contact rabbit@lost'; esac
    for word; do echo $word >node; done;;
*) error 64 "not recorded: $command $*"
esac
"""
PLUGINS = r"""
case "$command $*" in
'list -m -e') cat enabled;;
'list -m') printf 'rabbitmq_federation\nrabbitmq_management\nrabbitmq_broken\n';;
'enable rabbitmq_broken') error 70 '{:enabled_plugins_mismatch}';;
enable*) echo $1 >>enabled;;
disable*) sed -i "/^$1$/d" enabled;;
esac
"""
HAVE = {
    "users": '{"user":"zoe","tags":["monitoring"]}\n{"user":"guest","tags":["administrator"]}\n',
    "secrets": "one\n",
    "vhosts": '{"name":"/"}\n{"name":"/old"}\n',
    "perms-zoe": '{"vhost":"/","configure":"^a","write":".*","read":""}\n',
    "policies": '{"vhost":"/","name":"ha","pattern":"^a","apply-to":"all",'
    '"definition":"{\\"max-length\\":5}","priority":3}\n',
    "parameters": '{"component":"federation-upstream","name":"up",'
    '"value":"{\\"uri\\":\\"amqp://u:p@h\\"}"}\n',
    "enabled": "rabbitmq_management\n",
    "node": "rabbit@m\n",
}


def having(also: str = "") -> Callable[[Path], None]:
    """The programs, and what the server has. also: a file that is there beside."""

    def setup(tmp: Path) -> None:
        for folder in ("bin", "have"):
            (tmp / folder).mkdir()
        for name, text in {"rabbitmqctl": CTL, "rabbitmq-plugins": PLUGINS}.items():
            program = tmp / "bin" / name
            program.write_text(START + text)
            program.chmod(0o755)
        for name, text in {**HAVE, **({also: ""} if also else {})}.items():
            (tmp / "have" / name).write_text(text)
        os.environ["PATH"] = f"{tmp}/bin:{os.environ['PATH']}"

    return setup


def without_programs(tmp: Path) -> None:
    os.environ["PATH"] = str(tmp)


on = in_folder("rabbitmq_", having())


DOWN = "unable to perform an operation on node 'rabbit@m'"
LIMIT = {"pattern": "^a", "definition": {"max-length": 5}}
UPSTREAM: dict[str, Any] = {
    "prefetch_count": 10,
    "reconnect_delay": 5,
    "ack_mode": "on-confirm",
    "max_hops": 2,
    "trust_user_id": True,
    "exchange": "x",
    "expires": 1000,
    "message_ttl": 1000,
    "ha_policy": "all",
    "queue": "q",
    "runas": "root",
}
SCENARIOS = [
    on("user.present name=new tags=a runas=root", perms=[{"/": ["^a", ".*", ""]}]),
    on("user.present name=zoe password=one force=true tags=[monitoring]", plans=False),
    on("user.present name=zoe", plans=False, perms=[{"/": ["^a", ".*", ""]}]),
    on("user.present name=zoe perms='[{/: [^b,.*,.*]}]' tags=[]"),
    on("user.present", name="zoe", password="two", converges=False),  # the recorded one stays
    on("user.present name=zoe force=true", converges=False),
    on("user.present name=zoe perms='[{/: [a]}]'", fails="expected three regular expressions"),
    on("user.present name=zoe", perms=[{"/none": ["", "", ""]}], breaks="/none does not exist"),
    on("user.present name=broken", breaks="Failed to configure 'broken': rabbitmqctl add_user:"),
    on("user.present name=zoe", having("down"), fails=DOWN),
    on("user.present name=zoe", without_programs, fails="rabbitmqctl is missing: it comes with"),
    on("user.absent name=guest runas=root"),
    on("user.absent name=nobody", plans=False),
    on("vhost.present name=/app"),
    on("vhost.present name=/", plans=False),
    on("vhost.present name=broken", breaks="Failed to create the virtual host 'broken'"),
    on("vhost.absent name=/old"),
    on("vhost.absent name=/app", plans=False),
    on("policy.present name=new priority=1 apply_to=queues vhost=/ runas=root", **LIMIT),
    on("policy.present name=ha priority=3", plans=False, **LIMIT),
    on("policy.present name=ha pattern=^a priority=3", plans=False, definition='{"max-length":5}'),
    on("policy.present name=ha pattern=^b definition='{max-length: 6}'"),
    on("policy.present name=x vhost=/none", **LIMIT, fails="Virtual host '/none' does not"),
    on("policy.present name=x pattern=x definition={", fails="definition is no JSON"),
    on("policy.present name=x pattern=x definition='{nosuch: 5}'", breaks="not recognised"),
    on("policy.absent name=ha vhost=/ runas=root"),
    on("policy.absent name=other", plans=False),
    on("policy.absent name=ha vhost=/none", plans=False),
    on("plugin.enabled name=rabbitmq_federation runas=root"),
    on("plugin.enabled name=rabbitmq_management", plans=False),
    on("plugin.enabled name=nosuch", fails="There is no plugin 'nosuch'"),
    on("plugin.enabled name=rabbitmq_broken", breaks="Failed to enable the plugin"),
    on("plugin.disabled name=rabbitmq_management runas=root"),
    on("plugin.disabled name=rabbitmq_federation", plans=False),
    on("upstream.present name=new uri=amqp://u:p@h", **UPSTREAM),
    on("upstream.present name=up uri=amqp://other"),
    on("upstream.present name=up uri=amqp://u:p@h", plans=False),
    on("upstream.present name=far uri=amqp://h", breaks='Failed to set the upstream "far"'),
    on("upstream.absent name=up runas=root"),
    on("upstream.absent name=other", plans=False),
    on("cluster.joined name=x host=other user=rabbit ram_node=true runas=root"),
    on("cluster.joined name=x host=m", plans=False),
    on("cluster.joined name=x host=lost", breaks="Failed to join cluster rabbit@lost: rabb"),
    on("cluster.join name=x host=m", plans=False),
]
