# Which machine gets which data.
base:
  '*':
    - motd
