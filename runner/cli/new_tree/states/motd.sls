# One file. Its place and contents come from the pillar (pillar/motd.sls).
# `runner doc file.managed` lists all arguments; `runner show sls motd` what this template becomes.
message of the day:
  file.managed:
    - name: {{ pillar['motd']['path'] }}
    - contents: {{ pillar['motd']['text'] | yaml_dquote }}
    - mode: '0644'

# A command that runs only when the file was changed.
tell that it changed:
  cmd.run:
    - name: echo "the message of the day is new"
    - onchanges:
      - file: message of the day
