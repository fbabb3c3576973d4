# SPDX-License-Identifier: Apache-2.0
"""Apache for real: a site, a module and a configuration that are enabled are served."""

from __future__ import annotations

from debian import Debian

TREE = """
apache2:
  pkg.installed: []
  service.running:
    - watch:
      - apache_module: headers
      - apache_site: "*"
      - apache_conf: named
headers:
  apache_module.enabled: []
000-default:
  apache_site.disabled: []
shop:
  apache_site.enabled: []
named:
  apache_conf.enabled: []
/etc/apache2/sites-available/shop.conf:
  file.managed:
    - contents: |
        <VirtualHost *:80>
          DocumentRoot /srv/shop
          Header set X-Shop open
          <Directory /srv/shop>
            Require all granted
          </Directory>
        </VirtualHost>
    - require: [pkg: apache2]
/etc/apache2/conf-available/named.conf:
  file.managed:
    - contents: ServerName shop.example
    - require: [pkg: apache2]
/srv/shop/index.html:
  file.managed:
    - contents: welcome
    - makedirs: True
"""
FETCH = """
import urllib.request
answer = urllib.request.urlopen('http://localhost/')
print(answer.headers['X-Shop'], answer.read().decode().strip())
"""


def test_what_is_enabled_is_served(debian: Debian) -> None:
    debian.tree(web=TREE)
    dry = debian.results("sls", "web", "--test")
    assert {each["result"] for each in dry.values()} == {None}
    real = debian.results("sls", "web")
    assert real["headers"]["changes"] == {"old": None, "new": "headers"}
    assert real["000-default"]["changes"] == {"old": "000-default", "new": None}
    assert debian.read("/usr/bin/python3", "-c", FETCH) == "open welcome"
    assert not [name for name, each in debian.results("sls", "web").items() if each["changes"]]
    called = debian.run("runner", "call", "apache.a2dismod", "headers").stdout
    assert "Mod headers disabled" in called
