# SPDX-License-Identifier: Apache-2.0
"""The manual of the configuration: what each key is for.

What a key may be, and what it is by default, is said by its field of `Options` (options.py), or in
`keys.py` where only templates or one part of the program read it; a new key has its line there and
its `KeyDescription` here (a test holds both together), which only `runner doc` reads.
"""

from __future__ import annotations

from collections.abc import Mapping

from runner.model.records import Record
from runner.model.releases import FIRST


class KeyDescription(Record):
    """What the manual says of a key.

    example: YAML, with the key. default: in words, where it is no constant of the program; type:
    where `TYPES` has none. since: the first release that has it.
    """

    about: str
    example: str
    unit: str = ""
    default: str = ""
    type: str = ""
    since: str = FIRST


D = KeyDescription
NOTHING = "none"
MODULES = "Modules"  # their keys have dots; those of others lie below another key

GROUPS: Mapping[str, Mapping[str, KeyDescription]] = {
    "This machine": {
        "id": D(
            "The name of this machine: top files, `grains.id` and reports use it.",
            "id: web1.example.org",
            default="the contents of the file `minion_id` beside the configuration, else the host"
            " name",
        ),
        "grains": D(
            "Static grains. They win over those that are gathered and over the file `grains` beside"
            " the configuration.",
            "grains:\n  role: web\n  datacentre: fra1",
            default="{}",
        ),
        "nodegroups": D(
            "Names for compound targets; a top file uses one as `N@NAME`, or with `match:"
            " nodegroup`.",
            "nodegroups:\n  front: 'web* and G@os:Debian'",
        ),
        "noop": D(
            "Only plan: no state is changed unless it (or its `defaults`) says `noop: false`.",
            "noop: true",
        ),
        "test": D("Every run is a dry run, as with `--test`.", "test: true"),
    },
    "Files of the configuration": {
        "include": D(
            "Further files of the configuration, relative to this one; globs are allowed. A later"
            " file wins over an earlier one, key by key.",
            "include:\n  - site.yaml\n  - conf.d/*.yaml",
            default=NOTHING,
        ),
        "default_include": D(
            "A glob of files that are included by themselves, relative to this file.",
            "default_include: conf.d/*.yaml",
            default="runner.d/*.yaml; minion.d/*.conf in a Salt minion file",
        ),
        "cachedir": D(
            "Where compiled templates, downloads and repositories are kept. In a configuration of"
            " runner's own, `state_dir` lies below it.",
            "cachedir: /srv/cache/runner",
            default="/var/cache/runner; for others than root $XDG_CACHE_HOME/runner",
        ),
        "state_dir": D(
            "Where the history, pending reactions, file backups and pulled trees are kept.",
            "state_dir: /srv/runner/state",
            default="/var/lib/runner (for others than root $XDG_STATE_HOME/runner); `state` in"
            " `cachedir` where that is set",
        ),
        "strict_permissions": D(
            "Refuse a configuration or a tree that other users can write, instead of warning.",
            "strict_permissions: true",
        ),
    },
    "The tree": {
        "file_roots": D(
            "The folders of SLS files and of what `salt://` names, by environment. Earlier folders"
            " win. Globs are allowed; relative paths start at the configuration file.",
            "file_roots:\n  base:\n    - /srv/salt\n    - /srv/formulas/*",
            default="those of /srv/runner/states and /srv/salt that exist, as `base`",
        ),
        "pillar_roots": D(
            "The folders of the pillar's SLS files, by environment. `__env__` stands for every"
            " environment that has no folders of its own.",
            "pillar_roots:\n  base:\n    - /srv/pillar",
            default="those of /srv/runner/pillar and /srv/pillar that exist, as `base`",
        ),
        "tree": D(
            "The git repository that `runner pull` gets the tree from (docs/pull.md).",
            "tree:\n  remote: https://git.example.org/ops/site.git\n  ref: main",
            default=NOTHING,
        ),
        "tree.remote": D(
            "The repository: a URL, `user@host:path`, or a path.",
            "tree:\n  remote: git@git.example.org:ops/site.git",
            type="a text",
            default="has to be given",
        ),
        "tree.ref": D(
            "The branch, tag or commit that is applied.", "tree:\n  ref: production", type="a text"
        ),
        "tree.verify": D(
            "Who has to have signed the commit: `ssh` with a file of allowed signers, or `gpg` with"
            " a keyring.",
            "tree:\n  verify:\n    ssh: allowed_signers",
            type="a mapping",
            default="no signature is needed",
        ),
        "tree.rollback": D(
            "Whether a commit is taken that does not descend from the one applied last.",
            "tree:\n  rollback: allow",
            type="one of refuse, allow",
            default="refuse",
        ),
        "tree.sparse": D(
            "The folders and files of the repository that are checked out.",
            "tree:\n  sparse: [states, pillar, runner.yaml]",
            type="a list",
            default="all",
        ),
        "tree.deploy_key": D(
            "The ssh key for the repository; it has no passphrase.",
            "tree:\n  deploy_key: /etc/runner/deploy_key",
            type="a text",
            default="those of ssh itself",
        ),
        "tree.fetch_timeout": D(
            "How long a fetch may take.",
            "tree:\n  fetch_timeout: 2m",
            unit="seconds; with `s`, `m` or `h` also minutes and hours",
            type="a number or a text",
        ),
        "tree.keep": D(
            "How many trees stay on the disk, the current one included.",
            "tree:\n  keep: 5",
            unit="trees",
            type="a whole number",
        ),
        "saltenv": D(
            "The only environment whose states are run.",
            "saltenv: production",
            default="all that the top files name",
        ),
        "environment": D("An older name of `saltenv`.", "environment: base", default=NOTHING),
        "file_ignore_glob": D(
            "Files that `salt://` does not serve, as globs of their paths.",
            "file_ignore_glob:\n  - '*.swp'\n  - '*/.git/*'",
        ),
        "file_ignore_regex": D(
            "Files that `salt://` does not serve, as regular expressions that are searched in their"
            " paths.",
            "file_ignore_regex:\n  - '/\\.svn($|/)'",
        ),
        "fileserver_followsymlinks": D(
            "Whether `salt://` follows symbolic links to folders.",
            "fileserver_followsymlinks: false",
        ),
        "fileserver_ignoresymlinks": D(
            "Whether `salt://` leaves out symbolic links.", "fileserver_ignoresymlinks: true"
        ),
        "module_dirs": D(
            "Further folders of execution modules, beside `_modules/` of the tree.",
            "module_dirs:\n  - /srv/more/_modules",
        ),
        "states_dirs": D(
            "Further folders of state modules, beside `_states/` of the tree.",
            "states_dirs:\n  - /srv/more/_states",
        ),
        "grains_dirs": D(
            "Further folders of grains, beside `_grains/` of the tree.",
            "grains_dirs:\n  - /srv/more/_grains",
            default="[]",
        ),
        "render_dirs": D(
            "Further folders of renderers, beside `_renderers/` of the tree.",
            "render_dirs:\n  - /srv/more/_renderers",
            default="[]",
        ),
        "utils_dirs": D(
            "Further folders of what modules share (`__utils__`), beside `_utils/` of the tree.",
            "utils_dirs:\n  - /srv/more/_utils",
            default="[]",
        ),
    },
    "Top files": {
        "state_top": D("The name of the top file.", "state_top: top.sls"),
        "state_top_saltenv": D(
            "The only environment whose top file is read.",
            "state_top_saltenv: base",
            default="all environments",
        ),
        "default_top": D(
            "The environment whose top file decides under `top_file_merging_strategy: same` for"
            " environments that have none.",
            "default_top: base",
        ),
        "env_order": D(
            "The order in which the top files of the environments are merged.",
            "env_order: [base, dev]",
        ),
        "top_file_merging_strategy": D(
            "How the top files of several environments come together: `merge` takes an"
            " environment's lines from `base` first, `same` only from its own top file,"
            " `merge_all` from all of them.",
            "top_file_merging_strategy: same",
        ),
        "master_tops": D(
            "A command that is called with the ID of this machine and prints SLS names or classes"
            " as YAML: a node classifier.",
            "master_tops: /etc/runner/classify",
            default=NOTHING,
        ),
        "master_tops_first": D(
            "Whether SLS files of `master_tops` come before those of the top file.",
            "master_tops_first: true",
            default="false",
        ),
    },
    "Rendering and compiling": {
        "renderer": D(
            "The renderers of files without a `#!` line, one after the other.",
            "renderer: jinja|yaml",
        ),
        "renderer_whitelist": D(
            "The only renderers that may be used.", "renderer_whitelist: [jinja, yaml]"
        ),
        "renderer_blacklist": D("Renderers that may not be used.", "renderer_blacklist: [py]"),
        "jinja_env": D(
            "Options of Jinja for templates (`file.managed`, `file.recurse`): its switches and its"
            " marks.",
            "jinja_env:\n  trim_blocks: true\n  lstrip_blocks: true",
        ),
        "jinja_sls_env": D(
            "Options of Jinja for SLS files, of the states and of the pillar.",
            "jinja_sls_env:\n  line_statement_prefix: '%'",
        ),
        "jinja_trim_blocks": D(
            "An older form of `trim_blocks: true` in both `jinja_env` and `jinja_sls_env`.",
            "jinja_trim_blocks: true",
            default="false",
        ),
        "jinja_lstrip_blocks": D(
            "An older form of `lstrip_blocks: true` in both `jinja_env` and `jinja_sls_env`.",
            "jinja_lstrip_blocks: true",
            default="false",
        ),
        "render_limit": D(
            "How long one file, with all that it imports, may be rendered; 0 is without limit."
            " To parse what it renders to, it may take as long again for each million characters.",
            "render_limit: 60",
            unit="seconds of the processor",
            default="5",
        ),
        "sls_size_limit": D(
            "How large a file may be that is compiled: SLS, pillar, top file, template; 0 is"
            " without limit.",
            "sls_size_limit: 64",
            unit="MiB",
            default="16",
        ),
        "edit_size_limit": D(
            "How large a file may be that is read whole to be edited or searched (`file.replace`,"
            " `file.line`); 0 is without limit.",
            "edit_size_limit: 512",
            unit="MiB",
            default="128",
        ),
        "strict": D(
            "Whether doubtful things in the tree, such as an argument that a state does not have,"
            " are errors instead of warnings.",
            "strict: true",
        ),
        "unknown_states": D(
            "Whether a state function that does not exist is an error before the run, or fails"
            " in it as with Salt.",
            "unknown_states: fail",
        ),
        "defaults": D(
            "Default arguments of states, by state module or function.",
            "defaults:\n  file.managed:\n    user: root\n    mode: '0644'",
        ),
        "vars": D("Variables that every SLS file and template has.", "vars:\n  port: 8080"),
    },
    "Running": {
        "only": D(
            "Run only these states: IDs, names, `state: name`, `sls:NAME`, globs; as `--only`.",
            "only: ['sls:web.*']",
        ),
        "exclude": D(
            "Leave these states out: as `--exclude`, or `{id: NAME}` and `{sls: NAME}`.",
            "exclude:\n  - nginx\n  - sls: legacy",
        ),
        "tags": D("Run only states that have one of these tags; as `--tags`.", "tags: [web]"),
        "skip_tags": D(
            "Leave out states that have one of these tags; as `--skip-tags`.", "skip_tags: [slow]"
        ),
        "with_requisites": D(
            "What the selected states require is run, too; as `--with-requisites`.",
            "with_requisites: true",
        ),
        "state_auto_order": D(
            "Whether states run in the order of their definition, as far as requisites allow;"
            " otherwise in that of their names.",
            "state_auto_order: false",
        ),
        "auto_relationships": D(
            "Whether a state comes after what it obviously needs: a file after its folder, a"
            " service after its package.",
            "auto_relationships: false",
        ),
        "state_aggregate": D(
            "Whether several states of one kind do their work at once; a list names the state"
            " modules.",
            "state_aggregate: [pkg]",
        ),
        "state_max_parallel": D(
            "How many states with `parallel: true` run at once; 0 is the usual number, 32.",
            "state_max_parallel: 4",
            unit="states",
        ),
        "failhard": D("End the run when a state fails.", "failhard: true"),
        "verify": D(
            "Check each state again after its change; one that would change something again has"
            " failed.",
            "verify: true",
        ),
        "wait": D(
            "How long a run waits for another one to end; -1 is without limit.",
            "wait: 300",
            unit="seconds",
        ),
        "timeout": D(
            "How long a whole run may take.", "timeout: 3600", unit="seconds", default="no limit"
        ),
        "durable": D(
            "Whether a change is made although its reactions cannot be recorded (`wanted`), or not"
            " (`required`).",
            "durable: required",
        ),
        "backup_mode": D(
            "`minion` keeps a copy of each file that a state replaces, in `state_dir`.",
            "backup_mode: minion",
            type="a text",
            default="no copies",
        ),
        "x509_signing_policies": D(
            "Policies of certificates that `x509.certificate_managed` makes with `signing_policy`.",
            "x509_signing_policies:\n  www:\n    days_valid: 90",
            default="{}",
        ),
    },
    "The pillar": {
        "pillar": D(
            "Pillar data of the configuration itself, below what the pillar's files say.",
            "pillar:\n  port: 8080",
        ),
        "pillarenv": D(
            "The only environment whose pillar is read.",
            "pillarenv: production",
            default="all environments",
        ),
        "pillarenv_from_saltenv": D(
            "Whether `pillarenv` is what `saltenv` is.", "pillarenv_from_saltenv: true"
        ),
        "pillar_source_merging_strategy": D(
            "How the data of several pillar files come together.",
            "pillar_source_merging_strategy: recurse",
        ),
        "pillar_merge_lists": D(
            "Whether lists are joined when pillar data are merged; otherwise the later list wins.",
            "pillar_merge_lists: true",
        ),
        "pillar_includes_override_sls": D(
            "Whether an included pillar file wins over the one that includes it.",
            "pillar_includes_override_sls: true",
        ),
        "pillar_opts": D(
            "Whether the configuration is in the pillar, under `master`.", "pillar_opts: true"
        ),
        "pillar_raise_on_missing": D(
            "Whether `pillar.get` without a default fails for a key that does not exist.",
            "pillar_raise_on_missing: true",
        ),
        "ext_pillar": D(
            "Pillar data from elsewhere, each source laid over those before it.",
            "ext_pillar:\n  - cmd_yaml: /etc/runner/pillar-of-this-machine",
            type="a list",
        ),
        "ext_pillar_first": D(
            "Whether pillar files win over external data; otherwise external data win.",
            "ext_pillar_first: true",
            default="false",
        ),
    },
    "Secrets": {
        "secret_keys": D(
            "Keys whose values are never shown: globs; the last one that fits decides, `!` shows.",
            "secret_keys: ['*password*', 'api_*', '!api_version']",
        ),
        "age_identities": D(
            "Files with the age or ssh keys that decrypt, relative to the configuration.",
            "age_identities:\n  - /etc/runner/age.key",
            default="[/etc/ssh/ssh_host_ed25519_key, /etc/ssh/ssh_host_rsa_key]",
        ),
        "age_recipients": D(
            "The keys for which `runner secret` encrypts.",
            "age_recipients:\n  - age1tz0ql5p4uf5q0q9jlfn0tzvr0e0hq6w5m8d6q3sz2n4l6k3v8xsq9ghsm2",
            default=NOTHING,
        ),
        "gpg_keydir": D(
            "The home directory of gpg, with the keys that decrypt.",
            "gpg_keydir: /etc/runner/gpgkeys",
            default="/etc/runner/gpgkeys, else /etc/salt/gpgkeys",
        ),
        "gpg_recipients": D(
            "The keys for which `runner secret --with gpg` encrypts.",
            "gpg_recipients: [ops@example.org]",
            default=NOTHING,
        ),
        "gpg_decrypt_must_succeed": D(
            "Whether a value that gpg cannot decrypt is an error; otherwise it stays as it is.",
            "gpg_decrypt_must_succeed: true",
            default="true",
        ),
        "vault": D(
            "The server of Vault or OpenBao, and who asks it: for `ext_pillar: vault`, `vault.*`"
            " and the driver vault of sdb. See secrets.md for its keys.",
            "vault:\n  server:\n    url: https://vault.example.org:8200\n  auth:\n    token_file:"
            " /etc/runner/vault-token",
            default=NOTHING,
        ),
        "decrypt_pillar": D(
            "Parts of the pillar to decrypt when it is compiled; `none` leaves one as it is.",
            "decrypt_pillar:\n  - secrets:passwords\n  - tokens: age\n  - backup:key: none",
        ),
        "decrypt_pillar_default": D(
            "The renderer of `decrypt_pillar` where it names none.", "decrypt_pillar_default: age"
        ),
        "decrypt_pillar_delimiter": D(
            "What separates the keys in the paths of `decrypt_pillar`.",
            "decrypt_pillar_delimiter: '|'",
        ),
        "decrypt_pillar_renderers": D(
            "The renderers that `decrypt_pillar` may name.",
            "decrypt_pillar_renderers: [gpg]",
            default="[age, gpg]",
        ),
    },
    "Reports and logs": {
        "history_runs": D(
            "How many runs the history keeps; 0 is all.", "history_runs: 2000", unit="runs"
        ),
        "history_days": D(
            "For how long the history keeps runs; 0 is for ever.", "history_days: 365", unit="days"
        ),
        "report": D(
            "Where the report of each run is delivered (docs/reports.md).",
            "report:\n  to: ssh://reports@collector.example.org/srv/reports",
            type="a mapping",
            default=NOTHING,
        ),
        "report.to": D(
            "The address: PostgreSQL, https, a folder, or a folder behind ssh.",
            "report:\n  to: https://collector.example.org/reports",
            type="a text",
            default="has to be given",
        ),
        "report.timeout": D(
            "How long a run waits for the delivery; what is not delivered is tried again by the"
            " next run.",
            "report:\n  timeout: 30",
            unit="seconds, up to 300",
            type="a number",
        ),
        "report.password": D(
            "The password, for PostgreSQL.",
            "report:\n  password: secret",
            type="a text",
            default=NOTHING,
        ),
        "report.passfile": D(
            "The file with the passwords of PostgreSQL, as libpq reads it.",
            "report:\n  passfile: /etc/runner/pgpass",
            type="a text",
            default=NOTHING,
        ),
        "report.token_file": D(
            "A file with the token that https sends (`Authorization: Bearer`).",
            "report:\n  token_file: /etc/runner/report.token",
            type="a text",
            default=NOTHING,
        ),
        "report.ca_file": D(
            "The certificates that the server of an https address is verified with.",
            "report:\n  ca_file: /etc/runner/ca.pem",
            type="a text",
            default="those of the system",
        ),
        "report.key_file": D(
            "The ssh key, without a passphrase.",
            "report:\n  key_file: /etc/runner/report_key",
            type="a text",
            default="those of ssh itself",
        ),
        "report.known_hosts_file": D(
            "The file with the host key of the ssh server.",
            "report:\n  known_hosts_file: /etc/runner/known_hosts",
            type="a text",
            default="those of ssh itself",
        ),
        "on_change": D(
            "Commands, each a list of words, that a run calls at its end if it changed something;"
            " they read its report from standard input.",
            "on_change:\n  - [logger, -t, runner, changed]",
            default=NOTHING,
        ),
        "on_failure": D(
            "Commands, each a list of words, that a run calls at its end if a state failed; they"
            " read its report from standard input.",
            "on_failure:\n  - [mail, -s, runner failed, root]",
            default=NOTHING,
        ),
        "otel_endpoint": D(
            "The OpenTelemetry collector that each run sends its trace to, by OTLP over HTTP"
            " (docs/output.md).",
            "otel_endpoint: http://127.0.0.1:4318",
            default="what the variables OTEL_* of the environment say",
        ),
        "otel_headers": D(
            "Headers that the collector asks for. The values are secrets.",
            "otel_headers:\n  authorization: Bearer 1234567890",
            default=NOTHING,
        ),
        "prometheus_textfile": D(
            "A file that each run writes its metrics to, for node_exporter.",
            "prometheus_textfile: /var/lib/prometheus/node-exporter/runner.prom",
            default=NOTHING,
        ),
        "html_report": D(
            "A folder that each run writes its page to, for a browser (docs/run-page.md). The"
            " newest 100 pages stay.",
            "html_report: /var/www/runs",
            default=NOTHING,
        ),
        "log_file": D(
            "Where the log goes, beside standard error: a file, `journald`, `syslog`, or Salt's"
            " `file:///dev/log/FACILITY` and `udp://HOST:PORT/FACILITY` (docs/output.md).",
            "log_file: /var/log/runner.log",
            default=NOTHING,
        ),
        "log_level": D(
            "The least important messages that are shown: all, garbage, trace, debug, profile,"
            " info, warning, error, critical or quiet.",
            "log_level: info",
        ),
        "log_level_logfile": D(
            "The same for `log_file`.", "log_level_logfile: debug", default="that of `log_level`"
        ),
        "log_granular_levels": D(
            "Levels of single loggers, such as that of a module of the tree.",
            "log_granular_levels:\n  runner.pkg: info",
            default=NOTHING,
        ),
        "log_fmt_console": D(
            "The form of a line on standard error: fields of Python's `logging`, and Salt's.",
            "log_fmt_console: '%(asctime)s %(colorlevel)s %(message)s'",
            default="'[%(levelname)-8s] %(message)s'",
        ),
        "log_fmt_logfile": D(
            "The form of a line in `log_file`; the journal and syslog note the time themselves.",
            "log_fmt_logfile: '%(asctime)s %(levelname)s %(message)s'",
            default="'%(asctime)s [%(name)s][%(levelname)-8s] %(message)s'",
        ),
        "log_datefmt": D(
            "The form of times in the log, as strftime takes it.",
            "log_datefmt: '%H:%M:%S'",
            default="as in 2026-01-31 12:00:00,123",
        ),
        "log_datefmt_console": D(
            "The same for standard error.",
            "log_datefmt_console: '%H:%M:%S'",
            default="that of `log_datefmt`",
        ),
        "log_datefmt_logfile": D(
            "The same for `log_file`.",
            "log_datefmt_logfile: '%Y-%m-%dT%H:%M:%S%z'",
            default="that of `log_datefmt`",
        ),
        "plan_allowed_signers": D(
            "The file of those whose signature a plan needs to be applied (docs/saved-plans.md).",
            "plan_allowed_signers: /etc/runner/allowed_signers",
            default="no signature is needed",
        ),
    },
    MODULES: {
        "providers": D(
            "Which provider of a module does its work, for states that do not name one with"
            " `provider`.",
            "providers:\n  pkg: apt",
            type="a mapping",
        ),
        "hash_type": D("The digest that `cp.hash_file` takes.", "hash_type: sha512", type="a text"),
        "mysql.host": D(
            "The server of MySQL or MariaDB.",
            "mysql.host: db.example.org",
            type="a text",
            default="that of this machine",
        ),
        "mysql.port": D(
            "Its port.", "mysql.port: 3307", type="a whole number", default="the client's own"
        ),
        "mysql.user": D(
            "The user who logs in.",
            "mysql.user: admin",
            type="a text",
            default="the user of the system",
        ),
        "mysql.pass": D(
            "The password of the user.", "mysql.pass: secret", type="a text", default="none"
        ),
        "mysql.db": D(
            "The database that statements are for.", "mysql.db: shop", type="a text", default="none"
        ),
        "mysql.unix_socket": D(
            "The socket of a server on this machine.",
            "mysql.unix_socket: /run/mysqld/mysqld.sock",
            type="a text",
            default="the client's own",
        ),
        "mysql.charset": D(
            "The character set of the connection.",
            "mysql.charset: latin1",
            type="a text",
            default="utf8mb4; with `mysql.default_file` what that says",
        ),
        "mysql.default_file": D(
            "A file of options for the client.",
            "mysql.default_file: /etc/mysql/debian.cnf",
            type="a text",
            default="none",
        ),
        "mysql.default_group": D(
            "The group of options in that file.",
            "mysql.default_group: client_backup",
            type="a text",
            default="client",
        ),
        "postgres.host": D(
            "The server of PostgreSQL, or the folder of its socket.",
            "postgres.host: db.example.org",
            type="a text",
            default="the socket of this machine",
        ),
        "postgres.port": D(
            "Its port.", "postgres.port: 5433", type="a whole number", default="the client's own"
        ),
        "postgres.user": D(
            "The user who logs in.",
            "postgres.user: admin",
            type="a text",
            default="the user of the system, as root `postgres`",
        ),
        "postgres.pass": D(
            "The password of the user.", "postgres.pass: secret", type="a text", default="none"
        ),
        "postgres.maintenance_db": D(
            "The database that statements about the server are sent to.",
            "postgres.maintenance_db: template1",
            type="a text",
            default="postgres",
        ),
        "postgres.bins_dir": D(
            "The folder of PostgreSQL's programs.",
            "postgres.bins_dir: /usr/lib/postgresql/17/bin",
            type="a text",
            default="where the system has them",
        ),
        "redis.host": D(
            "The server of Redis.", "redis.host: db.example.org", type="a text", default="127.0.0.1"
        ),
        "redis.port": D("Its port.", "redis.port: 6380", type="a whole number", default="6379"),
        "redis.db": D(
            "The number of the database.", "redis.db: 1", type="a whole number", default="0"
        ),
        "redis.password": D(
            "The password.", "redis.password: secret", type="a text", default="none"
        ),
        "docker.url": D(
            "The address of the container engine.",
            "docker.url: unix:///run/podman/podman.sock",
            type="a text",
            default="DOCKER_HOST, else the first socket that there is",
        ),
        "docker.version": D(
            "The version of its interface.", "docker.version: '1.45'", type="a text", default="auto"
        ),
    },
    "Many machines": {
        "fleet": D(
            "Settings of `runner fleet` (docs/fleet.md).",
            "fleet:\n  inventory: hosts.yaml\n  forks: 20",
            default=NOTHING,
        ),
        "fleet.inventory": D(
            "The inventory of Ansible that names the machines, relative to the configuration.",
            "fleet:\n  inventory: hosts.yaml",
            type="a text",
            default=NOTHING,
        ),
        "fleet.forks": D(
            "How many machines are worked on at once.",
            "fleet:\n  forks: 20",
            unit="machines",
            type="a whole number",
            default="20",
        ),
    },
    "Git repositories": {
        "fileserver_backend": D(
            "What serves files, the first wins: `roots` (file_roots) and `gitfs`.",
            "fileserver_backend: [roots, gitfs]",
            type="a list",
        ),
        "gitfs_remotes": D(
            "Git repositories whose branches and tags are environments (docs/gitfs.md); with"
            " settings of their own below them.",
            "fileserver_backend: [gitfs]\ngitfs_remotes:\n"
            "  - https://git.example.org/salt.git:\n      - root: states",
            type="a list",
            default=NOTHING,
        ),
        "git_pillar_includes": D(
            "Whether a pillar file may include one of another repository.",
            "git_pillar_includes: false",
            type="true or false",
            default="true",
        ),
        "gitfs_saltenv": D(
            "The ref, root and mountpoint of single environments, for all repositories.",
            "gitfs_saltenv:\n  - prod:\n    - ref: v1",
            type="a list",
            default=NOTHING,
        ),
    },
}
DESCRIPTIONS: Mapping[str, KeyDescription] = {
    key: description for group in GROUPS.values() for key, description in group.items()
}
