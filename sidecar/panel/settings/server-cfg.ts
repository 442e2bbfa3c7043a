import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FileProblem, ServerFileView } from '../shapes/settings.ts';
import { isWithin } from './server-root.ts';

/** Half of the limit of a request: quotation marks and line ends take two characters in JSON. */
export const LONGEST_FILE = 512 * 1024;
const SERVER_FILE = 'server.cfg';
const NAME_COMMANDS = ['set', 'sets', 'setr'];
const MOST_TOLD = 5;
const LONGEST_NAME = 256;

interface Words {
  readonly words: readonly string[];
  readonly isOpen: boolean;
}

/** Words of a line: a part in quotation marks is one word, a comment ends the line. The panel never runs a line. */
export function readWords(line: string): Words {
  const words: string[] = [];
  let isOpen = false;
  for (const [word] of line.matchAll(/\/\/.*|#.*|"(?:[^"\\]|\\.)*"?|[^\s"]+/g)) {
    if (word.startsWith('//') || word.startsWith('#')) break;
    const isQuoted = word.startsWith('"');
    isOpen = isQuoted && !/^".*"$/.test(word);
    words.push(isQuoted ? word.slice(1, isOpen ? undefined : -1) : word);
  }
  return { words, isOpen };
}

/** Server name that players see, from the last line that sets it, as the server reads it; null if no line does. */
export function hostNameOf(text: string): string | null {
  let name: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const { words } = readWords(line);
    const [variable, value] = NAME_COMMANDS.includes(words[0]?.toLowerCase() ?? '') ? words.slice(1) : words;
    if (variable?.toLowerCase() === 'sv_hostname' && value !== undefined) name = value;
  }
  return name === null ? null : [...name].slice(0, LONGEST_NAME).join('');
}

/**
 * Problems of the new text, for the owner. Lines that were in the file before are not checked: the server has run with them.
 */
export function problemsOf(text: string, before: string): string[] {
  const known = new Set(before.split(/\r?\n/));
  const problems: string[] = [];
  if (text.trim() === '') return ['the file would be empty'];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (known.has(line)) continue;
    const problem = problemOf(line);
    if (problem !== null) problems.push(`line ${index + 1}: ${problem}`);
    if (problems.length === MOST_TOLD) break;
  }
  return problems;
}

function problemOf(line: string): string | null {
  if (/[^\P{Cc}\t]/u.test(line)) return 'a control character stands in it';
  return readWords(line).isOpen ? 'a quotation mark is not closed' : null;
}

/** The game server's configuration file, as the panel edits it. */
export interface ServerFile extends ServerFileView {
  /** Links resolved. */
  readonly path: string;
}

/** Reads `server.cfg` of the folder; a link that leads out of the folder is not followed. */
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
