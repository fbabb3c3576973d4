# SPDX-License-Identifier: Apache-2.0
"""Mistakes of YAML and of encoding."""

from mistakes import HERE, Mistake

MISTAKES = [
    Mistake(
        "command of a template that needs a shell",
        "a:\n  test.nop:\n    - name: «{{ salt['cmd.run']('echo [ && echo b') }}\n",
        "YAML",
        "cmd.run starts no shell, and `&&` needs one: salt\\['cmd.shell'\\]",
        column=False,
    ),
    Mistake(
        "tab in the indentation",
        "/etc/motd:\n«\tfile.managed:\n    - contents: hi\n",
        "tab",
        "spaces",
    ),
    Mistake(
        "tab before an argument",
        "/etc/motd:\n  file.managed:\n«\t- contents: hi\n",
        "tab",
        "spaces",
    ),
    Mistake(
        "tab after spaces", "/etc/motd:\n  file.managed:\n  «\t- contents: hi\n", "tab", "spaces"
    ),
    Mistake(
        "tab behind a dash",
        "/etc/motd:\n  file.managed:\n    - user: x\n    -«\tcontents: hi\n",
        "a tab after the dash",
        "spaces",
    ),
    Mistake(
        "tab in a list",
        "a:\n  pkg.installed:\n    - pkgs:\n      -«\tvim\n",
        "a tab after the dash",
        "spaces",
    ),
    Mistake(
        "pattern that is a comment",
        "/etc/x:\n  file.replace:\n    - repl: Port 23\n    - «pattern: #Port 22\n",
        "given, but empty",
        "# begins a comment: put it in quotes: '#Port 22'",
    ),
    Mistake(
        "line that is a comment",
        "/etc/x:\n  file.append:\n    - text:\n      -« #Port 22\n      - b\n",
        "got nothing",
        "put it in quotes: '#Port 22'",
    ),
    Mistake(
        "guard that is a comment",
        "a:\n  cmd.run:\n    - «unless: #test -f /x\n",
        "null is not a command",
        "put it in quotes: '#test -f /x'",
        check_only=True,
    ),
    Mistake(
        "command that begins with a brace",
        "a:\n  cmd.run:\n    - creates: /x\n    - «name: {date; id; }\n",
        "name in state 'a' in SLS 'web' is no text",
        "put it in quotes: '{date; id; }'",
        check_only=True,
    ),
    Mistake(
        "path in typographic quotes",
        "a:\n  file.managed:\n    - contents: x\n    - «name: “/etc/x”\n",
        "not an absolute path",
        "write the plain quotes ' or \"",
    ),
    Mistake(
        "tag with a space in its sign",
        "{ «% if true % }\n",
        "cannot begin with %",
        "no space in its `{%`",
    ),
    Mistake(
        "no-break space behind a dash",
        "/etc/motd:\n  file.managed:\n    - user: x\n    -«\u00a0contents: hi\n",
        "U.00A0. after `-`",
        "plain space",
    ),
    Mistake(
        "key behind another line as a tag took the line break",
        "a:\n  test.nop:\n    - names:\n    {%- for i in ['x'] %}\n      - {{ i }}\n    {%- endfor -%}\n"
        "«b:\n  test.nop\n",
        "'b:' stands behind '- x'",
        "remove that hyphen",
    ),
    Mistake(
        "loop whose end takes its line break",
        "{% for i in [1, 2] -%}\n«b:\n  test.nop: []\n{%- endfor %}\n",
        "'b:' stands behind 'test.nop: ..'",
        "remove that hyphen",
    ),
    Mistake(
        "UTF-16 without its mark",
        {
            "web.sls": "a:\n  test.nop\n".encode("utf-16-le").replace(
                b"\0", HERE.encode() + b"\0", 1
            )
        },
        "the file is UTF-16",
        "save it as UTF-8",
    ),
    Mistake(
        "folder without init.sls",
        {"web.sls": "include:\n  - «nginx\n", "nginx/install.sls": "b: test.nop\n"},
        "nginx in saltenv base is not available",
        "that folder has no init.sls, but there is nginx.install",
    ),
    Mistake(
        "value of several lines in a text",
        "{% set key = 'a\\nb' %}\n/etc/motd:\n  file.managed:\n    - contents: |\n        «{{ key }}\n",
        "no colon follows 'b'",
        r"^the value of `key` has several lines; `{{ key \| indent\(8\) }}`",
    ),
    Mistake(
        "value of several lines whose second is a mapping",
        "{% set key = 'a\\nb: c' %}\n/etc/motd:\n  file.managed:\n    - contents: |\n        «{{ key }}\n",
        "ID b in SLS web is not a dictionary",
        r"^the value of `key` has several lines; `{{ key \| indent\(8\) }}`",
    ),
    Mistake(
        "value of several lines in one line",
        "{% set key = 'a\\nb' %}\n/etc/motd:\n  file.managed:\n    - contents: «{{ key }}\n",
        "no colon follows 'b'",
        "^the value of `key` has several lines; `{{ key | yaml_dquote }}`",
    ),
    Mistake(
        "no-break space before a dash",
        "/etc/motd:\n  file.managed:\n   «\u00a0- contents: hi\n",
        "not formed as a list",
        "U.00A0. beside the dash: write `- contents: hi`",
    ),
    Mistake(
        "no-break space in a line of its own",
        "/etc/motd:\n  file.managed:\n    - contents: hi\n«\u00a0\na: test.nop\n",
        "U.00A0. in the indentation",
        "plain space",
    ),
    Mistake(
        "no-break space in the first line",
        "«\u00a0\na: test.nop\n",
        "U.00A0. in the indentation",
        "plain space",
    ),
    Mistake(
        "typographic dash",
        "/etc/motd:\n  file.managed:\n    «– contents: hi\n",
        "not formed as a list",
        "– is a typographic dash.*write `- contents: hi`",
    ),
    Mistake(
        "typographic colon",
        "/etc/motd:\n  file.managed:\n    - «contents： hi\n",
        "contents",
        "^write `- contents: hi`",
    ),
    Mistake(
        "value that begins with a question mark",
        "a:\n  test.nop:\n    - name: «? b\n",
        "cannot begin with [?]",
        "quotes: '[?] b'",
    ),
    Mistake(
        "end of a document within a file",
        "a: test.nop\n«...\nb: test.nop\n",
        "ends the document",
        "remove the [.]{3}",
    ),
    Mistake(
        "no-break space behind a colon",
        "/etc/motd:\n  file.managed:«\u00a0\n    - user: x\n",
        "U.00A0. after `file.managed:`",
        "plain space",
    ),
    Mistake(
        "colon missing after the ID",
        "«/etc/motd\n  file.managed:\n    - contents: hi\n",
        "colon",
        "/etc/motd:",
    ),
    Mistake(
        "colon missing after the function",
        "/etc/motd:\n  «file.managed\n    - contents: hi\n",
        "colon",
        "file.managed:",
    ),
    Mistake(
        "colon missing after an argument",
        "/etc/motd:\n  file.managed:\n    - «contents hi\n",
        "contents",
        "contents: hi",
    ),
    Mistake(
        "no space after a colon",
        "/etc/motd:\n  file.managed:\n    - «contents:hi\n",
        "contents",
        "space",
    ),
    Mistake(
        "no space after a dash",
        "/etc/motd:\n  file.managed:\n    «-contents: hi\n",
        "list",
        "- contents",
    ),
    Mistake(
        "no space after the first dash",
        "/etc/motd:\n  file.managed:\n    «-contents: hi\n    - mode: 644\n",
        "no space follows the dash",
        "^write `- contents: hi`",
    ),
    Mistake(
        "no space after the last dash",
        "/etc/motd:\n  file.managed:\n    - mode: 644\n    «-contents: hi\n",
        "no space follows the dash",
        "^write `- contents: hi`",
    ),
    Mistake(
        "item not indented as its neighbours",
        "/etc/motd:\n  test.nop:\n    - names:\n      - a\n     «- b\n",
        "5 spaces",
        r"column as line 4 \(6 spaces\)",
    ),
    Mistake("comma too many", "a:\n  test.nop:\n    - names: [a,«, b]\n", "comma", "remove"),
    Mistake(
        "comma too many in a list of several lines",
        "a:\n  test.nop:\n    - names: [\n      «, b]\n",
        "comma",
        "remove",
    ),
    Mistake(
        "text that begins with a bracket and a colon",
        "a:\n  test.nop:\n    - name: «[: extra argument\n",
        "begins with",
        "quotes",
    ),
    Mistake("bracket that closes nothing", "/etc/motd: test.nop\n«}\n", "}", "remove"),
    Mistake(
        "bracket that closes nothing in an included file",
        {
            "web.sls": "{% include 'map.jinja' %}\na: test.nop\n",
            "map.jinja": "{% set a = [1,\n 2] %}\n«}\n",
        },
        "}",
        "remove",
        also=("web.sls:1",),
    ),
    Mistake(
        "argument of a macro not indented as its neighbours, below lines that show nothing",
        {
            "web.sls": "{% from 'lib.jinja' import m %}\n{# a\n   b #}\n\n{{ m() }}\n",
            "lib.jinja": "{% macro m() %}\n{# a\n   b #}\na:\n  test.nop:\n    - name: b\n   «- name: c\n{% endmacro %}\n",
        },
        "indent",
        "column as line 6 ",
        also=("web.sls:5",),
    ),
    Mistake(
        "indentation of an included file",
        {
            "web.sls": "a:\n  test.nop:\n    - names:\n      - a\n{% include 'part.sls' %}\n",
            "part.sls": "     «- b\n",
        },
        "5 spaces",
        r"column as line 4 of .*web.sls \(6 spaces\)",
        also=("web.sls:5",),
    ),
    Mistake(
        "argument not indented as its neighbours",
        "/etc/motd:\n  file.managed:\n    - contents: hi\n   «- mode: '0644'\n",
        "indent",
        "same column",
    ),
    Mistake(
        "argument indented further",
        "/etc/motd:\n  file.managed:\n    - contents: hi\n      «- mode: '0644'\n",
        "indent|list",
        "indent|column",
    ),
    Mistake(
        "function at the margin",
        "/etc/motd:\n«file.managed:\n  - contents: hi\n",
        "file.managed",
        "indent",
    ),
    Mistake(
        "key less indented than its neighbours",
        "/etc/motd:\n    file.managed:\n      - contents: hi\n  «cmd.run:\n      - name: x\n",
        "indent",
        "same column",
    ),
    Mistake(
        "double quote not closed",
        '/etc/motd:\n  file.managed:\n    - contents: «"hi\n    - mode: "0644"\n',
        "quote",
        'close|"',
    ),
    Mistake(
        "single quote not closed",
        "/etc/motd:\n  file.managed:\n    - contents: «'hi\n",
        "quote",
        "close",
    ),
    Mistake(
        "quote within quotes", "a:\n  cmd.run:\n    - name: 'echo it«'s'\n", "quote", "twice|double"
    ),
    Mistake(
        "text after a quoted value", 'a:\n  cmd.run:\n    - name: "echo«" hello\n', "quote", "quote"
    ),
    Mistake(
        "backslash in double quotes",
        'a:\n  cmd.run:\n    - name: "grep «\\d x"\n',
        "\\\\d|escape",
        "single quotes",
    ),
    Mistake(
        "bracket not closed", "a:\n  pkg.installed:\n    - pkgs: «[vim, git\n", r"\[|bracket", r"\]"
    ),
    Mistake("brace not closed", "a:\n  test.nop:\n    - «{a: 1\n", r"\{|brace", r"\}"),
    Mistake(
        "two colons in one line", "a:\n  cmd.run:\n    - name: echo a«: b\n", "colon|: ", "quote"
    ),
    Mistake(
        "value continues as a mapping",
        "a:\n  cmd.run:\n    - name: x\n      cwd /tmp: y«: z\n",
        "colon|: ",
        "quote",
    ),
    Mistake("value begins with a percent sign", "a:\n  cmd.run:\n    - name: «%x\n", "%", "quote"),
    Mistake("value begins with an at sign", "a:\n  cmd.run:\n    - name: «@x\n", "@", "quote"),
    Mistake("value begins with a backtick", "a:\n  cmd.run:\n    - name: «`date`\n", "`", "quote"),
    Mistake("value begins with a star", "a:\n  cmd.run:\n    - name: «*x\n", r"\*|alias", "quote"),
    Mistake(
        "value begins with an exclamation mark",
        "a:\n  test.nop:\n    - name: «!x y\n",
        "!x|tag",
        "quote",
    ),
    Mistake(
        "value begins with a brace", "a:\n  file.managed:\n    - name: «{x} y\n", r"\{", "quote"
    ),
    Mistake(
        "ID twice in one file",
        "a:\n  test.nop: []\nb:\n  test.nop: []\n«a:\n  test.nop: []\n",
        "'a'",
        "line 1|:1:1",
    ),
    Mistake(
        "function twice in one ID",
        "a:\n  cmd.run:\n    - name: x\n  «cmd.run:\n    - name: y\n",
        "cmd.run",
        ":2:3|line 2",
    ),
    Mistake(
        "argument twice in one mapping",
        "a:\n  test.nop:\n    - name: a\n      «name: b\n",
        "'name'",
        "3",
    ),
    Mistake(
        "list and mapping mixed",
        "a:\n  file.managed:\n    - name: /x\n    «mode: '0644'\n",
        "list",
        "- mode",
    ),
    Mistake(
        "mapping and list mixed",
        "a:\n  file.managed:\n    name: /x\n    «- mode: '0644'\n",
        "list",
        "- ",
    ),
    Mistake("anchor that does not exist", "a:\n  test.nop:\n    <<: «*base\n", "base", "&base"),
    Mistake("two documents", "a:\n  test.nop: []\n«---\nb:\n  test.nop: []\n", "document", "---"),
    Mistake(
        "latin-1 text",
        {"web.sls": b"a:\n  test.nop:\n    - name: M" + HERE.encode() + b"\xfcller\n"},
        "UTF-8",
        "UTF-8",
    ),
    Mistake(
        "UTF-16",
        {"web.sls": HERE.encode() + "a:\n  test.nop: []\n".encode("utf-16")},
        "UTF-16",
        "UTF-8",
    ),
    Mistake("NUL", "a:\n  test.nop:\n    - name: x«\0\n", "NUL", "take it out|remove|delete"),
    Mistake(
        "control character",
        "a:\n  test.nop:\n    - name: x«\x07\n",
        "character",
        "remove|take it out|delete",
    ),
    Mistake("non-breaking space", "a:\n«\u00a0 test.nop: []\n", "test.nop", "space"),
    Mistake(
        "typographic quotes",
        "a:\n  cmd.run: [{name: x, unless: «“test: x”}]\n",
        "unless|quote|“",
        "quote",
    ),
    Mistake("ID is a number", "«42:\n  test.nop: []\n", "42", "'42'"),
    Mistake("ID is yes", "«yes:\n  test.nop: []\n", "True|yes", "quote|'yes'"),
    Mistake("ID is empty", "«:\n  test.nop: []\n", "ID|key", "name|ID"),
    Mistake(
        "argument that is a number",
        "a:\n  file.managed:\n    - name: /x\n    - «42: x\n",
        "42",
        "quote|argument",
        check_only=True,
    ),
    Mistake("a list at the top", "«- a:\n    test.nop: []\n", "list", "ID"),
    Mistake("a text at the top", "«hello\n", "text|mapping", "ID"),
    Mistake(
        "block text not indented",
        "a:\n  file.managed:\n    - contents: |\n«hello\n    - mode: '0644'\n",
        "hello|colon|indent",
        "indent",
    ),
    Mistake(
        "unknown tag",
        "a:\n  test.nop:\n    - name: «!!python/object:os.system x\n",
        "python",
        "tag|quote|!!",
    ),
    Mistake(
        "two merged mappings with the same key",
        "b: &b {x: 1}\nc: &c {x: 2}\na:\n  test.nop:\n    <<«: [*b, *c]\n",
        "conflicting ID 'x'",
        "of its own",
    ),
    Mistake(
        "merge of a list", "b: &b [1]\na:\n  test.nop:\n    <<«: *b\n", "merge|mapping", "mapping"
    ),
    Mistake(
        "comma for colon", "a:\n  «pkg.installed, \n    - name: x\n", "colon", "pkg.installed:"
    ),
    Mistake(
        "mode that is octal for YAML", "/x:\n  file.managed:\n    - «mode: 0o999\n", "0o999", "0644"
    ),
    Mistake(
        "merge conflict markers",
        "a:\n  test.nop: []\n«<<<<<<< HEAD\nb:\n  test.nop: []\n=======\nc:\n  test.nop: []\n>>>>>>> x\n",
        "git",
        "<<<<<<<",
    ),
    Mistake(
        "backslash of a Windows path",
        'a:\n  file.managed:\n    - name: /x\n    - contents: "C:«\\Users"\n',
        r"\\U",
        "single quotes",
    ),
    Mistake(
        "list in the line of its key",
        "bob:\n  user.present:\n    - groups: «- sudo\n",
        "cannot begin in the line of its key 'groups'",
        r"`groups: \[sudo\]`",
    ),
    Mistake(
        "value begins with an arrow",
        "a:\n  cmd.run:\n    - name: «> /etc/motd\n",
        "several lines",
        "'> /etc/motd'",
    ),
    Mistake(
        "colon within an ID",
        "deploy: step 1«:\n  test.nop: []\n",
        "second colon",
        "ID in quotes: 'deploy: step 1':",
    ),
    Mistake(
        "last item of a list without its dash",
        "a:\n  pkg.installed:\n    - pkgs:\n      - vim\n      «git\n",
        "a line without a dash",
        "write `- git`",
    ),
    Mistake(
        "key that tags put behind a comment",
        "# about\n{%- set x = 1 -%}\n«include:\n  - b\nc:\n  test.nop: []\n",
        "'include:' stands behind '# about' in one line",
        "takes the line break away",
        column=False,
    ),
]
