{%- set settings = salt['pillar.get']('shell', {}) %}
{%- set homes = salt['pillar.get']('scratch', '') ~ '/home' %}

include:
  - shell.profile

extend:
  shell-profile:
    file:
      - context:
          editor: nano

{%- for account, given in settings.accounts | dictsort %}
{%- set home = homes ~ '/' ~ account %}
{%- set wanted = salt['slsutil.merge']({'editor': 'nano', 'aliases': {}}, given) %}

shell-{{ account }}-home:
  file.recurse:
    - name: {{ home }}
    - source: salt://shell/files/skel
    - file_mode: keep
    - dir_mode: '0750'
    - include_empty: true
    - replace: false  # the file belongs to the account once it is there

shell-{{ account }}-aliases:
  file.blockreplace:
    - name: {{ home }}/.shellrc
    - marker_start: '# -- aliases'
    - marker_end: '# -- end of aliases'
    - append_if_not_found: true
    - content: |
        export EDITOR={{ wanted.editor }}
        {%- for name, command in wanted.aliases | dictsort %}
        alias {{ name }}='{{ command }}'
        {%- endfor %}
    - require:
      - file: shell-{{ account }}-home

shell-{{ account }}-link:
  file.symlink:
    - name: {{ home }}/.profile
    - target: .shellrc
    - require:
      - file: shell-{{ account }}-aliases
{%- endfor %}

shell-told:
  cmd.wait:
    - name: echo changed >> {{ homes }}/told
    - listen:
      - file: shell-profile
