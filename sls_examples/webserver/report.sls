{% from 'webserver/map.jinja' import web with context %}

webserver-report:
  file.managed:
    - name: {{ web.report }}
    - makedirs: True
    - mode: '0755'
    - contents: |
        #!/bin/sh
        find {{ web.pages }} -type f | wc -l
{% if web.real %}
  cron.present:
    - name: {{ web.report }}
    - identifier: site-report
    - user: root
    - minute: 15
    - hour: 3
    - require:
      - file: webserver-report
{% else %}

webserver-report-schedule:
  file.managed:  # stands in for the crontab below a scratch folder
    - name: {{ web.cron }}
    - makedirs: True
    - mode: '0644'
    - contents: 15 3 * * * root {{ web.report }}
    - require:
      - file: webserver-report
{% endif %}
