'use strict';
// Which Node.js the project runs on: the one that runs this if it is new enough, else Node.js 24 of the npm package `node`,
// kept in .node/ (contract section 1). Syntax of Node.js 12.

const childProcess = require('child_process');
const fs = require('fs');
const path = require('path');
const npm = require('./npm.cjs');

/** Before them an unsigned body can flood V8's hashes (CVE-2026-21717). */
const NEEDED = '22.22.2, or 24.14.1 or newer';
const ENGINES = '^22.22.2 || >=24.14.1';
/** The same as numbers, 22.22.2 as 22022002: from the first up to, but without, the second. */
const RANGES = [
  [22022002, 23000000],
  [24014001, Infinity],
];
const FETCHED_MAJOR = 24;
/** An npm below this cannot read the lock file; it is brought along with Node.js. */
const MINIMUM_NPM_MAJOR = 9;
const FETCHED_NPM_MAJOR = 11;

function isNewEnough(version) {
  const parts = version.replace(/^v/, '').split('.').map(Number);
  const number = parts[0] * 1000000 + parts[1] * 1000 + parts[2];
  return RANGES.some((range) => number >= range[0] && number < range[1]);
}

function fetchedNode(root) {
  return path.join(root, '.node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/** The version that a program reports, or null if it does not run (another machine's binary, half a file). */
function versionOf(node) {
  const run = childProcess.spawnSync(node, ['--version'], { encoding: 'utf8' });
  return run.status === 0 ? run.stdout.trim() : null;
}

/** PATH with this Node.js first, so that everything started below runs on it as well. */
function environmentFor(node) {
  const env = Object.assign({}, process.env);
  const name = Object.keys(env).filter((key) => key.toUpperCase() === 'PATH')[0] || 'PATH';
  env[name] = path.dirname(node) + path.delimiter + (env[name] || '');
  return env;
}

/** `{node, env, npmCli}`, or null if nothing on this machine is new enough. `npmCli` null: the npm that runs this. */
function findRuntime(root) {
  if (isNewEnough(process.version)) return { node: process.execPath, env: process.env, npmCli: null };
  const node = fetchedNode(root);
  if (!fs.existsSync(node)) return null;
  const version = versionOf(node);
  if (version === null || !isNewEnough(version)) return null;
  const npmCli = path.join(root, '.node', 'npm', 'bin', 'npm-cli.js');
  return { node: node, env: environmentFor(node), npmCli: fs.existsSync(npmCli) ? npmCli : null };
}

/**
 * The package `node` places its binary by an install script, which newer versions of npm warn about and will refuse.
 * So scripts are left out of the installation, and that one is run here, by name.
 */
function unpackNode(folder, major) {
  const packageFolder = path.join(folder, 'node_modules', 'node');
  const env = npm.cleanEnvironment(process.env);
  env.npm_config_loglevel = 'error';
  env.npm_config_ignore_scripts = 'true';
  const run = childProcess.spawnSync(process.execPath, ['installArchSpecificPackage.js'], {
    cwd: packageFolder,
    env: env,
    encoding: 'utf8',
  });
  const binary = path.join(packageFolder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (run.status !== 0 || versionOf(binary) === null) {
    throw new Error(
      'Node.js ' +
        major +
        ' from npm does not run here.\n' +
        npm.withoutAddresses((run.stdout || '') + (run.stderr || '')),
    );
  }
  return binary;
}

function moveInto(target, source) {
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.renameSync(source, target);
}

function fetchRuntime(root, say) {
  say(
    'Node.js ' +
      process.version.slice(1) +
      ' is too old: ' +
      NEEDED +
      ' is needed. Bringing Node.js ' +
      FETCHED_MAJOR +
      ' from npm to .node/ …',
  );
  const startedMs = Date.now();
  const folder = path.join(root, '.node', 'incoming-' + process.pid);
  const needsNpm = npm.major() < MINIMUM_NPM_MAJOR;
  try {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'package.json'), '{"private":true}\n');
    const wanted = ['node@' + FETCHED_MAJOR].concat(needsNpm ? ['npm@' + FETCHED_NPM_MAJOR] : []);
    npm.run(['install', '--prefix', folder, '--no-save', '--no-package-lock', '--ignore-scripts'].concat(wanted), {
      cwd: folder,
    });
    moveInto(fetchedNode(root), unpackNode(folder, FETCHED_MAJOR));
    if (needsNpm) moveInto(path.join(root, '.node', 'npm'), path.join(folder, 'node_modules', 'npm'));
  } finally {
    npm.removeFolder(folder);
  }
  const runtime = findRuntime(root);
  if (runtime === null) throw new Error('Node.js ' + NEEDED + ' is needed, and npm could not provide it.');
  say(
    '  Node.js ' +
      versionOf(runtime.node).slice(1) +
      ' is there (' +
      Math.round((Date.now() - startedMs) / 1000) +
      ' s).',
  );
  return runtime;
}

/** Another Node.js beside that of the project, kept in .node/MAJOR/: the path of its program. Throws where npm cannot provide it. */
function fetchOther(root, major) {
  const target = path.join(root, '.node', String(major), path.basename(fetchedNode(root)));
  if (fs.existsSync(target) && versionOf(target) !== null) return target;
  const folder = path.join(root, '.node', 'incoming-' + major + '-' + process.pid);
  try {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'package.json'), '{"private":true}\n');
    npm.run(['install', '--prefix', folder, '--no-save', '--no-package-lock', '--ignore-scripts', 'node@' + major], {
      cwd: folder,
    });
    moveInto(target, unpackNode(folder, major));
  } finally {
    npm.removeFolder(folder);
  }
  return target;
}

module.exports = {
  findRuntime: findRuntime,
  fetchRuntime: fetchRuntime,
  fetchOther: fetchOther,
  isNewEnough: isNewEnough,
  NEEDED: NEEDED,
  ENGINES: ENGINES,
  RANGES: RANGES,
};
