{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_package = tplroot ~ '.package' %}
{%- from tplroot ~ '/map.jinja' import timesync, root with context %}

include:
  - {{ sls_package }}

timesync-config-file:
  file.managed:
    - name: {{ root }}{{ timesync.config }}
    - source: salt://{{ tplroot }}/files/timesync.conf.jinja
    - template: jinja
    - mode: {{ timesync.config_mode }}
    - makedirs: true
    - context:
        timesync: {{ timesync | json }}
    - require:
      - sls: {{ sls_package }}

timesync-drift-directory:
  file.directory:
    - name: {{ root }}{{ salt['file.dirname'](timesync.drift) }}
    - mode: '0750'
    - makedirs: true
    - require_in:
      - file: timesync-config-file
