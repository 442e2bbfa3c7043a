// biome-ignore-all lint/suspicious/noControlCharactersInRegex: they are what is looked for
/** Maximum characters per line in ring, file and stream (panel contract, "Shapes"). */
export const MAX_LINE_CHARS = 16_384;

const UNSAFE = /[\0-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/;
/**
 * Sequences that a terminal obeys: CSI, OSC, the other strings, and two-character escapes. The alternatives do not overlap,
 * so that a hostile line is read once.
 */
const ESCAPE =
  /\x1b(?:\[([0-?]*)([ -/]*)([@-~]?)|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)/g;
const COLOUR = /^[0-9;:]{0,64}$/;
const CONTROL = /[\0-\x08\x0a-\x1a\x1c-\x1f\x7f-\x9f\u2028\u2029]/g;
/** Escape sequence that the cut has split. */
const TORN_ESCAPE = /\x1b(?:\[[0-9;:]*)?$/;
const LINE = /^(\d{1,15}) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([a-z]+) ?/;

/**
 * Makes a line safe to store and show: keeps colours (SGR), removes other escape sequences, and replaces control characters
 * by their pictures, so that the line cannot move a cursor, set a title or pretend to be another line.
 */
export function cleanLine(text: string): string {
  return cutLine(UNSAFE.test(text) ? pictured(text) : text);
}

function pictured(text: string): string {
  const escaped = text.replace(ESCAPE, (_all, parameters?: string, between?: string, final?: string) =>
    final === 'm' && between === '' && COLOUR.test(parameters ?? '') ? `\x1b[${parameters}m` : '',
  );
  return escaped.replace(CONTROL, pictureOf);
}

function pictureOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return code >= 0x2028 ? '\u2424' : '\ufffd';
}

function cutLine(text: string): string {
  if (text.length <= MAX_LINE_CHARS) return text;
  const last = text.charCodeAt(MAX_LINE_CHARS - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? MAX_LINE_CHARS - 1 : MAX_LINE_CHARS).replace(TORN_ESCAPE, '');
}

/** A cleaned line without its colours. */
export function plainText(text: string): string {
  return text.includes('\x1b') ? text.replace(/\x1b\[[0-9;:]*m/g, '') : text;
}

/** Line of any log of the panel. `Stream` is its source. */
export interface LogLine<Stream extends string = string> {
  readonly seq: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  readonly stream: Stream;
  readonly text: string;
}

/** `SEQ TIME STREAM TEXT` (panel contract, "Shapes"), with its line feed. */
export function formatLine(line: LogLine): string {
  return `${line.seq} ${line.time} ${line.stream} ${line.text}\n`;
}

/** null for any other text, such as the rest of a line that a power failure has cut. */
export function parseLine(text: string): LogLine | null {
  const head = LINE.exec(text);
  if (head === null) return null;
  const [all, seq, time, stream] = head as unknown as [string, string, string, string];
  return { seq: Number(seq), time, stream, text: text.slice(all.length) };
}
