{%- set tplroot = tpldir.split('/')[0] %}
{%- from tplroot ~ '/map.jinja' import timesync, root with context %}

timesync-package-installed:
  file.managed:
    - name: {{ root }}/usr/sbin/{{ timesync.package }}
    - contents: '#!/bin/true'
    - makedirs: true
    - mode: '0755'
