shell-profile:
  file.managed:
    - name: {{ salt['pillar.get']('scratch', '') }}/etc/profile.d/editor.sh
    - source: salt://shell/files/editor.sh
    - template: jinja
    - makedirs: true
    - defaults:
        editor: vi
