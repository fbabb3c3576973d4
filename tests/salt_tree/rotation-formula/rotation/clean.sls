{%- from 'rotation/map.jinja' import rotation, folder with context %}
{%- for name, log in rotation.logs.items() if log.get('absent') %}

rotation-{{ name }}-absent:
  file.absent:
    - name: {{ folder }}/{{ name }}
    - require:
      - file: {{ folder }}
{%- endfor %}
