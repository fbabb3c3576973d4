# SPDX-License-Identifier: Apache-2.0
"""What other tools call states and arguments, and what to write here: one table, which the hints of
unknown functions, unknown arguments and wrong shapes read.

To add a word, add it to a row of its kind. tests/runner/model/test_other_tools.py holds the table
to the functions that there are.
"""

from __future__ import annotations

from collections.abc import Mapping

from runner.model.diagnostics import suggestion
from runner.model.records import Record

FUNCTION, ARGUMENT, VARIABLE = "function", "argument", "variable"
ADVICE = ("it is", "leave", "the value", "there is")  # how a text begins that is nothing to write


class Word(Record):
    """Words of other tools that mean the same.

    tools: whose they are; empty for words of nobody's. kind: FUNCTION (a module, or a module and
    its function), ARGUMENT (what stands beside a state in those tools), or VARIABLE (of templates;
    `ansible_*`: each that begins so). words: as people write
    them. names: the functions or arguments of this one that do it, the likeliest first. text: what
    else there is to say, in the words of an SLS; {function} is the state that was written.
    """

    tools: str
    kind: str
    words: str
    names: str = ""
    text: str = ""

    def hint(self, word: str, function: str = "") -> str:
        """The cure for a word that somebody wrote."""
        names = self.names.split()
        if len(names) == 1 and not self.text:
            return suggestion(names[0])
        whose = " and ".join(f"{tool}'s" for tool in self.tools.split())
        said = f"`{word}` is {whose}: " if whose else ""
        said += "" if self.text.startswith(ADVICE) else "write "
        listed = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        text = self.text.replace("{function}", function)
        return said + ("; " if text and len(names) > 1 else " ").join(filter(None, [listed, text]))


_PACKAGE = "pkg.installed pkg.latest pkg.removed"
_AGAIN = (
    "service.running with `watch:` of what the service has to restart for (`reload: true` reloads)"
)
_LOOP = "`names:` with a list, or `{% for %}` around the state"
_OF_RUN = "it is the whole run's: runner runs as who starts it, on this one machine; leave it out"
_STILL = "leave it out: after a failure the other states run all the same"
_AGAIN_AND_AGAIN = "`- retry: {attempts: 3, interval: 10}`"

