{% from 'webserver/map.jinja' import web with context %}

webserver-config:
  file.managed:
    - name: {{ web.conf }}
    - source: salt://webserver/files/site.conf
    - template: jinja
    - context:
        pages: {{ web.pages }}
        port: {{ web.listen }}
    - mode: '0644'
    - makedirs: True
    - require:
      - sls: webserver.package
