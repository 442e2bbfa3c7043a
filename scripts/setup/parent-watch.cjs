'use strict';
// Tells when the npm that runs this is gone: a signal to npm alone ends npm and its shell, and reaches nothing below. Syntax of
// Node.js 12.

const childProcess = require('child_process');
const fs = require('fs');

const POLL_MS = 250;

/** The parent of a process; null if it cannot be told, as on Windows. */
function parentOf(pid) {
  try {
    if (process.platform === 'linux') {
      // The name in parentheses may hold anything; state and parent follow it.
      const stat = fs.readFileSync('/proc/' + pid + '/stat', 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    }
    if (process.platform === 'win32') return null;
    const run = childProcess.spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' });
    return run.status === 0 ? Number(run.stdout) : null;
  } catch (_error) {
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Calls `run` once when the parent, or the parent's parent, is gone. Only below npm, which puts a shell between. */
function onNpmGone(run) {
  const parent = process.ppid;
  const grandparent = parentOf(parent);
  if (!process.env.npm_lifecycle_event) return;
  const timer = setInterval(() => {
    if (process.ppid === parent && (grandparent === null || isAlive(grandparent))) return;
    clearInterval(timer);
    run();
  }, POLL_MS);
  timer.unref();
}

module.exports = { onNpmGone: onNpmGone };
