base:
  'web*':
    - webserver
    - scratch
    - formulas
