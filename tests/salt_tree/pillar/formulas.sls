timesync:
  lookup:
    config_mode: '0640'
  servers:
    - ntp1.example.org
    - ntp2.example.org
  options:
    makestep: 1 3

rotation:
  logs:
    nginx:
      paths: [/var/log/nginx/*.log]
      options: [weekly, compress]
    mail:
      options: [daily]
    gone:
      absent: true

shell:
  accounts:
    alice: {editor: vim, aliases: {ll: ls -l, gs: git status}}
    bob: {}
