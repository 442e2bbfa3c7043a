import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FileProblem, ServerFileView } from '../shapes/settings.ts';
import { isWithin } from './server-root.ts';

/** Half of what a request may hold: quotation marks and line ends take two characters in JSON. */
export const LONGEST_FILE = 512 * 1024;
const SERVER_FILE = 'server.cfg';
const NAME_COMMANDS = ['set', 'sets', 'setr'];
const MOST_TOLD = 5;
const LONGEST_NAME = 256;

interface Words {
  readonly words: readonly string[];
  readonly isOpen: boolean;
}

/** Words of a line, as far as the panel reads it; it never runs one. Parts in quotation marks are one word, a comment ends the line. */
function readWords(line: string): Words {
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

/** What players see; the last line that says it counts, as it does for the server. Null where none does. */
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
 * What is wrong with the new text, for the owner; empty where nothing is. Lines that stood there before are not judged: the
 * server has lived with them.
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
