'use strict';
// Runs npm quietly. Its output is shown only if it failed, without the addresses in it. Syntax of Node.js 12.

const childProcess = require('child_process');
const fs = require('fs');
const path = require('path');

/** Variables that an outer `npm start` sets for its script would send an inner npm to the wrong folder. */
function cleanEnvironment(env) {
  const clean = {};
  Object.keys(env).forEach((name) => {
    if (
      !/^(npm_(package|lifecycle|command)|npm_config_(local_prefix|prefix|global_prefix|noproxy$)|INIT_CWD$)/.test(name)
    )
      clean[name] = env[name];
  });
  return clean;
}

function withoutAddresses(text) {
  return text.replace(/\bhttps?:\/\/\S+/g, '(address)').trim();
}

/** The npm that runs this, as a script; null if no npm started us. */
function cliPath() {
  const file = process.env.npm_execpath || '';
  return path.basename(file) === 'npm-cli.js' && fs.existsSync(file) ? file : null;
}

function major() {
  const agent = /\bnpm\/(\d+)\./.exec(process.env.npm_config_user_agent || '');
  return agent === null ? Number.POSITIVE_INFINITY : Number(agent[1]);
}

/** options: `{cwd, node?, env?, cli?}`; `node` is the Node.js that runs npm, `cli` another npm than the one that runs this. */
function run(args, options) {
  const cli = options.cli || cliPath();
  const env = cleanEnvironment(options.env || process.env);
  const quiet = args.concat(['--no-audit', '--no-fund', '--no-progress', '--no-update-notifier', '--loglevel=error']);
  const settings = { cwd: options.cwd, env: env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 };
  const result =
    cli === null
      ? childProcess.spawnSync(
          process.platform === 'win32' ? 'npm.cmd' : 'npm',
          quiet,
          Object.assign({ shell: process.platform === 'win32' }, settings),
        )
      : childProcess.spawnSync(options.node || process.execPath, [cli].concat(quiet), settings);
  if (result.error) throw new Error('npm could not be started: ' + result.error.message);
  if (result.status !== 0) {
    throw new Error('npm ' + args[0] + ' failed:\n' + withoutAddresses((result.stdout || '') + (result.stderr || '')));
  }
}

/** fs.rm came with Node.js 14, and rmdir's option went with a later one. */
function removeFolder(folder) {
  if (fs.rmSync) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  else if (fs.existsSync(folder)) fs.rmdirSync(folder, { recursive: true });
}

module.exports = {
  run: run,
  major: major,
  cleanEnvironment: cleanEnvironment,
  withoutAddresses: withoutAddresses,
  removeFolder: removeFolder,
};
