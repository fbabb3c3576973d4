/* SPDX-License-Identifier: Apache-2.0 */
// Starts `runner lsp` for the SLS files, templates and configurations of the opened folders.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

async function activate() {
  const settings = workspace.getConfiguration("runner");
  const server = {
    command: settings.get("command"),
    args: ["lsp", ...settings.get("arguments")],
    transport: TransportKind.stdio,
  };
  const documentSelector = [
    { scheme: "file", language: "sls" },
    { scheme: "file", pattern: "**/*.{jinja,jinja2,j2}" },
    { scheme: "file", pattern: "**/runner.yaml" },
  ];
  client = new LanguageClient("runner", "runner", server, { documentSelector });
  await client.start();
}

async function deactivate() {
  await client?.stop();
}

module.exports = { activate, deactivate };
