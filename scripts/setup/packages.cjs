'use strict';
// Are the packages that package-lock.json names in node_modules, and if not, `npm ci`. Syntax of Node.js 12.

const fs = require('fs');
const path = require('path');
const npm = require('./npm.cjs');

function packagesOf(lockFile) {
  try {
    return JSON.parse(fs.readFileSync(lockFile, 'utf8')).packages || {};
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return {};
    throw error;
  }
}

/**
 * npm writes node_modules/.package-lock.json at the end of an installation, with what it installed. Packages for other
 * machines (optional ones) are missing there rightly; anything else that differs means that packages changed.
 */
function areInstalled(root) {
  const wanted = packagesOf(path.join(root, 'package-lock.json'));
  const present = packagesOf(path.join(root, 'node_modules', '.package-lock.json'));
  return Object.keys(wanted).every((name) => {
    if (name === '') return true;
    const there = present[name];
    if (there === undefined) return wanted[name].optional === true;
    return there.version === wanted[name].version && there.integrity === wanted[name].integrity;
  });
}

/** No package of ours needs its install script: compiled parts come inside the packages. So none is run. */
function install(root, runtime, say) {
  say('Installing packages (npm ci) …');
  const startedMs = Date.now();
  npm.run(['ci', '--ignore-scripts'], { cwd: root, node: runtime.node, env: runtime.env, cli: runtime.npmCli });
  say(
    '  ' +
      Object.keys(packagesOf(path.join(root, 'node_modules', '.package-lock.json'))).length +
      ' packages are there (' +
      Math.round((Date.now() - startedMs) / 1000) +
      ' s).',
  );
}

module.exports = { areInstalled: areInstalled, install: install };