TABLE = (
    # ---------------------------------------------------------------- functions
    Word("Ansible", FUNCTION, "apt yum dnf zypper pacman apk package packages rpm", _PACKAGE),
    Word("Ansible", FUNCTION, "apt_package yum_package dnf_package homebrew portage", _PACKAGE),
    Word("", FUNCTION, "pkg.present pkg.install pkg.add", "pkg.installed"),
    Word("", FUNCTION, "pkg.absent pkg.remove pkg.uninstalled pkg.uninstall", "pkg.removed"),
    Word("", FUNCTION, "pkg.upgraded pkg.updated pkg.upgrade", "pkg.latest pkg.uptodate"),
    Word("", FUNCTION, "repo apt_repository yum_repository apt_key rpm_key", "pkgrepo.managed"),
    Word("Ansible", FUNCTION, "copy get_url cookbook_file remote_file files", "file.managed"),
    Word("Ansible Chef", FUNCTION, "template", "file.managed", "with `template: jinja`"),
    Word("", FUNCTION, "file.present file.file file.create file.created", "file.managed"),
    Word("", FUNCTION, "file.copied file.template file.content file.write", "file.managed"),
    Word(
        "Ansible Puppet",
        FUNCTION,
        "lineinfile file_line",
        "file.replace file.line file.append",
        "`pattern:` and `append_if_not_found: true` of file.replace are its regexp and line",
    ),
    Word("Ansible", FUNCTION, "blockinfile", "file.blockreplace"),
    Word("Ansible", FUNCTION, "replace", "file.replace"),
    Word("Ansible Chef", FUNCTION, "synchronize remote_directory", "file.recurse"),
    Word("Ansible", FUNCTION, "unarchive", "archive.extracted"),
    Word("Puppet", FUNCTION, "concat", "file.accumulated", "and file.managed with a template"),
    Word("", FUNCTION, "directory file.dir file.folder folder mkdir", "file.directory"),
    Word("", FUNCTION, "link symlink file.link", "file.symlink"),
    Word("", FUNCTION, "file.removed file.deleted file.delete file.remove", "file.absent"),
    Word(
        "Ansible",
        FUNCTION,
        "stat",
        text="the guard `creates: PATH`, or salt['file.file_exists'](PATH) in a template",
    ),
    Word("Ansible", FUNCTION, "ini_file ini_setting ini_subsetting", "ini.options_present"),
    Word("", FUNCTION, "command shell exec execute raw bash script", "cmd.run cmd.script"),
    Word("", FUNCTION, "cmd.command cmd.shell cmd.exec cmd.execute cmd.runs", "cmd.run"),
    Word("", FUNCTION, "systemctl systemd_service services", "service.running service.enabled"),
    Word("", FUNCTION, "service.started service.start service.up", "service.running"),
    Word("", FUNCTION, "systemd.started systemd.start systemd.running", "service.running"),
    Word("", FUNCTION, "service.present service.service systemd.service", "service.running"),
    Word("", FUNCTION, "service.stopped service.stop service.down service.absent", "service.dead"),
    Word("", FUNCTION, "systemd.stopped systemd.stop systemd.dead", "service.dead"),
    Word("", FUNCTION, "systemd.enabled systemd.enable", "service.enabled"),
    Word("", FUNCTION, "service.restarted service.restart service.reloaded", text=_AGAIN),
    Word("", FUNCTION, "service.reload systemd.restarted systemd.reloaded", text=_AGAIN),
    Word("Chef", FUNCTION, "systemd_unit", "systemd.unit"),
    Word("", FUNCTION, "users user.user user.created user.create user.add", "user.present"),
    Word("", FUNCTION, "user.managed user.exists", "user.present"),
    Word("", FUNCTION, "user.removed user.deleted user.delete user.remove", "user.absent"),
    Word("", FUNCTION, "groups group.group group.created group.create group.add", "group.present"),
    Word("", FUNCTION, "group.managed group.exists", "group.present"),
    Word("", FUNCTION, "group.removed group.deleted group.delete group.remove", "group.absent"),
    Word("Ansible Puppet", FUNCTION, "authorized_key ssh_authorized_key", "ssh_auth.present"),
    Word("Ansible Puppet", FUNCTION, "known_hosts sshkey", "ssh_known_hosts.present"),
    Word("", FUNCTION, "crontab cron.cron cron.job cron.installed cron.managed", "cron.present"),
    Word("Ansible", FUNCTION, "at systemd_timer", text="cron.present, or a timer by systemd.unit"),
    Word("", FUNCTION, "mounts mount.present mount.mount", "mount.mounted"),
    Word("", FUNCTION, "mount.absent mount.unmount", "mount.unmounted mount.fstab_absent"),
    Word("Ansible", FUNCTION, "filesystem", "blockdev.formatted"),
    Word("Ansible", FUNCTION, "lvol logical_volume", "lvm.lv_present"),
    Word("Ansible", FUNCTION, "lvg volume_group", "lvm.vg_present"),
    Word("Ansible Chef", FUNCTION, "modprobe kernel_module", "kmod.present"),
    Word("Ansible Chef", FUNCTION, "hostname", "network.system"),
    Word("Ansible", FUNCTION, "locale_gen", "locale.present"),
    Word("Ansible", FUNCTION, "seboolean selboolean", "selinux.boolean"),
    Word("Ansible", FUNCTION, "linux_acl", "acl.present"),
    Word("Ansible Puppet", FUNCTION, "mail_alias mailalias", "alias.present"),
    Word("", FUNCTION, "hosts host.host host.managed", "host.present"),
    Word("Ansible", FUNCTION, "uri http_request", "http.query"),
    Word("Ansible Puppet", FUNCTION, "git_repository vcsrepo", "git.latest git.cloned"),
    Word("", FUNCTION, "git.clone git.checkout git.pull git.repo git.git", "git.latest git.cloned"),
    Word("", FUNCTION, "python_package pip3", "pip.installed"),
    Word("Chef", FUNCTION, "gem_package rubygem", "gem.installed"),
    Word("Ansible", FUNCTION, "mysql_db", "mysql_database.present"),
    Word("Ansible", FUNCTION, "postgresql_db", "postgres_database.present"),
    Word("Ansible", FUNCTION, "postgresql_user postgresql_role", "postgres_user.present"),
    Word("Ansible", FUNCTION, "postgresql_privs", "postgres_privileges.present"),
    Word("Ansible", FUNCTION, "openssl_privatekey", "x509.private_key_managed"),
    Word("Ansible", FUNCTION, "x509_certificate", "x509.certificate_managed"),
    Word("Ansible", FUNCTION, "debug message", "test.show_notification"),
    Word("Ansible", FUNCTION, "fail assert", text="`{{ raise('why') }}` in the template"),
    Word("Ansible", FUNCTION, "set_fact", text="`{% set name = value %}` in the template"),
    Word(
        "Ansible",
        FUNCTION,
        "include_tasks import_tasks include_role import_role",
        text="`include:`",
    ),
    Word("Chef", FUNCTION, "include_recipe import_playbook", text="`include:` at the margin"),
    Word("Ansible", FUNCTION, "wait_for pause", text=_AGAIN_AND_AGAIN + " of the state that waits"),
    Word("Ansible", FUNCTION, "reboot", text="system.reboot in module.wait, with `watch`"),
    Word("Ansible", FUNCTION, "setup gather_facts", text="`grains` in the template"),
    # ---------------------------------------------------------------- arguments
    Word("", ARGUMENT, "owner", "user"),
    Word("", ARGUMENT, "runas become_user", "user runas"),
    Word("", ARGUMENT, "path dest command cmd run code", "name"),
    Word("Ansible", ARGUMENT, "package_name service_name", "name"),
    Word("", ARGUMENT, "src", "source"),
    Word("", ARGUMENT, "content", "contents"),
    Word("", ARGUMENT, "permissions perms", "mode"),
    Word("", ARGUMENT, "dirmode directory_mode", "dir_mode"),
    Word("", ARGUMENT, "filemode", "file_mode"),
    Word("", ARGUMENT, "package", "name pkgs"),
    Word("", ARGUMENT, "packages", "pkgs"),
    Word("", ARGUMENT, "enabled", "enable"),
    Word("", ARGUMENT, "show_diff", "show_changes"),
    Word("", ARGUMENT, "tar_options zip_options", "options"),
    Word("", ARGUMENT, "uses", "use"),
    Word("Ansible", ARGUMENT, "chdir", "cwd"),
    Word("Ansible", ARGUMENT, "executable", "bin_env shell"),
    Word("Ansible", ARGUMENT, "virtualenv", "bin_env"),
    Word("Ansible Puppet", ARGUMENT, "pass passno", "pass_num"),
    Word("", ARGUMENT, "environment", "env"),
    Word("Ansible", ARGUMENT, "update_cache", "refresh"),
    Word("Ansible", ARGUMENT, "regexp regex", "pattern match"),
    Word("Ansible", ARGUMENT, "line", "content repl"),
    Word("Ansible", ARGUMENT, "replacement", "repl"),
    Word("Ansible", ARGUMENT, "insertafter", "after"),
    Word("Ansible", ARGUMENT, "insertbefore", "before"),
    Word("Ansible", ARGUMENT, "block", "content"),
    Word("Ansible", ARGUMENT, "create_home managehome manage_home", "createhome"),
    Word("Ansible", ARGUMENT, "special_time", "special"),
    Word("Ansible", ARGUMENT, "job", "name"),
    Word("Ansible", ARGUMENT, "weekday", "dayweek"),
    Word("Ansible", ARGUMENT, "day monthday", "daymonth"),
    Word("Ansible", ARGUMENT, "repo repository url", "name"),
    Word("Chef", ARGUMENT, "revision version", "rev"),
    Word("Chef", ARGUMENT, "destination", "target"),
    Word("Chef", ARGUMENT, "checksum", "source_hash"),
    Word("Chef", ARGUMENT, "variables", "context"),
    Word("Ansible", ARGUMENT, "follow", "follow_symlinks"),
    Word("Puppet", ARGUMENT, "purge", "clean"),
    Word("Puppet Chef", ARGUMENT, "returns", "success_retcodes"),
    Word("Ansible", ARGUMENT, "when", "onlyif"),
    Word("Chef", ARGUMENT, "not_if", "unless"),
    Word("Chef", ARGUMENT, "only_if", "onlyif"),
    Word("Chef", ARGUMENT, "notifies", "notify"),
    Word("Chef", ARGUMENT, "subscribes", "subscribe"),
    Word("Chef", ARGUMENT, "sensitive", "no_log"),
    Word("Ansible", ARGUMENT, "check_mode", "noop"),
    Word(
        "",
        ARGUMENT,
        "ensure state status action present absent installed running",
        text="the value is meant to be a function ({function} here), not an argument",
    ),
    Word(
        "Puppet",
        ARGUMENT,
        "refreshonly",
        text="`- onchanges:` and below it the states whose changes it is for",
    ),
    Word(
        "Puppet", ARGUMENT, "logoutput", text="leave it out: what a command prints is in its result"
    ),
    Word(
        "Puppet Chef", ARGUMENT, "tries try_sleep retries retry_delay delay", text=_AGAIN_AND_AGAIN
    ),
    Word(
        "Puppet",
        ARGUMENT,
        "hasrestart hasstatus",
        text="leave it out: the provider of services knows",
    ),
    Word(
        "Ansible",
        ARGUMENT,
        "register",
        text="`- onchanges:` or `- onfail:` with this state where its result decides, or"
        " `{% set x = salt['cmd.run'](...) %}` for what a command prints",
    ),
    Word("Ansible", ARGUMENT, "loop with_items with_list with_dict with_fileglob", text=_LOOP),
    Word("Ansible", ARGUMENT, "with_nested with_together with_sequence loop_control", text=_LOOP),
    Word("Ansible", ARGUMENT, "become become_method become_flags sudo gather_facts", text=_OF_RUN),
    Word("Ansible", ARGUMENT, "delegate_to run_once serial connection hosts", text=_OF_RUN),
    Word(
        "Ansible",
        ARGUMENT,
        "changed_when",
        text="`- unless:`, `- onlyif:` or `- creates:`, by which a command runs only where it has"
        " something to change, or `- stateful: true`, by which it says whether it changed anything",
    ),
    Word("Ansible", ARGUMENT, "failed_when", text="`- success_retcodes:`, or `- check_cmd:`"),
    Word("Ansible Chef", ARGUMENT, "ignore_errors ignore_failure", text=_STILL),
    Word("Ansible", ARGUMENT, "removes", text="`- onlyif: test -e PATH`"),
    Word("Ansible", ARGUMENT, "args", text="its entries with a dash of their own: `- cwd: /PATH`"),
    Word("Ansible", ARGUMENT, "handlers", text="a state with `- watch:` of what it reacts to"),
    Word("Ansible", ARGUMENT, "tasks pre_tasks post_tasks roles", text="`include:` at the margin"),
    Word(
        "Ansible",
        ARGUMENT,
        "remote_src",
        text="leave it out: a source lies on this machine unless it begins with salt:// or https://",
    ),
    Word(
        "Ansible", ARGUMENT, "daemon_reload", text="leave it out: systemd reads changed units anew"
    ),
    Word("Ansible", ARGUMENT, "append", text="`- remove_groups: false`, which keeps other groups"),
    # ---------------------------------------------------------------- variables of templates
    Word("Ansible", VARIABLE, "ansible_hostname", text="grains.host"),
    Word("Ansible", VARIABLE, "ansible_fqdn", text="grains.fqdn"),
    Word("Ansible", VARIABLE, "inventory_hostname", text="grains.id"),
    Word("Ansible", VARIABLE, "ansible_os_family", text="grains.os_family"),
    Word("Ansible", VARIABLE, "ansible_distribution", text="grains.os"),
    Word("Ansible", VARIABLE, "ansible_distribution_release", text="grains.oscodename"),
    Word("Ansible", VARIABLE, "ansible_distribution_major_version", text="grains.osmajorrelease"),
    Word("Ansible", VARIABLE, "ansible_architecture", text="grains.cpuarch"),
    Word("Ansible", VARIABLE, "ansible_memtotal_mb", text="grains.mem_total"),
    Word("Ansible", VARIABLE, "ansible_processor_vcpus", text="grains.num_cpus"),
    Word(
        "Ansible Puppet Chef",
        VARIABLE,
        "ansible_* facts hostvars group_names node",
        text="grains.NAME (`runner show grains` lists them), or pillar.get('KEY') for your values",
    ),
    Word("Ansible", VARIABLE, "item", text="`{% for item in [...] %}` around the state"),
    Word(
        "Ansible", VARIABLE, "lookup query", text="salt['FUNCTION'](...), cmd.run or file.read say"
    ),
)

