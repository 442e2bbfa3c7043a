import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FileProblem, ServerFileView } from '../shapes/settings.ts';
import { isWithin } from './server-root.ts';

/** Half of what a request may hold: quotation marks and line ends take two characters in JSON. */
export const LONGEST_FILE = 512 * 1024;
export const SERVER_FILE = 'server.cfg';

/** The configuration file of the game server, as far as it can be edited here. */
export interface ServerFile extends ServerFileView {
  /** Where it lies, links resolved. */
  readonly path: string;
}

/** `server.cfg` of the folder itself: a link that leads out of it is not followed. */
export function readServerFile(root: string): ServerFile | FileProblem {
  let path: string;
  let bytes: Buffer;
  try {
    path = realpathSync(join(root, SERVER_FILE));
    if (!isWithin(realpathSync(root), path)) return 'outside';
    const kind = statSync(path);
    if (!kind.isFile()) return 'missing';
    if (kind.size > LONGEST_FILE) return 'large';
    bytes = readFileSync(path);
  } catch {
    return 'missing';
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { name: SERVER_FILE, text, hash: hashOf(bytes), path };
  } catch {
    return 'encoding';
  }
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
