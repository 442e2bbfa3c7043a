import { isAbsolute, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const MESSAGE_LINES = 8;
const DIFF_LINES = 16;
const PLACES = 3;
const LINE_CHARS = 240;

/** An error as the test runner reports it. */
interface ReportedError {
  readonly message: string;
  readonly diff?: unknown;
  readonly stacks?: readonly { readonly file: string; readonly line: number; readonly column: number }[];
}

/** First lines of an error of a test: its message, its difference, and the places from the test's own line outwards. */
export function errorLines(error: ReportedError, root: string): string[] {
  const { message, diff, stacks = [] } = error;
  const places = stacks.slice(0, PLACES).map(({ file, line, column }) => {
    return `at ${isAbsolute(file) ? relative(root, file) : file}:${line}:${column}`;
  });
  const difference = typeof diff === 'string' ? firstLines(diff, DIFF_LINES) : [];
  return [...firstLines(message, MESSAGE_LINES), ...difference, ...places];
}

function firstLines(text: string, most: number): string[] {
  const lines = stripVTControlCharacters(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const first = lines.slice(0, most).map((line) => line.slice(0, LINE_CHARS));
  return lines.length > most ? [...first, `(${lines.length - most} more lines)`] : first;
}
