# SPDX-License-Identifier: Apache-2.0
"""Arguments of Salt's state functions that those of runner lack: what becomes of each.

A row is for some functions and some arguments, both with globs; the first row that is for an
argument says what becomes of it. tests/runner/language/test_lacking_arguments.py holds the rows
against what Salt and runner have.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

from runner.model.records import Record

IGNORED = "ignored"  # Salt ignores it too, or it says nothing on one Linux machine; with the reason
REFUSED = "refused"  # it would mean something; with what to write instead
RENAMED = "renamed"  # an older name; with today's


class Row(Record):
    """What becomes of some arguments of some functions."""

    functions: str
    arguments: str
    becomes: str
    text: str


_PIP = "pip.installed with `bin_env` of this environment, which takes it"
_VERIFIED = "fetch it with file.managed, which takes it, and name that file as the source"
_CONTEXT = "cmd.run of restorecon or chcon, with onchanges of this state"
_INSTALL = "pkg.installed, which takes it"
_LOOK = "it is for a look of Salt's own, whose answer runner has"
_INNER = "no SLS can say it: Salt's own code hands it on"
_DRY = "Salt reads it in a dry run only"
_GUARD = "it is for the commands of guards; the state starts none that it would be for"
_ROOT = "cmd.run with `root`, which runs a command in that folder"
_PLAIN_APT = "apt.conf by file.managed, for all of apt"

ROWS = (
    Row("*", "win_*", IGNORED, "it is for Windows; on Linux it has no effect: leave it out"),
    Row("acme.cert", "tls_sni_*", REFUSED, "`http_01_port`: certbot has tls-sni no more"),
    Row("archive.extracted", "excludes", REFUSED, "`options: --exclude=...` of a tar archive"),
    Row("archive.extracted", "keep", RENAMED, "keep_source"),
    Row("archive.extracted", "template", REFUSED, "the path in `source`: the SLS is a template"),
    Row("archive.extracted", "runas", REFUSED, "`user`, who owns what is extracted"),
    Row("cmd.call", "user cwd env shell", IGNORED, "a function of Python's has no shell"),
    Row("cmd.run cmd.script", "encoded_cmd windows_codepage", IGNORED, "it is for Windows"),
    Row("cmd.run cmd.script", "ignore_retcode", IGNORED, "it says what Salt logs"),
    Row(
        "cmd.run cmd.script",
        "template pillar pillar_override pillarenv",
        REFUSED,
        "the command as it is to be: the SLS is a template with the pillar of this run",
    ),
    Row("cmd.run", "redirect_stderr", REFUSED, "`2>&1` at the end of the command"),
    Row("cmd.run cmd.script", "stdin_raw_newlines", REFUSED, "`stdin: |` with its lines"),
    Row("cmd.script", "retcode", REFUSED, "`success_retcodes`, the exit codes that are none"),
    Row("cron.file", "backup", REFUSED, "nothing: `runner history` keeps what was there, for undo"),
    Row("cron.file", "contents", REFUSED, "file.managed of the text, as the source of this state"),
    Row("cron.file", "ignore_*", REFUSED, _VERIFIED),
    Row("cron.file", "se[rtu]*", REFUSED, _CONTEXT),
    Row(
        "cron.file",
        "follow_symlinks gnupghome keyring sig* s*verify source* use_etag verify*",
        REFUSED,
        _VERIFIED,
    ),
    Row(
        "docker_image.present",
        "base sls pillar pillarenv saltenv",
        REFUSED,
        "`build` of a folder with a Dockerfile, in which runner may be called",
    ),
    Row("docker_network.present", "client_timeout", IGNORED, "a network is made at once"),
    Row(
        "docker_*", "catch_api_errors client_args host_config inspect send_signal", IGNORED, _INNER
    ),
    Row("file.managed", "selinux", REFUSED, _CONTEXT),
    Row("file.managed", "file_mode", IGNORED, "Salt ignores it too: the argument is `mode`"),
    Row("file.serialize", "follow_* gnupghome ignore_* keep_mode keyring new_*", IGNORED, _DRY),
    Row("file.serialize", "se[rtu]* sig* source* use_etag verify*", IGNORED, _DRY),
    Row("file.managed file.recurse file.serialize", "env", IGNORED, "Salt ignores it too"),
    Row(
        "http.query http.wait_for_successful_query",
        "decode",
        REFUSED,
        "`match`, which is compared with the text of the answer",
    ),
    Row(
        "gpg.present",
        "subkey_maxage",
        REFUSED,
        "nothing: a key is fetched again when it is expired itself",
    ),
    Row("ipset.absent", "comment timeout", IGNORED, "an entry is found by itself"),
    Row("ipset.present", "bytes packets", REFUSED, "`ipset add` by cmd.run: counters begin at 0"),
    Row(
        "mysql_database.* mysql_grants.* mysql_user.*",
        "client_flags",
        REFUSED,
        "options of the client, in the file that `connection_default_file` names",
    ),
    Row(
        "mysql_grants.* mysql_user.*",
        "*password* unix_socket",
        IGNORED,
        "Salt ignores it too: `connection_pass` is that of the connection",
    ),
    Row("network.managed", "addr", REFUSED, "`ipaddr`"),
    Row("network.managed", "team_master", REFUSED, "`type: slave` and `master`, as of a bond"),
    Row("network.managed", "filename", REFUSED, "the lease of a BOOTP server names its file"),
    Row("network.routes", "hostname apply_hostname", REFUSED, "network.system, which takes it"),
    Row("nftables.set_policy", "save_filename", REFUSED, "`save: /path/of/the/file`"),
    Row("pkg.*", "root", REFUSED, _ROOT),
    Row("pkg.*", "saltenv", IGNORED, "packages are of no environment"),
    Row("pkg.*", "env", REFUSED, _PLAIN_APT + ", or debconf.set for an answer"),
    Row(
        "pkg.*",
        "includes purge_desired removed show_installed use_context versions_as_list",
        IGNORED,
        _LOOK,
    ),
    Row("pkg.removed pkg.purged", "attr", IGNORED, _LOOK),
    Row("pkg.*", "attr diff_attr", REFUSED, "pkg.list_pkgs with `attr`, in a template"),
    Row("pkg.group_installed", "default ignore_groups mandatory optional", IGNORED, _LOOK),
    Row("pkg.*", "get_extra_options split_arch", IGNORED, _INNER),
    Row("pkg.removed pkg.purged", "advisory_ids", IGNORED, "advisories are not removed"),
    Row("pkg.*", "advisory_ids", REFUSED, "pkg.patch_installed with `advisory_ids`"),
    Row("pkg.*", "debconf", REFUSED, "debconf.set_file, which this state requires"),
    Row("pkg.*", "downloadonly download_only", REFUSED, "pkg.downloaded"),
    Row("pkg.uptodate", "dryrun", REFUSED, "`runner highstate --test`, or `noop: true`"),
    Row("pkg.*", "repo repos", REFUSED, "`fromrepo` of pkg.installed"),
    Row("pkg.*", "branch", REFUSED, "`setopt` of pkg.installed, or pkg.module_enabled"),
    Row("pkg.*", "gpgautoimport", REFUSED, "pkgrepo.managed with `gpgautoimport`"),
    Row("pkg.*", "force_yes", REFUSED, "`skip_verify`, `update_holds` of pkg.installed"),
    Row("pkg.*", "scope", REFUSED, "cmd.run of the package manager by systemd-run"),
    Row("pkg.installed", "verify_ssl", REFUSED, _VERIFIED),
    Row("pkg.*", "sysupgrade", REFUSED, "pkg.uptodate"),
    Row("pkg.*", "check_update", REFUSED, "`refresh: false`, so that no lists are fetched"),
    Row("pkg.*", "ignore_repo_failure", REFUSED, "pkgrepo.managed with `enabled: false`"),
    Row("pkg.uptodate", "allow_downgrades", REFUSED, "pkg.installed with the older version"),
    Row("pkg.uptodate", "minimal", REFUSED, "pkg.patch_installed"),
    Row(
        "pkg.uptodate",
        "novendorchange obsoletes",
        REFUSED,
        "the configuration of the package manager by file.managed",
    ),
    Row("pkg.uptodate", "normalize resolve_capabilities", REFUSED, "the packages' own names"),
    Row("pkg.*", "skip_suggestions", IGNORED, "nothing is installed that is only suggested"),
    Row(
        "pkg.downloaded pkg.latest pkg.patch_* pkg.group_installed pkg.uptodate",
        "*",
        REFUSED,
        _INSTALL,
    ),
    Row("pkgrepo.managed", "Trusted", RENAMED, "trusted"),
    Row("pkgrepo.absent", "basedir strict_config", REFUSED, "file.line or file.absent of its file"),
    Row("pkgrepo.absent", "keydir", REFUSED, "file.absent of the key"),
    Row("pkgrepo.absent", "ppa_auth", REFUSED, "the address with `USER:PASSWORD@` in `name`"),
    Row("pkgrepo.absent", "root", REFUSED, _ROOT),
    Row("saltutil.sync_all", "clean_pillar_cache saltenv", IGNORED, "there is nothing to renew"),
    Row("schedule.present", "return*", IGNORED, "there is no master that would get the answer"),
    Row(
        "schedule.present",
        "after once* range skip_* until",
        REFUSED,
        "`cron`, or a timer by systemd.unit",
    ),
    Row("service.*", "enabled", REFUSED, "`enable`"),
    Row("service.*", "result", IGNORED, _INNER),
    Row("service.*", "root", REFUSED, _ROOT),
    Row(
        "service.*", "unmask unmask_runtime", REFUSED, "service.unmasked, which this state requires"
    ),
    Row("virtualenv.manage*", "env", REFUSED, "`env_vars`"),
    Row("virtualenv.manage*", "umask", REFUSED, "`umask` of pip.installed, or of cmd.run"),
    Row("virtualenv.manage*", "pip", IGNORED, "an environment always has pip"),
    Row("virtualenv.manage*", "symlinks", REFUSED, "cmd.run of `python3 -m venv`, with `creates`"),
    Row("virtualenv.manage*", "log", IGNORED, "what pip says is in the result"),
    Row(
        "virtualenv.manage*",
        "allow_* build cert disable_* editable extra_args find_links",
        REFUSED,
        _PIP,
    ),
    Row(
        "virtualenv.manage*",
        "force_* global_options install_options mirrors no_* source",
        REFUSED,
        _PIP,
    ),
    Row("virtualenv.manage*", "target trusted_host upgrade", REFUSED, _PIP),
    Row("virtualenv.manage*", "*", IGNORED, _GUARD),
    Row("x509.crl_managed x509.private_key_managed", "text", IGNORED, "Salt ignores it too"),
    Row("x509.private_key_managed", "bits", RENAMED, "keysize"),
    Row("redis.slaveof", "master_*", IGNORED, _INNER),
    Row("*", "grains opts salt pillar log_callback stderr stdout test", IGNORED, _INNER),
    Row("*", "makedirs saltenv require with_communicate with_env_opts", IGNORED, _INNER),
)

_TOO = "Salt ignores it, too, or does not act on it where the function is said to"
_SAME = "the machine ends as it does with Salt: it chooses between ways to the same"
_TELLS = "it is for what Salt prints or logs"
_FOREIGN = "it is for another system than Linux, or for versions of a program that are gone"
_PARTS = "it is for parts of Salt that runner lacks: a master, a minion's process, a cache"

# the arguments that runner's functions take and ignore, each with the reason
TAKEN = (
    Row("acl.absent docker_volume.absent", "perms driver", IGNORED, _SAME),
    Row("archive.extracted", "list_options skip_files_list_verify use_cmd_unzip", IGNORED, _SAME),
    Row("cmd.*", "output_loglevel use_vt", IGNORED, _TELLS),
    Row("cmd.wait_call", "stateful", IGNORED, _SAME),
    Row("cron.absent", "comment* day* hour minute month special", IGNORED, _TOO),
    Row("docker_*", "ignore_collisions insecure_registry skip_translate", IGNORED, _SAME),
    Row("environ.setenv saltutil.sync_*", "*", IGNORED, _PARTS),
    Row("file.line", "quiet", IGNORED, _TOO),
    Row(
        "x509.private_key_managed", "backup", IGNORED, "an old key is kept nowhere, and it says so"
    ),
    Row("file.recurse", "keep_source makedirs sym_mode", IGNORED, _SAME),
    Row("file.replace", "bufsize", IGNORED, _SAME),
    Row("file.symlink", "atomic disallow_copy_and_unlink follow_symlinks", IGNORED, _SAME),
    Row("git.*", "output_encoding password", IGNORED, _FOREIGN),
    Row("group.* user.*", "local loginclass win_*", IGNORED, _FOREIGN),
    Row("http.*", "backend", IGNORED, _SAME),
    Row("ipset.*", "family", IGNORED, _TELLS),
    Row("iptables.append nftables.append", "position", IGNORED, _TOO),
    Row("mount.*", "bind_mount_copy_active_opts user", IGNORED, _SAME),
    Row("mysql_user.present", "password_column", IGNORED, _FOREIGN),
    Row("network.system", "require_reboot", IGNORED, _SAME),
    Row("npm.bootstrap", "silent", IGNORED, _TELLS),
    Row("pip.installed", "*_wheel disable_version_check download_cache", IGNORED, _FOREIGN),
    Row("pip.* virtualenv.*", "use_vt", IGNORED, _TELLS),
    Row("pip.removed", "log proxy timeout", IGNORED, _SAME),
    Row("pkg.*", "report_reboot_exit_codes watch_flags", IGNORED, _FOREIGN),
    Row("pkg.*", "skip_suggestions version", IGNORED, _SAME),
    Row("pkgrepo.absent", "aptkey file keyid_ppa", IGNORED, _SAME),
    Row("postgres_extension.*", "if_* restrict", IGNORED, _SAME),
    Row("raid.present", "run", IGNORED, _SAME),
    Row(
        "schedule.*", "jid_include maxrunning metadata offline persist return_job", IGNORED, _PARTS
    ),
    Row("ssh_auth.*", "comment enc fingerprint_hash_type options", IGNORED, _SAME),
    Row("virtualenv.*", "distribute extra_search_dir never_download", IGNORED, _FOREIGN),
    Row("virtualenv.*", "pip_download* process_dependency_links", IGNORED, _FOREIGN),
)


@cache
def row(function: str, argument: str) -> Row | None:
    """The row of an argument that Salt's function has; None where nothing is known of it."""
    return next((found for found in ROWS if _is_for(found, function, argument)), None)


def _is_for(row: Row, function: str, argument: str) -> bool:
    return fits(function, row.functions) and fits(argument, row.arguments)


def fits(word: str, globs: str) -> bool:
    return any(fnmatchcase(word, glob) for glob in globs.split())
