{%- from 'rotation/map.jinja' import rotation, folder with context %}
{%- from 'rotation/macros.jinja' import stanza %}

include:
  - rotation.clean

{{ folder }}:
  file.directory:
    - makedirs: true

{%- for name, log in rotation.logs | dictsort if not log.get('absent') %}

rotation-{{ name }}:
  file.managed:
    - name: {{ folder }}/{{ name }}
    - contents: |
        {{ stanza(name, log, rotation.defaults) | indent(8) }}
    - require:
      - file: {{ folder }}
    - onchanges_in:
      - cmd: rotation-checked
{%- endfor %}

rotation-checked:
  cmd.run:
    - name: ls {{ folder }} > {{ folder }}.list

rotation-settings:
  file.serialize:
    - name: {{ folder }}.json
    - dataset_pillar: rotation:logs
    - serializer: json
    - require:
      - file: {{ folder }}
