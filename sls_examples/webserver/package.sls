{% from 'webserver/map.jinja' import web with context %}

webserver-package:
{% if web.real %}
  pkg.installed:
    - name: nginx
{% else %}
  file.managed:  # stands in for the package below a scratch folder
    - name: {{ web.program }}
    - makedirs: True
    - mode: '0755'
    - contents: |
        #!/bin/sh
        echo "nginx $*"
{% endif %}

{% if web.real %}
webserver-user:
  user.present:
    - name: site
    - system: True
    - home: {{ web.pages }}
    - createhome: False
    - shell: /usr/sbin/nologin
{% endif %}
