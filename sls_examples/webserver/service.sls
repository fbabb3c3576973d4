{% from 'webserver/map.jinja' import web with context %}

webserver-service:
{% if web.real %}
  service.running:
    - name: nginx
    - enable: True
    - reload: True
{% else %}
  cmd.wait:  # stands in for the service below a scratch folder
    - name: {{ web.program }} -s reload
{% endif %}
    - watch:
      - file: webserver-config
