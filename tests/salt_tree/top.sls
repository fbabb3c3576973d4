base:
  'web*':
    - webserver
    - timesync
    - rotation
  'G@kernel:Linux and I@shell:*':
    - match: compound
    - shell
