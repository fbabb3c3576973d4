motd:
  path: /tmp/runner-motd  # as root you may want /etc/motd
  text: This machine is managed by runner.
