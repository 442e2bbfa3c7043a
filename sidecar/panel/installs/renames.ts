import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync, realpathSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { PanelError } from '../panel-error.ts';
import type { SwitchedBundle, SwitchRecord } from './switch-record.ts';

type Kind = 'folder' | 'nothing' | 'other';

/**
 * Puts the new folders in place: for each bundle the old one to `versions`, then the new one to its target. Can be repeated
 * after a crash at any point. Synchronous: a server that starts meanwhile sees all of it or nothing.
 *
 * @throws PanelError `bundles.linked` if a link came in between; the error of the rename. `putBack` undoes what was renamed
 */
export function putInPlace({ bundles, root }: Pick<SwitchRecord, 'bundles' | 'root'>): void {
  for (const bundle of bundles) {
    checkUnmoved(root, bundle.target);
    forward(bundle);
  }
}

/** Undoes a `putInPlace` that was cut off: the new folders are staged again. Can be repeated. @throws the error of the rename */
export function putBack({ bundles }: Pick<SwitchRecord, 'bundles'>): void {
  for (const bundle of [...bundles].reverse()) backward(bundle, bundle.staged);
}

/** The renames of `putInPlace` backwards. A bundle without an older version stays. Can be repeated. */
export function takeBack({ bundles }: Pick<SwitchRecord, 'bundles'>): void {
  for (const bundle of [...bundles].reverse()) {
    if (bundle.old !== null) backward(bundle, bundle.rejected);
  }
}

function forward({ target, staged, old }: SwitchedBundle): void {
  if (kindOf(staged) === 'nothing') return;
  if (kindOf(staged) !== 'folder') throw linked(staged);
  if (old !== null && kindOf(old) === 'nothing') {
    move(target, old);
    // A link that was put there after the check has been moved, not followed.
    if (kindOf(old) !== 'folder') throw linked(target);
  }
  if (kindOf(target) !== 'nothing') throw linked(target);
  move(staged, target);
}

/** @param aside place for the new folder */
function backward({ target, staged, old }: SwitchedBundle, aside: string): void {
  const hasNew = kindOf(staged) === 'nothing' && kindOf(aside) === 'nothing' && kindOf(target) !== 'nothing';
  if (hasNew) move(target, aside);
  if (old !== null && kindOf(old) !== 'nothing' && kindOf(target) === 'nothing') move(old, target);
}

function checkUnmoved(root: string, target: string): void {
  const above = dirname(target);
  if (realpathSync(root) !== root || realpathSync(above) !== above) throw linked(above);
}

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  renameSync(from, to);
  flush(dirname(to));
  flush(dirname(from));
}

/** Without it a power cut may undo a rename that was told to be done. */
function flush(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function kindOf(path: string): Kind {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? 'nothing' : stats.isDirectory() ? 'folder' : 'other';
}

function linked(path: string): PanelError {
  return new PanelError('bundles.linked', { detail: `${path} was replaced by a link or another folder meanwhile` });
}
