{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_config = tplroot ~ '.config.file' %}
{%- from tplroot ~ '/map.jinja' import timesync, root with context %}

include:
  - {{ sls_config }}

timesync-service-running:
  cmd.wait:
    - name: echo restarted {{ timesync.service }} >> {{ root }}/restarts
    - watch:
      - sls: {{ sls_config }}
