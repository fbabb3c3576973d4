# SPDX-License-Identifier: Apache-2.0
"""The manual of the configuration: what the annotations of settings have (`Options`, and
`PartSettings` of keys.py), and the pages of the keys that lie below another one.
"""

from __future__ import annotations

from collections.abc import Mapping

from runner.model.records import Record

MACHINE = "This machine"
FILES = "Files of the configuration"
TREE = "The tree"
TOP_FILES = "Top files"
COMPILING = "Rendering and compiling"
RUNNING = "Running"
PILLAR = "The pillar"
SECRETS = "Secrets"
REPORTS = "Reports and logs"
MODULES = "Modules"  # their keys have dots; those of others lie below another key
FLEET = "Many machines"
REPOSITORIES = "Git repositories"
GROUPS = (  # in the order of the reference
    MACHINE,
    FILES,
    TREE,
    TOP_FILES,
    COMPILING,
    RUNNING,
    PILLAR,
    SECRETS,
    REPORTS,
    MODULES,
    FLEET,
    REPOSITORIES,
)


class Key(Record):
    """What the manual says of a key.

    example: YAML, with the key. default: in words, where it is no constant of the program; type:
    where its annotation does not say it.
    """

    group: str
    about: str
    example: str
    unit: str = ""
    default: str = ""
    type: str = ""


