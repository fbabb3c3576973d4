# Copyright: the authors of runner
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the roster of salt-ssh as an inventory."""

from __future__ import annotations

DOCUMENTATION = """
name: salt_roster
short_description: the hosts of a Salt roster
description:
  - A YAML file with C(plugin: runner.runner.salt_roster) names the roster by its key C(roster).
  - Where this plugin is enabled, a file that is called C(roster) is read as one.
  - Grains of a host (C(grains), and those of C(minion_opts)) become its variable C(grains).
options:
  plugin:
    description: Always C(runner.runner.salt_roster).
    type: str
  roster:
    description: The roster, relative to the file that names it.
    type: path
    default: /etc/salt/roster
"""
EXAMPLES = """
plugin: runner.runner.salt_roster
roster: /etc/salt/roster
"""

import os
import shlex

import jinja2
import yaml
from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin

try:
    from ansible.utils.unsafe_proxy import wrap_var
except ImportError:  # texts of an inventory plugin are no templates any more

    def wrap_var(value):
        return value


NAME = "runner.runner.salt_roster"
PLAIN = {
    "host": "ansible_host",
    "user": "ansible_user",
    "port": "ansible_port",
    "sudo": "ansible_become",
    "sudo_user": "ansible_become_user",
    "timeout": "ansible_timeout",
}
# what has no meaning where no thin Salt is copied to the host
WITHOUT_MEANING = ("thin_dir", "cmd_umask", "set_path", "ssh_pre_flight", "ssh_pre_flight_args")


class InventoryModule(BaseInventoryPlugin):
    """Hosts of a roster, with the variables that Ansible knows for what it says."""

    NAME = NAME

    def verify_file(self, path):
        """Return whether it names a roster, or is one."""
        if not os.path.isfile(path) or os.access(path, os.X_OK):
            return False
        return _config(path) is not None or os.path.basename(path) == "roster"

    def parse(self, inventory, loader, path, cache=True):
        """Add the hosts."""
        super().parse(inventory, loader, path, cache)
        config = _config(path)
        if config is not None:
            roster = config.get("roster") or "/etc/salt/roster"
            path = os.path.join(os.path.dirname(os.path.abspath(path)), roster)
        for name, said in _read(path).items():
            if isinstance(said, str):
                said = {"host": said}
            if not isinstance(said, dict):
                raise AnsibleParserError(f"{path}: {name} is no mapping")
            name = self.inventory.add_host(str(name))
            for variable, value in _variables(path, name, said, self.display).items():
                self.inventory.set_variable(name, variable, wrap_var(value))


def _config(path):
    """The contents of a file that only names a roster; None for any other file."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        data = yaml.safe_load(text) if NAME in text else None
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return None
    return data if isinstance(data, dict) and data.get("plugin") == NAME else None


def _read(path):
    """The hosts of a roster. Like Salt's it may be a Jinja template of YAML."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        data = yaml.safe_load(
            jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render()
        )
    except (OSError, UnicodeDecodeError) as error:
        raise AnsibleParserError(f"{path}: {error}") from error
    except jinja2.TemplateError as error:
        raise AnsibleParserError(f"{path}: {error}") from error
    except yaml.YAMLError as error:
        raise AnsibleParserError(f"{path}: this is not YAML: {error}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise AnsibleParserError(f"{path}: a roster is a mapping of IDs to hosts")
    return data


def _variables(path, name, said, display):
    """The variables of one host."""
    said = {key: value for key, value in said.items() if value is not None}
    if said.get("passwd"):
        raise AnsibleParserError(
            f"{path}: {name} has its password in clear (passwd); use a key (priv), or put"
            " ansible_password into a file that ansible-vault encrypts"
        )
    options = said.get("minion_opts") or {}
    variables = {ours: said[key] for key, ours in PLAIN.items() if key in said}
    arguments = [word for option in said.get("ssh_options") or () for word in ("-o", str(option))]
    if said.get("identities_only"):
        arguments += ["-o", "IdentitiesOnly=yes"]
    key = said.get("priv")
    if key == "agent-forwarding":
        arguments.append("-A")
    elif key:
        variables["ansible_ssh_private_key_file"] = key
    if said.get("tty"):
        variables.update(ansible_ssh_use_tty=True, ansible_pipelining=False)
    if arguments:
        variables["ansible_ssh_common_args"] = shlex.join(arguments)
    grains = {**(options.get("grains") or {}), **(said.get("grains") or {})}
    if grains:
        variables["grains"] = grains
    known = {*PLAIN, *WITHOUT_MEANING, "passwd", "minion_opts", "ssh_options", "identities_only"}
    unknown = [key for key in said if key not in known | {"priv", "tty", "grains"}]
    unknown += [f"minion_opts:{key}" for key in options if key != "grains"]
    if unknown:
        display.warning(f"{path}: {name}: {', '.join(map(str, unknown))}: not used")
    return variables
