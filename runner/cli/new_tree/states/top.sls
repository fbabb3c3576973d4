# Which machine gets which SLS files. '*' is a pattern for machine IDs: all of them.
base:
  '*':
    - motd
