import { readWords } from './server-cfg.ts';

const START_COMMANDS = ['ensure', 'start'];
/** Characters that no console reads as more than a name. */
const PLAIN_NAME = /^[A-Za-z0-9_.-]{1,100}$/;

/** Resources and `[folders]` that a `server.cfg` starts, as the server reads it: one command a line. */
export function ensuredBy(text: string): Set<string> {
  return new Set(text.split(/\r?\n/).flatMap((line) => startedBy(line) ?? []));
}

/** Whether a line `ensure NAME` of this name can be written and does only that. */
export function canBeEnsured(name: string): boolean {
  return PLAIN_NAME.test(name);
}

/** The text with the line `ensure NAME` after the last line that starts something; the same text if it has one. */
export function withEnsured(text: string, name: string): string {
  const lines = text.split('\n');
  if (lines.some((line) => startedBy(line) === name)) return text;
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const last = lines.findLastIndex((line) => startedBy(line) !== null);
  if (last === -1 || last === lines.length - 1) {
    const gap = text === '' || text.endsWith('\n') ? '' : end;
    return `${text}${gap}ensure ${name}${end}`;
  }
  return lines.toSpliced(last + 1, 0, `ensure ${name}${end.slice(0, -1)}`).join('\n');
}

/** The text without the lines that start the resource by its name. */
export function withoutEnsured(text: string, name: string): string {
  return text
    .split('\n')
    .filter((line) => startedBy(line) !== name)
    .join('\n');
}

function startedBy(line: string): string | null {
  const [command = '', name] = readWords(line.replace(/\r$/, '')).words;
  return START_COMMANDS.includes(command.toLowerCase()) ? (name ?? null) : null;
}
