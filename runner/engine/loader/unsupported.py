# SPDX-License-Identifier: Apache-2.0
"""States and functions of Salt that runner lacks, and what to write instead: errors and
`runner doc --missing` say it.

A row names one function (`gpg.present`) or all of a module (`boto*.*`). A row of a function that
runner has by now is a mistake, which tests/runner/engine/test_missing.py reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

_GUARDED = "call {} with cmd.run, with a guard such as `unless`"
_CONTAINERS = _GUARDED.format("the container engine")
_ANOTHER_SYSTEM = "it is for another system than the Linux machines that runner is for"
_MASTER = "it is a Salt master's: runner works on one machine, without a master or a daemon"
_SEVERAL = "this orchestrates several machines: runner brings one to its state"
_MESSAGE = "send it with the state http.query, or with cmd.run and the service's own client"
_API = "it has an HTTP API: the state http.query, or its own client with cmd.run and a guard"
_CLOUD = "it is a cloud's, not this machine's: its own client with cmd.run and a guard"
_CONFIGURATION = "write its files with file.managed, and let service.running watch them"
_GENTOO = "Gentoo: file.replace in its file, or " + _GUARDED.format("its program")
_SCHEDULE = (
    "`runner schedule` has the system run runner, `runner disable` stops it; cron.present or"
    " systemd.unit the rest"
)


def _rows(*rows: tuple[str, str]) -> dict[str, str]:
    """Names with spaces between them -> the same advice for each."""
    return {name: advice for names, advice in rows for name in names.split()}


STATES = _rows(
    ("firewall.*", _GUARDED.format("the firewall's own program")),
    ("lxc.* lxd.* lxd_*.*", _CONTAINERS),
    ("salt.* zk_concurrency.*", _SEVERAL),
    ("cloud.*", _SEVERAL),
    ("boto*.* aws_sqs.* libcloud_*.* keystone*.* neutron_*.* heat.* glance_image.*", _CLOUD),
    ("pyrax_queues.* infoblox_*.*", _CLOUD),
    ("slack.* msteams.* pushover.* pagerduty*.* opsgenie.* victorops.* ifttt.*", _MESSAGE),
    ("xmpp.* statuspage.* smtp.*", _MESSAGE),
    ("elasticsearch*.* grafana*.* influxdb*.* icinga2.* jenkins.* kapacitor.* nexus.*", _API),
    ("artifactory.* consul.* etcd.* marathon_app.* chronos_job.* solrcloud.* zabbix_*.*", _API),
    ("splunk*.* serverdensity_device.* telemetry_alert.* uptime.* zenoss.* github.*", _API),
    ("kubernetes.* helm.*", _GUARDED.format("kubectl or helm")),
    ("vault.*", "write policies and roles with `vault`, run by cmd.run with a guard"),
    ("apache.configfile", "file.managed with a template; apache_site.enabled enables it"),
    ("apt.held", "pkg.held"),
    ("ansible.playbooks chef.*", _GUARDED.format("its own program")),
    ("beacon.*", "there is no daemon that watches: a path or timer unit by systemd.unit"),
    ("at.watch", "at.present with `onchanges`"),
    ("incron.*", "a path unit by systemd.unit"),
    ("buildout.* rbenv.* rvm.* pyenv.* cabal.*", "its own program with cmd.run and `creates`"),
    ("hg.* svn.*", "its own program with cmd.run and `unless` or `creates`; git.latest for git"),
    ("sqlite3.*", "`sqlite3` with cmd.run and `unless`"),
    ("cryptdev.*", "crypttab.present for the line, cryptsetup by cmd.run with `unless`"),
    ("csf.*", "nftables.*, iptables.*, firewalld.* or ufw.* of runner instead of csf"),
    ("disk.status status.*", "a monitoring's task; as a guard `onlyif` with `fun: disk.percent`"),
    ("ethtool.*", "a .link file of systemd by file.managed, or ethtool with cmd.run"),
    ("eselect.* layman.* makeconf.*", _GENTOO),
    ("glusterfs.* ceph.* pcs.* openvswitch_*.* lvs_*.*", _GUARDED.format("its own program")),
    ("highstate_doc.note", "a comment in the SLS, or test.nop"),
    ("idem.*", "its own program with cmd.run"),
    ("ipmi.* quota.* tuned.* snapper.* keystore.*", _GUARDED.format("its own program")),
    ("jboss7.* glassfish.* tomcat.* modjk*.*", _GUARDED.format("the server's own program")),
    ("kernelpkg.*", "pkg.latest of the kernel's package, system.reboot in module.wait"),
    ("keyboard.*", "localectl by cmd.run with `unless`, or /etc/default/keyboard by file.managed"),
    ("ldap.managed", "ldapmodify by cmd.run with `unless`"),
    ("loop.*", "`retry` with `until`, which every state takes"),
    ("mongodb_*.* mssql_*.*", _GUARDED.format("the database's client")),
    ("memcached.*", "memcached forgets: write such values where they last"),
    ("monit.*", "`monit` with cmd.run and a guard; service.running for services"),
    ("nfs_export.*", "file.managed of /etc/exports.d/NAME.exports, `exportfs -r` by cmd.run"),
    ("openstack_config.*", "ini.options_present, ini.options_absent"),
    ("pdbedit.* pecl.* bower.*", _GUARDED.format("its own program")),
    ("pkgbuild.*", "the builder of the distribution with cmd.run and `creates`"),
    ("rdp.*", _ANOTHER_SYSTEM),
    ("rsync.synchronized", "file.recurse for a tree's own files, else rsync by cmd.run"),
    ("selinux.fcontext_*", _GUARDED.format("semanage") + "; restorecon after it"),
    ("ssh_pki.*", _GUARDED.format("ssh-keygen")),
    ("sysfs.present", "cmd.run with `unless`; at each start a file of /etc/tmpfiles.d"),
    ("syslog_ng.* trafficserver.* wordpress.* webutil.* zookeeper.*", _CONFIGURATION),
    ("tls.valid_certificate", "`openssl x509 -checkend` as a guard `onlyif`"),
    ("vagrant.* virt.* vbox_guest.*", _GUARDED.format("virsh, or its own program")),
    ("zfs.* zpool.*", _GUARDED.format("zfs or zpool") + ": `zfs list NAME`"),
    ("ddns.*", _GUARDED.format("nsupdate")),
    ("x509.*_ssh", _GUARDED.format("ssh-keygen")),
)

# states of Salt for other systems
STATES_ELSEWHERE = _rows(
    ("chocolatey.* macpackage.* reg.* zypper.* win_*.* mac_*.* macdefaults.* dism.*", "")
)
STATES |= dict.fromkeys(STATES_ELSEWHERE, _ANOTHER_SYSTEM)

_ONE = "a run starts no other one: `include:` in the SLS brings the states of another into this run"
WITHIN_A_RUN = {  # what `runner call` knows, and a template or module.run does not
    **{
        f"state.{name}": _ONE
        for name in ("apply", "sls", "sls_id", "highstate", "high", "low", "top", "test")
    },
    "state.single": "a run starts no other one: declare the state in the SLS",
    **dict.fromkeys(
        ("state.template", "state.template_str"),
        "a run starts no other one: save it as an SLS and `include:` it",
    ),
}

_SERVICE = "runner does not manage it: " + _GUARDED
_PROGRAM = "its own program with cmd.run, guarded where it changes something"
_APACHE = "`apachectl -t -D ...`, `apachectl -v` and the like with cmd.run"
_FIREWALLD = "the states firewalld.present and firewalld.service, or `firewall-cmd` with cmd.run"
_MYSQL = "mysql.query with the statement"
_ENGINE = "`docker` or `podman` with cmd.run, guarded where it changes something"
FUNCTIONS = _rows(
    ("redis.hmset redis.hincrbyfloat redis.hscan", "redis.hset, redis.hincrby, redis.hgetall"),
    ("redis.shutdown", "service.stop"),
    ("nginx.*", _SERVICE.format("nginx") + "; service.reload reloads it"),
    ("docker.freeze docker.unfreeze", "docker.pause and docker.unpause"),
    ("docker.compare_* docker.get_client_args", "the state docker_container.running compares"),
    ("docker.call docker.apply docker.highstate docker.sls*", "runner in the container itself"),
    ("docker.commit docker.copy_* docker.cp docker.dangling docker.depends", _ENGINE),
    ("docker.diff docker.disconnect_all_* docker.export docker.import docker.layers", _ENGINE),
    ("docker.login docker.logout docker.prune docker.push docker.save docker.script*", _ENGINE),
    ("docker.search docker.top docker.wait", _ENGINE),
    ("dockercompose.*", "the states docker_compose.up and docker_compose.down"),
    ("lxc.* lxd.* swarm.* k8s.*", _SERVICE.format("the container engine")),
    ("virt.* vagrant.* vboxmanage.* parallels.*", _SERVICE.format("virsh")),
    ("bower.* cabal.* cpan.* pecl.*", _GUARDED.format("the program")),
    (
        "vault.clear_cache vault.clear_token_cache vault.delete_secret vault.destroy_secret"
        " vault.get_server_config vault.patch_secret vault.policies_list vault.policy_delete"
        " vault.policy_fetch vault.policy_write vault.query vault.update_config vault.write_raw"
        " vault.write_secret",
        "the program `vault` or `bao` with cmd.run; vault.read_secret and list_secrets are there",
    ),
    ("nacl.*", "secrets belong in the pillar's encrypted values"),
    ("event.*", "there is no event bus; the state event.send is there"),
    (
        "schedule.add schedule.build_schedule_item schedule.copy schedule.delete schedule.disable"
        " schedule.disable_job schedule.enable schedule.enable_job"
        " schedule.job_status schedule.modify schedule.move"
        " schedule.postpone_job schedule.purge schedule.reload schedule.run_job schedule.save"
        " schedule.show_next_fire_time schedule.skip_job",
        _SCHEDULE,
    ),
    ("beacons.* minion.* key.* saltcloud.* cloud.* seed.* ret.*", _MASTER),
    (
        "saltutil.clear_job_cache saltutil.cmd_iter saltutil.find_cached_job"
        " saltutil.kill_all_jobs saltutil.kill_job saltutil.mmodule saltutil.regen_keys"
        " saltutil.revoke_auth saltutil.signal_job saltutil.term_all_jobs saltutil.term_job",
        _MASTER,
    ),
    ("saltutil.update", "runner is updated like any Python package: pip.upgrade"),
    ("saltutil.wheel", _MASTER + "; saltutil.runner knows those of the runners that one can"),
    (
        "cp.cache_master cp.push cp.push_dir cp.recv cp.recv_chunked cp.list_minion"
        " status.proxy_reconnect",
        _MASTER,
    ),
    (
        "sys.list_returner_functions sys.list_returners sys.list_runner_functions sys.list_runners"
        " sys.returner_argspec sys.returner_doc sys.runner_argspec sys.runner_doc",
        "it describes a Salt master; `runner doc` describes what is here",
    ),
    ("sys.renderer_doc sys.state_schema", "`runner doc` and `runner schema`"),
    (
        "state.check_request state.clear_request state.request state.run_request",
        "`runner highstate --test` shows what would change, then `runner highstate`",
    ),
    ("state.clear_cache", "nothing to do: what runner caches it compares with the tree"),
    ("state.disable state.enable state.list_disabled", "`exclude:` in an SLS, or --exclude"),
    (
        "state.event state.orchestrate state.get_pauses state.pause state.resume state.soft_kill",
        _MASTER,
    ),
    ("state.graph state.graph_highstate", "`runner show graph`"),
    ("state.pkg", "copy the tree to the machine: `runner highstate --state-tree DIR`"),
    ("boto*.* aws_sqs.* libcloud_*.* nova.* neutron*.* keystone*.* glanceng.* heat.*", _CLOUD),
    ("swift.* s3.* openstack_mng.* gcp.* namecheap_*.* infoblox.* travisci.*", _CLOUD),
    ("slack.* msteams.* mattermost.* telegram.* twilio.* pushover.* pushbullet.*", _MESSAGE),
    ("pagerduty*.* opsgenie.* victorops.* ifttt.* google_chat.* xmpp.* smtp.*", _MESSAGE),
    ("mandrill.* jira.* servicenow.* bamboohr.* rallydev.* statuspage.*", _MESSAGE),
    ("consul.* etcd.* elasticsearch.* grafana4.* influxdb*.* icinga2.* jenkins.*", _API),
    ("kapacitor.* nexus.* artifactory.* marathon.* chronos.* solr*.* splunk*.*", _API),
    ("zabbix.* zenoss.* telemetry.* uptime.* github.* netbox.* peeringdb.* random_org.*", _API),
    ("datadog.* serverdensity_device.* hadoop.* riak.* cassandra_cql.* nagios_rpc.*", _API),
    ("kubernetes.* kubeadm.* helm.*", _PROGRAM),
    ("at.atc at.jobcheck", "at.atq, and `at -c NUMBER` by cmd.run"),
    ("bcache.* cryptdev.* devinfo.* devmap.* drbd.* zfs.*", _PROGRAM),
    ("extfs.blocks extfs.dump extfs.mkfs extfs.tune partition.toggle", _PROGRAM),
    ("partition.align_check partition.check partition.cp partition.disk_*", _PROGRAM),
    ("partition.get_id partition.mk* partition.name partition.probe partition.re*", _PROGRAM),
    ("partition.rm partition.set partition.set_id partition.system_types", _PROGRAM),
    ("xfs.defragment xfs.devices xfs.dump xfs.estimate xfs.inventory xfs.mkfs", _PROGRAM),
    ("xfs.modify xfs.prune_dump", _PROGRAM),
    ("zpool.* scsi.* snapper.* quota.* nfs3.* moosefs.*", _PROGRAM),
    ("glusterfs.* ceph.* pcs.* openvswitch.* lvs.* bridge.* ethtool.* ipmi.*", _PROGRAM),
    ("iwtools.* bluetooth.* sensors.* apcups.* udev.* locate.* sysbench.* qemu_*.*", _PROGRAM),
    ("nspawn.* guestfs.* inspector.* freezer.* aptly.* openscap.* osquery.* pdbedit.*", _PROGRAM),
    ("svn.* hg.* rsync.* scp.* chef.* puppet.* ansible.* idem.* buildout.* django.*", _PROGRAM),
    ("rbenv.* rvm.* pyenv.* uwsgi.* varnish.* haproxy.* munin.* nagios.* monit.*", _PROGRAM),
    ("tomcat.* jboss7*.* glassfish.* modjk.* trafficserver.* wordpress.* znc.*", _PROGRAM),
    ("sqlite3.* mongodb.* mssql.* oracle.* memcached.* ldap*.* kerberos.* postfix.*", _PROGRAM),
    ("eix.* gentoolkit.* layman.* makeconf.* eselect.* transactional_update.*", _PROGRAM),
    ("rebootmgr.* tuned.* keystore.* chroot.* syslog_ng.* apf.* csf.*", _PROGRAM),
    ("runit.* s6.* daemontools.* linux_service.*", "service.* has a provider for it"),
    ("lowpkg.file_list lowpkg.file_dict", "pkg.file_list"),
    ("lowpkg.list_pkgs", "pkg.list_pkgs"),
    ("lowpkg.info", "pkg.info_installed"),
    ("lowpkg.version_cmp", "pkg.version_cmp"),
    ("lowpkg.verify lowpkg.modified lowpkg.diff lowpkg.checksum", "pkg.verify"),
    ("kmod.check_available", "kmod.is_available"),
    ("kmod.lsmod", "kmod.mod_list, kmod.is_loaded"),
    ("pkg_resource.[acfps]* pkg_resource.version_clean", "the functions of pkg"),
    ("netaddress.*", "the filters ipaddr, ipv4, ipv6, network_hosts and network_size"),
    ("highstate_doc.*", "`runner show highstate`, `runner show graph --out html`"),
    ("saltcheck.*", "`runner check`, and `runner highstate --test`"),
    ("out.*", "`runner call FUNCTION --out FORM`; in templates the filters json and yaml"),
    ("yaml.*", "`runner check`"),
    ("webutil.*", "`htpasswd` with cmd.run and `unless`"),
    ("openstack_config.*", "ini.get_option, and the state ini.options_present"),
    ("kernelpkg.*", "pkg.list_pkgs, pkg.latest_version, and the grain kernelrelease"),
    ("keyboard.*", "`localectl` with cmd.run"),
    ("archive.cmd_zip", "archive.zip"),
    ("archive.cmd_unzip", "archive.unzip"),
    ("archive.rar archive.unrar", _PROGRAM),
    ("debconf.set debconf.set_template", "the states debconf.set and debconf.set_file"),
    ("debconf.get_selections", "debconf.show"),
    ("dnsutil.hosts_append dnsutil.hosts_remove", "the states host.present and host.absent"),
    ("http.update_ca_bundle", "pkg.latest of ca-certificates"),
    ("mine.get_docker", _CONTAINERS),
    ("pillar.ext", "ext_pillar in the configuration, and pillar.items"),
    (
        "pkg.add_repo pkg.add_repo_key pkg.del_repo_key pkg.get_repo_keys",
        "pkg.mod_repo with `key_url`, and the state pkgrepo.managed",
    ),
    ("pkg.list_updates", "pkg.list_upgrades"),
    ("pkg.update", "pkg.upgrade"),
    ("pkg.get_selections pkg.get_locked_packages pkg.list_locks", "pkg.list_holds"),
    ("pkg.set_selections", "pkg.hold and pkg.unhold"),
    ("pkg.info_available", "pkg.show"),
    ("pkg.which pkg.list_provides", "pkg.owner"),
    ("pkg.file_dict", "pkg.file_list"),
    ("pkg.download", "the state pkg.downloaded, and pkg.list_downloaded"),
    ("pkg.group_install pkg.groupinstall", "the state pkg.group_installed"),
    ("pkg.group_list pkg.group_diff", "pkg.group_info"),
    ("pkg.depclean", "pkg.autoremove"),
    ("pkg.modified pkg.diff", "pkg.verify"),
    ("pkg.check_db", "pkg.latest_version, pkg.available_version"),
    ("postgres.create_extension postgres.drop_extension", "postgres_extension.present"),
    ("postgres.language_create postgres.language_remove", "postgres_language.present"),
    (
        "postgres.privileges_grant postgres.privileges_revoke",
        "the state postgres_privileges.present",
    ),
    ("postgres.schema_create postgres.schema_remove", "postgres_schema.present"),
    (
        "postgres.tablespace_create postgres.tablespace_remove postgres.tablespace_alter",
        "postgres_tablespace.present",
    ),
    ("postgres.owner_to postgres.db_alter postgres.create_metadata", "postgres.psql_query"),
    ("postgres.get_installed_extension", "postgres.installed_extensions"),
    ("postgres.get_available_extension", "postgres.available_extensions"),
    ("postgres.has_privileges postgres.privileges_list", "postgres.psql_query"),
    ("selinux.getsemod", "selinux.list_semod"),
    ("selinux.setsebool", "selinux.setsebools, and the state selinux.boolean"),
    ("selinux.getconfig", "selinux.configured"),
    (
        "system.set_system_date system.set_system_date_time system.set_system_time",
        "`timedatectl set-time` with cmd.run",
    ),
    ("system.init", "`systemctl isolate` with cmd.run"),
    ("user.chhomephone user.chworkphone user.chroomnumber user.chother", "the state user.present"),
    ("apache.*config apache.modules apache.servermods apache.*version apache.vhosts", _APACHE),
    ("apache.directives apache.server_status apache.signal apache.user*", _APACHE),
    ("asymmetric.sign", "gpg.sign"),
    ("config.gather_bootstrap_script", "it installs Salt"),
    ("cp.cache_dest cp.cache_local_file cp.list_*_symlinks", "cp.cache_file, cp.is_cached"),
    ("cp.*_ssh", "cp.hash_file, cp.cache_file"),
    ("cron.write_cron_file_verbose", "cron.write_cron_file"),
    ("ddns.* dnsmasq.* gnome.* grub.* restartcheck.* omapi.* genesis.* sensehat.*", _PROGRAM),
    ("container_resource.* introspect.* celery.* pam.* pkgbuild.*", _PROGRAM),
    ("ssh_pki.*", "`ssh-keygen` with cmd.run and `creates`"),
    ("tls.*", "`openssl` with cmd.run and `creates`"),
    ("rdp.*", _ANOTHER_SYSTEM),
    ("vbox_guest.* zookeeper.*", _PROGRAM),
    ("zk_concurrency.*", _SEVERAL),
    ("incron.*", "a path unit by systemd.unit"),
    ("disk.hdparms disk.hpa disk.iostat disk.smart_attributes", _PROGRAM),
    ("disk.get_fstype_from_path", "disk.fstype, disk.blkid"),
    ("dnsutil.parse_zone", "the zone's server with cmd.run"),
    ("firewalld.add_* firewalld.remove_* firewalld.new_* firewalld.delete_*", _FIREWALLD),
    ("firewalld.*_icmp firewalld.make_permanent firewalld.reload_rules", _FIREWALLD),
    ("firewalld.set_default_zone firewalld.version firewalld.list_icmp_block", _FIREWALLD),
    ("firewalld.get_masquerade firewalld.list_all firewalld.list_port_fwd", "firewalld.zone"),
    (
        "ip.apply_network_settings ip.build_* ip.get_bond ip.get_network_settings",
        "the states network.managed, network.routes and network.system",
    ),
    ("mysql.db_check mysql.db_optimize mysql.db_repair mysql.free_slave mysql.get_*", _MYSQL),
    ("mysql.plugin* mysql.processlist mysql.show* mysql.slave_lag mysql.verify_login", _MYSQL),
    ("mysql.tokenize_grant", "mysql.user_grants"),
    ("pip.list_freeze_parse", "pip.list, pip.freeze"),
    ("pkg.clean_locks pkg.clean_metadata pkg.version_clean", "pkg.refresh_db"),
    ("pkg.list_patches pkg.list_installed_pat* pkg.list_patterns pkg.list_products", _PROGRAM),
    ("pkg.porttree_matches pkg.resolve_capabilities pkg.search", _PROGRAM),
    ("pkg.services_need_restart", "the state service.current, with `restart: False`"),
    ("selinux.fcontext_*", _GUARDED.format("semanage")),
    ("selinux.port_[ad]* selinux.port_modify*", "the states selinux.port_policy_present, _absent"),
    ("selinux.filetype_id_to_string selinux.selinux_fs_path", "selinux.getenforce"),
    ("service.delete service.zap service.firstboot service.execs", "`systemctl` with cmd.run"),
    ("smbios.records", "smbios.get, and `dmidecode` with cmd.run"),
    ("system.*_computer_*", "network.mod_hostname, and the state network.system"),
    ("system.has_settable_hwclock", "timezone.get_hwclock"),
    ("test.deprecation_warning test.opts_pkg test.stack test.tty", "they are Salt's own tests"),
    ("test.missing_func test.module_report test.not_loaded", "sys.list_functions"),
    ("timezone.get_offset timezone.get_zonecode", "`date +%z` and `date +%Z` with cmd.run"),
    ("virtualenv.get_resource_*", "`python -c` of the environment with cmd.run"),
    ("virtualenv.get_site_packages", "virtualenv.python_of, and pip.list"),
    ("virtualenv.get_distribution_path virtualenv.virtualenv_ver", "pip.list, virtualenv.version"),
    ("acl.version", "`getfacl --version` with cmd.run"),
    (
        "btrfs.subvolume_create btrfs.subvolume_delete btrfs.subvolume_set_default",
        "the states btrfs.subvolume_created and btrfs.subvolume_deleted",
    ),
    ("btrfs.mkfs", "the state blockdev.formatted with `fs_type: btrfs`"),
    ("btrfs.add btrfs.convert btrfs.de* btrfs.features btrfs.info btrfs.resize", _PROGRAM),
    ("btrfs.subvolume_find_new btrfs.subvolume_s[ny]* btrfs.usage", _PROGRAM),
    ("cmd.shell_info", "cmd.shells, and cmd.run of the shell with --version"),
    ("cmd.tty", "`echo ... > /dev/tty1` with cmd.run"),
    (
        "file.check_file_meta file.check_managed file.check_managed_changes file.get_managed"
        " file.manage_file",
        "the state file.managed, which a dry run only compares",
    ),
    ("file.open_files", "`lsof` with cmd.run"),
    ("file.restorecon file.set_selinux_context", "`restorecon` or `chcon` with cmd.run"),
    ("file.sed_contains", "file.contains_regex"),
    ("lowpkg.owner", "pkg.owner"),
    ("lowpkg.bin_pkg_info", "`dpkg --info` or `rpm -qip` with cmd.run"),
    ("lowpkg.unpurge", "the state pkg.installed"),
    ("mount.*_mount_cache", "nothing to do: mount.active and mount.fstab read what is there"),
    ("network.get_bufsize network.mod_bufsize", "`ethtool -g` and `ethtool -G` with cmd.run"),
    ("raid.stop", "`mdadm --stop` with cmd.run; the state raid.absent also erases the array"),
    ("service.offline", "service.available"),
    ("supervisord.custom", "`supervisorctl` with cmd.run"),
    ("x509.create_certificate_ssh", "`ssh-keygen -s` with cmd.run and `creates`"),
    (
        "x509.sign_remote_certificate",
        _MASTER + "; the state x509.certificate_managed signs with a key of this machine",
    ),
)


def of_state(name: str) -> str | None:
    """Return what to write instead of a state function; None where nothing is known of it."""
    return _advice(STATES, name)


def of_function(name: str) -> str | None:
    """Return what to write instead of an execution function; None where nothing is known of it."""
    return _advice(FUNCTIONS, name)


def _advice(rows: Mapping[str, str], name: str) -> str | None:
    if name in rows:
        return rows[name]
    return next((advice for row, advice in rows.items() if fnmatchcase(name, row)), None)


def hint(name: str) -> str | None:
    """Return what to write instead of a state function whose module is not there; None where
    nothing is known of it.
    """
    instead = of_state(name)
    return (
        f"runner has no {name.partition('.')[0]} states: {instead}; or bring your own in _states/"
        " of the tree"
        if instead
        else None
    )
