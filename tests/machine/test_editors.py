# SPDX-License-Identifier: Apache-2.0
"""Real editors with the settings of docs/editors.md: Neovim 0.7, and Emacs 28 with eglot."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from debian import Debian

LAYER = "editors"
INIT = "none"
PAGE = (Path(__file__).parent.parent.parent / "docs/editors.md").read_text()
TREE = "/srv/tree"
WEB = """include:
  - users

/etc/web.conf:
  file.managed:
    - contents: hello
    - moed: '0644'
    - require:
      - user: web
"""
USERS = "web:\n  user.present: []\n"
# each waits for the mistake (line 7), asks what may stand before `contents` (line 6), what
# file.managed is (line 5), goes to the user that is required (line 9), and writes what it got
NEOVIM = """
local function ask(method, line, column)
  local params = vim.lsp.util.make_position_params()
  params.position = {line = line - 1, character = column}
  params.context = {triggerKind = 1}
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, PATIENCE) or {}) do
    if answer.result then return answer.result end
  end
end
local found = {}
vim.wait(PATIENCE, function() return #vim.diagnostic.get(0) > 0 end)
for _, each in ipairs(vim.diagnostic.get(0)) do
  table.insert(found, {line = each.lnum + 1, text = each.message})
end
local words = {}
local offered = ask("textDocument/completion", 6, 6)
for _, item in ipairs(offered.items or offered) do table.insert(words, item.label) end
local hover = ask("textDocument/hover", 5, 8).contents
vim.api.nvim_win_set_cursor(0, {9, 14})
vim.lsp.buf.definition()
vim.wait(PATIENCE, function() return vim.fn.expand("%:t") == "users.sls" end)
local answer = {
  diagnostics = found, words = words, hover = hover.value or hover,
  at = vim.fn.expand("%:t") .. ":" .. vim.fn.line("."),
}
vim.fn.writefile({vim.fn.json_encode(answer)}, "/root/answer")
vim.cmd("qa!")
"""
EMACS = """
(require 'json)
(require 'flymake)
(setq make-backup-files nil  xref-prompt-for-identifier nil)
(defun until (condition)
  (let ((end (+ (float-time) (/ PATIENCE 1000))))
    (while (and (not (funcall condition)) (< (float-time) end)) (accept-process-output nil 0.05))))
(defun at (line column) (goto-char (point-min)) (forward-line (1- line)) (forward-char column))
(find-file "/srv/tree/states/web.sls")
(run-hooks 'post-command-hook)
(until #'eglot-managed-p)
(until #'flymake-diagnostics)
(let (found words hover)
  (dolist (each (flymake-diagnostics))
    (push `((line . ,(line-number-at-pos (flymake-diagnostic-beg each)))
            (text . ,(flymake-diagnostic-text each)))
          found))
  (at 6 6)
  (setq words (all-completions "" (nth 2 (eglot-completion-at-point))))
  (at 5 8)
  (eglot-hover-eldoc-function (lambda (text &rest _) (setq hover text)))
  (until (lambda () hover))
  (at 9 14)
  (call-interactively #'xref-find-definitions)
  (with-temp-file "/root/answer"
    (insert (json-encode
      `((diagnostics . ,(vconcat found)) (words . ,(vconcat words))
        (hover . ,(substring-no-properties hover))
        (at . ,(with-current-buffer (window-buffer)
                 (format "%s:%d" (buffer-name) (line-number-at-pos)))))))))
"""
PATIENCE = "300000"  # milliseconds
STARTS = {
    "lua": "nvim --headless -u /root/init.lua states/web.sls -c 'luafile /root/asks.lua'",
    "elisp": "HOME=/root emacs --batch --eval '(package-initialize)'"
    " -l /root/init.elisp -l /root/asks.elisp",
}


def settings(language: str) -> str:
    """What the page says to write into the editor's own file; of several ways the last."""
    return str(re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)[-1])


@pytest.mark.parametrize(("language", "asks"), [("lua", NEOVIM), ("elisp", EMACS)])
def test_an_editor_has_what_the_page_promises(debian: Debian, language: str, asks: str) -> None:
    debian.write(f"{TREE}/runner.yaml", "file_roots: {base: [states]}\n")
    debian.write(f"{TREE}/states/web.sls", WEB)
    debian.write(f"{TREE}/states/users.sls", USERS)
    debian.write(f"/root/init.{language}", settings(language))
    debian.write(f"/root/asks.{language}", asks.replace("PATIENCE", PATIENCE))
    debian.run(f"rm -f /root/answer; cd {TREE} && {STARTS[language]}")
    answer: dict[str, Any] = json.loads(debian.path("/root/answer").read_text())
    (mistake,) = answer["diagnostics"]
    assert mistake["line"] == 7 and "no argument 'moed'" in mistake["text"]
    assert {"contents", "mode", "require"} <= {*answer["words"]}
    assert "Make sure that a file exists" in answer["hover"]
    assert answer["at"] == "users.sls:1"


# writes the user's other name wherever it stands, and takes blanks from the ends of lines
CHANGES = """
local bufnr = vim.api.nvim_get_current_buf()
vim.wait(PATIENCE, function() return #vim.diagnostic.get(0) > 0 end)
vim.api.nvim_win_set_cursor(0, {9, 14})
vim.lsp.buf.rename("site")
vim.wait(PATIENCE, function() return vim.fn.getbufline(bufnr, 9)[1]:find("site") ~= nil end)
vim.lsp.buf.formatting_sync(nil, PATIENCE)
vim.cmd("silent wall")
vim.cmd("qa!")
"""


def test_neovim_renames_in_two_files_and_formats(debian: Debian) -> None:
    debian.write(f"{TREE}/runner.yaml", "file_roots: {base: [states]}\n")
    debian.write(f"{TREE}/states/web.sls", WEB.replace("hello\n", "hello  \n"))
    debian.write(f"{TREE}/states/users.sls", USERS)
    debian.write("/root/init.lua", settings("lua"))
    debian.write("/root/asks.lua", CHANGES.replace("PATIENCE", PATIENCE))
    debian.run(f"cd {TREE} && {STARTS['lua']}")
    web = debian.read(f"cat {TREE}/states/web.sls")
    assert web + "\n" == WEB.replace("user: web", "user: site")
    users = debian.read(f"cat {TREE}/states/users.sls")
    assert users == "site:\n  user.present: [{name: web}]"
