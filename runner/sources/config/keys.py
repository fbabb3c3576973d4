# SPDX-License-Identifier: Apache-2.0
"""The names that a configuration may have, and what they are when nobody says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.model.diagnostics import similar
from runner.sources.config.options import kinds
from runner.sources.config.unused_keys import INSTEAD

# what templates find in `opts` when the configuration does not say otherwise: Salt's minion
# defaults
DEFAULTS: Mapping[str, Any] = {
    "autoload_dynamic_modules": True,
    "backup_mode": "",
    "clean_dynamic_modules": True,
    "cmd_safe": True,
    "decrypt_pillar": [],
    "decrypt_pillar_default": "gpg",
    "decrypt_pillar_delimiter": ":",
    "default_include": "minion.d/*.conf",
    "default_top": "base",
    "disable_modules": [],
    "disable_returners": [],
    "env_order": [],
    "ext_pillar": [],
    "failhard": False,
    "features": {},
    "file_buffer_size": 262144,
    "file_client": "local",
    "file_ignore_glob": [],
    "file_ignore_regex": [],
    "fileserver_backend": ["roots"],
    "fileserver_followsymlinks": True,
    "fileserver_ignoresymlinks": False,
    "global_state_conditions": None,
    "hash_type": "sha256",
    "ipv6": None,
    "jinja_env": {},
    "jinja_sls_env": {},
    "local": True,
    "lock_saltenv": False,
    "log_level": "warning",
    "master": "salt",
    "mine_functions": {},
    "module_dirs": [],
    "nodegroups": {},
    "pillar": {},
    "pillar_cache": False,
    "pillar_includes_override_sls": False,
    "pillar_merge_lists": False,
    "pillar_opts": False,
    "pillar_raise_on_missing": False,
    "pillar_source_merging_strategy": "smart",
    "pillarenv": None,
    "pillarenv_from_saltenv": False,
    "providers": {},
    "renderer": "jinja|yaml",
    "render_limit": None,
    "renderer_blacklist": [],
    "renderer_whitelist": [],
    "root_dir": "/",
    "saltenv": None,
    "schedule": {},
    "state_aggregate": False,
    "state_auto_order": True,
    "state_output": "full",
    "state_top": "top.sls",
    "state_top_saltenv": None,
    "state_verbose": True,
    "states_dirs": [],
    "strict": False,
    "test": False,
    "top_file_merging_strategy": "merge",
    "unknown_states": "error",
    "__cli": "salt-call",
    "__role": "minion",
}

MAPPING, TEXT, FLAG, LIST, NUMBER = (
    "a mapping",
    "a text",
    "true or false",
    "a list",
    "a whole number",
)
KINDS: Mapping[str, tuple[type, ...]] = {
    MAPPING: (dict,),
    TEXT: (str,),
    FLAG: (bool,),
    LIST: (list,),
    NUMBER: (int,),
}
LONGEST = 10**9  # seconds that something may take: more than 30 years
NOTIFYING = ("on_failure", "on_change")  # commands that a run calls at its end
# the types of Options, as a configuration has them
_WORDS = {
    "bool": FLAG,
    "str": TEXT,
    "int": NUMBER,
    "float": NUMBER,
    "Mapping": MAPPING,
    "tuple": LIST,
}
# what each key that runner itself reads has to be
TYPES: Mapping[str, tuple[str, ...]] = {
    **{name: tuple(_WORDS[kind] for kind in of_field) for name, of_field in kinds().items()},
    "age_identities": (LIST,),
    "age_recipients": (LIST,),
    "decrypt_pillar": (LIST, MAPPING),
    "decrypt_pillar_default": (TEXT,),
    "decrypt_pillar_delimiter": (TEXT,),
    "decrypt_pillar_renderers": (LIST,),
    "default_include": (TEXT,),
    "durable": (TEXT, FLAG),  # a flag is Salt's: of a transport that is not here
    # MiB of a file that is read whole to be edited or searched; 0: no limit
    "edit_size_limit": (NUMBER,),
    "ext_pillar_first": (FLAG,),
    "file_ignore_glob": (LIST, TEXT),
    "file_ignore_regex": (LIST, TEXT),
    "fleet": (MAPPING,),
    "fileserver_followsymlinks": (FLAG,),
    "fileserver_ignoresymlinks": (FLAG,),
    "gpg_decrypt_must_succeed": (FLAG,),
    "gpg_keydir": (TEXT,),
    "gpg_recipients": (LIST,),
    "html_report": (TEXT,),
    "include": (LIST, TEXT),
    "jinja_lstrip_blocks": (FLAG,),
    "jinja_trim_blocks": (FLAG,),
    "log_datefmt": (TEXT,),
    "log_datefmt_console": (TEXT,),
    "log_datefmt_logfile": (TEXT,),
    "log_file": (TEXT,),
    "log_fmt_console": (TEXT,),
    "log_fmt_logfile": (TEXT,),
    "log_granular_levels": (MAPPING,),
    "log_level": (TEXT,),
    "log_level_logfile": (TEXT,),
    "grains_dirs": (LIST,),
    "module_dirs": (LIST,),
    "on_change": (LIST,),
    "otel_endpoint": (TEXT,),
    "otel_headers": (MAPPING,),
    "on_failure": (LIST,),
    "pillar_opts": (FLAG,),
    "pillar_raise_on_missing": (FLAG,),
    "pillarenv_from_saltenv": (FLAG,),
    "plan_allowed_signers": (TEXT,),
    "prometheus_textfile": (TEXT,),
    "renderer_blacklist": (LIST,),
    "renderer_whitelist": (LIST,),
    "report": (),  # runner.sources.config.report
    # MiB of a file that is compiled (SLS, pillar, top file, template); 0: no limit
    "sls_size_limit": (NUMBER,),
    "render_limit": (NUMBER,),  # seconds of the processor for one file; 0: no limit
    "environment": (TEXT,),
    "render_dirs": (LIST,),
    "states_dirs": (LIST,),
    "utils_dirs": (LIST,),
    "master_tops": (TEXT, LIST, MAPPING),
    "master_tops_first": (FLAG,),
    "tree": (MAPPING,),
    "vault": (MAPPING,),
    "x509_signing_policies": (MAPPING,),
}
TEXTS = frozenset(
    [
        "env_order",
        "file_ignore_glob",
        "file_ignore_regex",
        "renderer_blacklist",
        "renderer_whitelist",
    ]
)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "durable": ("wanted", "required"),
    "unknown_states": ("error", "fail"),
}
ODD_CHOICES: Mapping[str, tuple[str, ...]] = {  # Salt falls back to the first
    "top_file_merging_strategy": ("merge", "same", "merge_all"),
    "pillar_source_merging_strategy": (
        "smart",
        "recurse",
        "list",
        "aggregate",
        "overwrite",
        "none",
    ),
}

# a Salt minion's keys: those that mean nothing here (a master, a daemon, a network) are taken
# without a word
_NAMES = """
        acceptance_wait_time acceptance_wait_time_max always_verify_signature append_domain
    append_minionid_config_dirs args_stdin auth_retries auth_safemode auth_timeout auth_tries
    auto_accept     autoload_dynamic_modules autosign_timeout backup_mode beacons
    beacons_before_connect     cache cache_jobs cache_sreqs caller clean_dynamic_modules
    cluster_mode cmd_safe conf_file config_dir     cython_enable decrypt_pillar
    decrypt_pillar_default decrypt_pillar_delimiter decrypt_pillar_renderers
    disable_aes_with_tls disable_grains disable_modules disable_returners disabled_requisites
    discovery doc     enable_fqdns_grains enable_gpu_grains enable_legacy_startup_events
    enable_zip_modules     encryption_algorithm engines event_match_type ext_job_cache ext_pillar
    ext_pillar_first extension_modules     extmod_blacklist extmod_whitelist features
    file_buffer_size file_recv file_recv_max_size fileserver_backend     fips_mode force_color
    git_pillar_base git_pillar_branch git_pillar_depth git_pillar_disable_saltenv_mapping
    git_pillar_env git_pillar_fallback git_pillar_global_lock git_pillar_includes
    git_pillar_insecure_auth     git_pillar_passphrase git_pillar_password git_pillar_privkey
    git_pillar_proxy git_pillar_pubkey     git_pillar_ref_types git_pillar_refspecs git_pillar_root
    git_pillar_ssl_verify git_pillar_timeout git_pillar_update_interval git_pillar_user
    gitfs_base gitfs_provider git_pillar_provider gitfs_all_saltenvs gitfs_env_whitelist
    gitfs_env_blacklist git_pillar_all_saltenvs git_pillar_mountpoint gitfs_depth
    gitfs_disable_saltenv_mapping gitfs_fallback gitfs_global_lock     gitfs_insecure_auth
    gitfs_mountpoint gitfs_passphrase gitfs_password gitfs_privkey gitfs_proxy gitfs_pubkey
    gitfs_ref_types gitfs_refspecs gitfs_remotes gitfs_root gitfs_saltenv gitfs_saltenv_blacklist
    gitfs_saltenv_whitelist gitfs_ssl_verify gitfs_timeout gitfs_update_interval gitfs_user
    global_state_conditions gpg_cache     gpg_cache_backend gpg_cache_ttl gpg_decrypt_must_succeed
    gpg_keydir grains_blacklist grains_cache     grains_cache_expiration grains_deep_merge
    grains_dirs grains_refresh_every grains_run hard_crash hash_type     hgfs_update_interval
    http_max_body http_request_timeout id_function interface ipc_mode ipc_write_buffer ipv6
    jinja_lstrip_blocks jinja_trim_blocks keys.cache_driver keysize local lock_saltenv log_datefmt
    log_datefmt_console log_datefmt_logfile log_fmt_console log_fmt_jid log_fmt_logfile
    log_fmt_minion_id     log_granular_levels log_level_logfile log_rotate_backup_count
    log_rotate_max_bytes loop_interval master     master_alive_interval master_failback
    master_failback_interval master_finger master_port master_shuffle     master_sign_key_name
    master_tops_first master_tries master_type master_uri_format max_event_size     max_open_files
    metrics mine_enabled mine_functions mine_interval mine_return_job minion_id_caching
    minion_id_lowercase minion_id_remove_domain minion_jid_queue_hwm minion_restart_command
    minion_sign_messages     minionfs_update_interval module_dirs modules_max_memory
    multifunc_ordered multiprocessing no_color no_parse     no_return_event on_demand_ext_pillar
    open_mode optimization_order output output_file output_file_append     outputter_dirs password
    permissive_pki_access pidfile pillar.cache_driver pillar_cache pillar_cache_backend
    pillar_cache_ttl pillar_mask_output pillar_opts pillar_raise_on_missing ping_interval pki_dir
    print_metadata     process_count_max profiling_enabled profiling_path providers proxy_host
    proxy_minion proxy_password     proxy_port proxy_username pub_ret publish_port publish_session
    publisher_acl publisher_acl_blacklist     random_master random_reauth_delay random_startup_delay
    range_server reactor reactor_niceness     reactor_refresh_interval reactor_worker_hwm
    reactor_worker_threads recon_default recon_max recon_randomize     refresh_grains_cache
    rejected_retry render_dirs renderer_blacklist renderer_whitelist     request_channel_timeout
    request_channel_tries resolve_dns_fallback resource_pillar_key resources     resources_dispatch
    resources_tgt resources_tgt_type restart_on_error retcode_passthrough retry_dns
    retry_dns_count return return_retry_timer return_retry_timer_max return_retry_tries
    returner_dirs root_dir     roots_update_interval s3fs_update_interval salt_cp_chunk_size
    saltpip_allow_find_links     saltpip_disable_pip_version_check saltpip_no_deps saltpip_no_index
    saltpip_use_pythonpath schedule     schedule_data scheduler_before_connect
    selected_output_option sign_pub_messages     signing_algorithm skip_grains sls_list
    snapper_states snapper_states_config sock_dir sock_pool_size     source_address
    source_interface_name source_publish_port source_ret_port ssh_merge_pillar ssl
    start_event_grains startup_states state_events state_output state_output_diff
    state_output_profile state_queue state_tabular state_verbose states_dirs sudo_user
    svnfs_update_interval syndic_finger syndic_master syndic_retries tcp_authentication_retries
    tcp_keepalive     tcp_keepalive_cnt tcp_keepalive_idle tcp_keepalive_intvl tcp_pub_port
    tcp_pull_port tcp_reconnect_backoff     thorium_roots thorium_top thoriumenv top_file tracing
    transport unique_jid update_restart_services     update_url use_master_when_local
    use_os_truststore use_superseded user username utils_dirs verify_env
    verify_master_pubkey_sign whitelist_modules whitelist_state_modules winrepo_branch
    winrepo_cache_expire_max     winrepo_cache_expire_min winrepo_cachefile winrepo_depth
    winrepo_dir winrepo_dir_ng winrepo_fallback     winrepo_insecure_auth
    winrepo_installer_cache_expire winrepo_passphrase winrepo_password winrepo_privkey
    winrepo_proxy winrepo_pubkey winrepo_refspecs winrepo_remotes winrepo_remotes_ng
    winrepo_source_dir     winrepo_ssl_verify winrepo_user zmq_filtering zmq_monitor
"""
SALT_KEYS = frozenset(_NAMES.split())


def is_known(key: object) -> bool:
    """Return whether a key needs no warning; `mysql.host` and `gpg:x` configure modules."""
    return (
        key in TYPES
        or key in DEFAULTS
        or key in SALT_KEYS
        or key in INSTEAD
        or "." in str(key)
        or ":" in str(key)
    )


def nearest(key: object) -> str | None:
    """The key that was probably meant."""
    ours = similar(str(key), [*TYPES, *DEFAULTS], 1, 0.75)
    return next(iter(ours or similar(str(key), SALT_KEYS, 1, 0.8)), None)
