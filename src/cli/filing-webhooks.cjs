#!/usr/bin/env node
// The command line of the published package, where the sources are JavaScript (docs/adr/0031-published-as-javascript.md). In the repository it is the shell script beside
// it. The syntax is that of every Node, so that an old one says what it lacks.
'use strict';

const { engines } = require('../../package.json');
const needed = /\d+/.exec(engines.node)[0];

if (parseInt(process.versions.node, 10) < Number(needed)) {
  console.error(
    `filing-webhooks needs Node ${needed} or newer, and this is Node ${process.versions.node}: install it from https://nodejs.org, ` +
      `or run it once with npx --package node@${needed} --package filing-webhooks filing-webhooks`,
  );
  process.exitCode = 69;
} else {
  void import('./main.js');
}
