'use strict';
// A single installation at a time in one clone. A lock whose owner died is taken over. Syntax of Node.js 12.

const fs = require('fs');
const path = require('path');

const POLL_MS = 200;
/** Writing a number takes no time: a lock that is still empty after this long is that of one that died, as on a full disk. */
const EMPTY_MS = 10000;

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function waitSync(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** True when this process holds the lock now. */
function tryTake(file) {
  try {
    fs.writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  try {
    if (isAbandoned(file)) fs.unlinkSync(file);
  } catch (error) {
    // Its owner, or another one that waits, was quicker.
    if (error.code !== 'ENOENT') throw error;
  }
  return false;
}

function isAbandoned(file) {
  const owner = Number(fs.readFileSync(file, 'utf8'));
  return owner > 0 ? !isAlive(owner) : Date.now() - fs.statSync(file).mtimeMs > EMPTY_MS;
}

function withLock(root, say, work) {
  const file = path.join(root, '.cache', 'setup.lock');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  let hasSaid = false;
  while (!tryTake(file)) {
    if (!hasSaid) say('Another command is setting this folder up; waiting for it (its lock is ' + file + ') …');
    hasSaid = true;
    waitSync(POLL_MS);
  }
  try {
    work();
  } finally {
    fs.unlinkSync(file);
  }
}

module.exports = { withLock: withLock };
