{% from 'webserver/map.jinja' import web with context %}

{{ web.pages }}:
  file.directory:
    - makedirs: True
    - mode: '0755'

{% for page, text in pillar['webserver']['pages'] | dictsort %}
{{ web.pages }}/{{ page }}:
  file.managed:
    - contents_pillar: webserver:pages:{{ page }}
    - mode: '0644'
    - require:
      - file: {{ web.pages }}
{% endfor %}
