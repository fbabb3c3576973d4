# SPDX-License-Identifier: Apache-2.0
"""The manual of the settings that git repositories have, as file roots and as external pillars."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from runner.sources.config.key_descriptions import REPOSITORIES, Key

D = partial(Key, REPOSITORIES)
# settings of `gitfs_remotes` (gitfs_NAME) and of the external pillar `git` (git_pillar_NAME)
OF_REPOSITORIES: Mapping[str, Key] = {
    "base": D("The branch, tag or commit that is the environment `base`.", "base: main"),
    "branch": D("The branch of a repository that names none.", "branch: main"),
    "env": D(
        "The environment that the repositories' pillar is for.",
        "env: base",
        default="that of the branch",
    ),
    "root": D("The folder of the repository that is used.", "root: salt/states"),
    "mountpoint": D("The path that it appears at: `salt://pre/fix`.", "mountpoint: salt://pre/fix"),
    "fallback": D(
        "The branch for environments that others have and this repository has not.",
        "fallback: main",
    ),
    "ssl_verify": D(
        "Whether the server's certificate is verified; a file has the authorities.",
        "ssl_verify: /etc/runner/ca.pem",
    ),
    "privkey": D("The ssh key, without a passphrase.", "privkey: /etc/runner/deploy_key"),
    "pubkey": D(
        "The public part of `privkey`; it is not needed.", "pubkey: /etc/runner/deploy_key.pub"
    ),
    "passphrase": D("Not used: `privkey` has none.", "passphrase: ''"),
    "user": D("The user, for https.", "user: deploy"),
    "password": D("The password, for https.", "password: secret"),
    "insecure_auth": D(
        "Whether user and password may be sent unencrypted, by http.", "insecure_auth: true"
    ),
    "update_interval": D(
        "A run fetches when the last fetch is longer ago.", "update_interval: 300", unit="seconds"
    ),
    "timeout": D("How long a fetch may take.", "timeout: 120", unit="seconds"),
    "all_saltenvs": D("One branch for all environments.", "all_saltenvs: main"),
    "disable_saltenv_mapping": D(
        "Only `base` and the environments that `saltenv` names.", "disable_saltenv_mapping: true"
    ),
    "ref_types": D("What becomes an environment: branch, tag, sha.", "ref_types: [branch, tag]"),
    "refspecs": D(
        "The branches and tags that are fetched, and their names.",
        "refspecs:\n  - +refs/heads/*:refs/remotes/origin/*",
    ),
    "saltenv_whitelist": D(
        "The only environments that are served: names, globs, regular expressions.",
        "saltenv_whitelist: [base, 'v1*']",
    ),
    "saltenv_blacklist": D(
        "Environments that are not served: names, globs, regular expressions.",
        "saltenv_blacklist: ['dev*']",
    ),
    "env_whitelist": D("An older name of `saltenv_whitelist`.", "env_whitelist: [base]"),
    "env_blacklist": D("An older name of `saltenv_blacklist`.", "env_blacklist: [dev]"),
    "proxy": D("Not used: `https_proxy` in the environment is.", "proxy: ''"),
    "depth": D("Not used: all commits are fetched.", "depth: 1"),
}