_BY_WORD: Mapping[str, Mapping[str, Word]] = {
    kind: {word: row for row in TABLE if row.kind is kind for word in row.words.split()}
    for kind in (FUNCTION, ARGUMENT, VARIABLE)
}


def rows(word: str) -> list[Word]:
    """The rows that a word stands in, of any kind."""
    return [row for row in TABLE if word in row.words.split()]


def function_word(name: str, here: str) -> Word | None:
    """The row of a state function; None where nothing is known of it. here: the same with the name
    that its module has here.
    """
    words = _BY_WORD[FUNCTION]
    module = words.get(name.partition(".")[0])
    end = words.get(name.rpartition(".")[2])  # file.lineinfile
    if end and name not in words and end.names.startswith(f"{name.partition('.')[0]}."):
        return end
    if name in words or (module and " " not in module.names):
        return words.get(name, module)
    return words.get(here, module)


def argument_word(name: str) -> Word | None:
    """The row of an argument, or of what stands in other tools beside a state."""
    return _BY_WORD[ARGUMENT].get(name)


def variable_word(name: str) -> Word | None:
    """The row of a variable of a template."""
    words = _BY_WORD[VARIABLE]
    return words.get(name) or words.get(f"{name.partition('_')[0]}_*")


def task_hint(entry: object) -> str | None:
    """Return what to write for a task of a playbook, which is a mapping; None for anything else."""
    if not isinstance(entry, Mapping):
        return None
    for key in entry:
        row = _BY_WORD[FUNCTION].get(str(key).rpartition(".")[2])
        if row and row.names:
            id_ = entry.get("name") or "ID"
            return (
                f"a list of tasks is Ansible's: write `{id_}:` and below it, indented,"
                f" `{row.names.split()[0]}:` with `- ` before each argument"
            )
    return None


def module_of(word: str) -> str:
    """The state module that another tool calls by a word; the word itself where none is known."""
    row = _BY_WORD[FUNCTION].get(word)
    return row.names.partition(".")[0] if row and row.names else word