BELOW: Mapping[str, Key] = {
    "tree.remote": Key(
        TREE,
        "The repository: a URL, `user@host:path`, or a path.",
        "tree:\n  remote: git@git.example.org:ops/site.git",
        default="has to be given",
        type="a text",
    ),
    "tree.ref": Key(
        TREE,
        "The branch, tag or commit that is applied.",
        "tree:\n  ref: production",
        type="a text",
    ),
    "tree.verify": Key(
        TREE,
        "Who has to have signed the commit: `ssh` with a file of allowed signers, or"
        " `gpg` with a keyring.",
        "tree:\n  verify:\n    ssh: allowed_signers",
        default="no signature is needed",
        type="a mapping",
    ),
    "tree.rollback": Key(
        TREE,
        "Whether a commit is taken that does not descend from the one applied last.",
        "tree:\n  rollback: allow",
        default="refuse",
        type="one of refuse, allow",
    ),
    "tree.sparse": Key(
        TREE,
        "The folders and files of the repository that are checked out.",
        "tree:\n  sparse: [states, pillar, runner.yaml]",
        default="all",
        type="a list",
    ),
    "tree.deploy_key": Key(
        TREE,
        "The ssh key for the repository; it has no passphrase.",
        "tree:\n  deploy_key: /etc/runner/deploy_key",
        default="those of ssh itself",
        type="a text",
    ),
    "tree.fetch_timeout": Key(
        TREE,
        "How long a fetch may take.",
        "tree:\n  fetch_timeout: 2m",
        unit="seconds; with `s`, `m` or `h` also minutes and hours",
        type="a number or a text",
    ),
    "tree.keep": Key(
        TREE,
        "How many trees stay on the disk, the current one included.",
        "tree:\n  keep: 5",
        unit="trees",
        type="a whole number",
    ),
    "foresee.packages": Key(
        RUNNING,
        "Whether a dry run knows what is in the packages that it plans: `auto` fetches them into"
        " the package manager's cache where the machine has a network, `cache` goes by what lies"
        " there already, `never` takes it for unknown.",
        "foresee:\n  packages: cache",
        default="auto",
        type="one of auto, cache, never",
    ),
    "foresee.downloads": Key(
        RUNNING,
        "Whether a dry run fetches what states take from `http`, `https` and `ftp` into the cache;"
        " else those whose source has to be fetched are undecided.",
        "foresee:\n  downloads: false",
        default="true",
        type="true or false",
    ),
    "foresee.size": Key(
        RUNNING,
        "How much a dry run fetches; what would be more stays unknown, with a warning.",
        "foresee:\n  size: 2048",
        unit="MiB",
        default="512",
        type="a whole number",
    ),
    "foresee.seconds": Key(
        RUNNING,
        "How long a dry run fetches.",
        "foresee:\n  seconds: 600",
        unit="seconds",
        default="180",
        type="a number",
    ),
    "report.to": Key(
        REPORTS,
        "The address: PostgreSQL, https, a folder, or a folder behind ssh.",
        "report:\n  to: https://collector.example.org/reports",
        default="has to be given",
        type="a text",
    ),
    "report.timeout": Key(
        REPORTS,
        "How long a run waits for the delivery; what is not delivered is tried again by"
        " the next run.",
        "report:\n  timeout: 30",
        unit="seconds, up to 300",
        type="a number",
    ),
    "report.password": Key(
        REPORTS,
        "The password, for PostgreSQL.",
        "report:\n  password: secret",
        default="none",
        type="a text",
    ),
    "report.passfile": Key(
        REPORTS,
        "The file with the passwords of PostgreSQL, as libpq reads it.",
        "report:\n  passfile: /etc/runner/pgpass",
        default="none",
        type="a text",
    ),
    "report.token_file": Key(
        REPORTS,
        "A file with the token that https sends (`Authorization: Bearer`).",
        "report:\n  token_file: /etc/runner/report.token",
        default="none",
        type="a text",
    ),
    "report.ca_file": Key(
        REPORTS,
        "The certificates that the server of an https address is verified with.",
        "report:\n  ca_file: /etc/runner/ca.pem",
        default="those of the system",
        type="a text",
    ),
    "report.key_file": Key(
        REPORTS,
        "The ssh key, without a passphrase.",
        "report:\n  key_file: /etc/runner/report_key",
        default="those of ssh itself",
        type="a text",
    ),
    "report.known_hosts_file": Key(
        REPORTS,
        "The file with the host key of the ssh server.",
        "report:\n  known_hosts_file: /etc/runner/known_hosts",
        default="those of ssh itself",
        type="a text",
    ),
    "mysql.host": Key(
        MODULES,
        "The server of MySQL or MariaDB.",
        "mysql.host: db.example.org",
        default="that of this machine",
        type="a text",
    ),
    "mysql.port": Key(
        MODULES, "Its port.", "mysql.port: 3307", default="the client's own", type="a whole number"
    ),
    "mysql.user": Key(
        MODULES,
        "The user who logs in.",
        "mysql.user: admin",
        default="the user of the system",
        type="a text",
    ),
    "mysql.pass": Key(
        MODULES, "The password of the user.", "mysql.pass: secret", default="none", type="a text"
    ),
    "mysql.db": Key(
        MODULES,
        "The database that statements are for.",
        "mysql.db: shop",
        default="none",
        type="a text",
    ),
    "mysql.unix_socket": Key(
        MODULES,
        "The socket of a server on this machine.",
        "mysql.unix_socket: /run/mysqld/mysqld.sock",
        default="the client's own",
        type="a text",
    ),
    "mysql.charset": Key(
        MODULES,
        "The character set of the connection.",
        "mysql.charset: latin1",
        default="utf8mb4; with `mysql.default_file` what that says",
        type="a text",
    ),
    "mysql.default_file": Key(
        MODULES,
        "A file of options for the client.",
        "mysql.default_file: /etc/mysql/debian.cnf",
        default="none",
        type="a text",
    ),
    "mysql.default_group": Key(
        MODULES,
        "The group of options in that file.",
        "mysql.default_group: client_backup",
        default="client",
        type="a text",
    ),
    "postgres.host": Key(
        MODULES,
        "The server of PostgreSQL, or the folder of its socket.",
        "postgres.host: db.example.org",
        default="the socket of this machine",
        type="a text",
    ),
    "postgres.port": Key(
        MODULES,
        "Its port.",
        "postgres.port: 5433",
        default="the client's own",
        type="a whole number",
    ),
    "postgres.user": Key(
        MODULES,
        "The user who logs in.",
        "postgres.user: admin",
        default="the user of the system, as root `postgres`",
        type="a text",
    ),
    "postgres.pass": Key(
        MODULES, "The password of the user.", "postgres.pass: secret", default="none", type="a text"
    ),
    "postgres.maintenance_db": Key(
        MODULES,
        "The database that statements about the server are sent to.",
        "postgres.maintenance_db: template1",
        default="postgres",
        type="a text",
    ),
    "postgres.bins_dir": Key(
        MODULES,
        "The folder of PostgreSQL's programs.",
        "postgres.bins_dir: /usr/lib/postgresql/17/bin",
        default="where the system has them",
        type="a text",
    ),
    "redis.host": Key(
        MODULES,
        "The server of Redis.",
        "redis.host: db.example.org",
        default="127.0.0.1",
        type="a text",
    ),
    "redis.port": Key(
        MODULES, "Its port.", "redis.port: 6380", default="6379", type="a whole number"
    ),
    "redis.db": Key(
        MODULES, "The number of the database.", "redis.db: 1", default="0", type="a whole number"
    ),
    "redis.password": Key(
        MODULES, "The password.", "redis.password: secret", default="none", type="a text"
    ),
    "docker.url": Key(
        MODULES,
        "The address of the container engine.",
        "docker.url: unix:///run/podman/podman.sock",
        default="DOCKER_HOST, else the first socket that there is",
        type="a text",
    ),
    "docker.version": Key(
        MODULES,
        "The version of its interface.",
        "docker.version: '1.45'",
        default="auto",
        type="a text",
    ),
    "fleet.inventory": Key(
        FLEET,
        "The inventory of Ansible that names the machines, or several, relative to the"
        " configuration.",
        "fleet:\n  inventory: hosts.yaml",
        default="none",
        type="a text or a list of texts",
    ),
    "fleet.forks": Key(
        FLEET,
        "How many machines are worked on at once.",
        "fleet:\n  forks: 20",
        unit="machines",
        default="20",
        type="a whole number",
    ),
}
