/**
 * Values of the database pages: JSON text, in which no number becomes a JavaScript number, because that would
 * change its last digits.
 */

/** A string, or a number, word or bracket; what stands between them is white space. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export type ValueKind = 'null' | 'string' | 'number' | 'word' | 'json';

export function kindOf(text: string): ValueKind {
  const first = text.trimStart()[0] ?? '';
  if (first === '"') return 'string';
  if (first === '{' || first === '[') return 'json';
  if (text === 'null') return 'null';
  return first === 't' || first === 'f' ? 'word' : 'number';
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function isNumberText(text: string): boolean {
  return NUMBER.test(text);
}

/** Text for readers: a string without its quotes, all else as it is. */
export function shownText(text: string): string {
  return kindOf(text) === 'string' ? (JSON.parse(text) as string) : text;
}

const PLAIN_DECIMAL = /^-?\d+(?:\.(\d+))?$/;

/** As `shownText`, decimals with all digits of their scale: `1487.5` is `1487.50`. */
export function columnText(
  { type, scale = 0 }: { readonly type: string; readonly scale?: number },
  json: string,
): string {
  const digits = PLAIN_DECIMAL.exec(json);
  if (type !== 'decimal' || scale === 0 || digits === null) return shownText(json);
  const fraction = digits[1] ?? '';
  return `${fraction === '' ? `${json}.` : json}${'0'.repeat(Math.max(0, scale - fraction.length))}`;
}

/** In lines, indented; numbers and the order of properties stay. The text has to be JSON. */
export function indentedJson(text: string): string {
  const tokens = text.match(TOKENS) ?? [];
  let depth = 0;
  let out = '';
  const line = () => `\n${'  '.repeat(depth)}`;
  tokens.forEach((token, index) => {
    const isOpening = token === '{' || token === '[';
    const isClosing = token === '}' || token === ']';
    const before = tokens[index - 1] ?? '';
    const isEmpty = isClosing && (before === '{' || before === '[');
    if (isClosing) depth -= 1;
    if (isClosing && !isEmpty) out += line();
    else if (before === '{' || before === '[') out += isEmpty ? '' : line();
    out += token;
    if (isOpening) depth += 1;
    if (token === ',') out += line();
    if (token === ':') out += ' ';
  });
  return out;
}

/** Without white space between the parts: two texts of one value, written by the same hand, are equal then. */
export function compactJson(text: string): string {
  return (text.match(TOKENS) ?? []).join('');
}

/** A number that keeps every digit. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type ExactJson =
  | null
  | boolean
  | string
  | ExactNumber
  | readonly ExactJson[]
  | { readonly [name: string]: ExactJson };

/** U+0000 stands in no value of a database, so that a string which begins with it is one of ours. */
const MARK = '\u0000';

/** @throws SyntaxError */
export function parseExact(text: string): ExactJson {
  JSON.parse(text);
  const marked = text.replace(TOKENS, (token) => (NUMBER.test(token) ? JSON.stringify(MARK + token) : token));
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? new ExactNumber(value.slice(1)) : value,
  ) as ExactJson;
}

/** Back to text. */
export function writeExact(value: ExactJson): string {
  if (value instanceof ExactNumber) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly ExactJson[]).map(writeExact).join(',')}]`;
  const parts = Object.entries(value as Readonly<Record<string, ExactJson>>);
  return `{${parts.map(([name, part]) => `${JSON.stringify(name)}:${writeExact(part)}`).join(',')}}`;
}
