import type { Caller, ModelAnswer } from './run-program.ts';
import type { ColumnType } from './types.ts';

/** Wrong answers as an engine might give them, put between the API and the model: each must be found. */
export type Fault = (operation: string, answer: ModelAnswer) => ModelAnswer;

export const PLANTED_COLUMN = 'planted';
const VALUE = new RegExp(`("${PLANTED_COLUMN}":)(true|false|-?\\d[\\d.eE+-]*|"(?:[^"\\\\]|\\\\.)*")`);

export function withFault(call: Caller, fault: Fault): Caller {
  return async (operation, payload) => {
    const answer = await call(operation, payload);
    return answer.code === '' || operation === 'batch' ? fault(operation, answer) : answer;
  };
}

/** An atomic batch that is refused does what it can of its operations. */
export function withoutUndoing(call: Caller): Caller {
  return async (operation, payload) => {
    const answer = await call(operation, payload);
    const isUndone = operation === 'batch' && answer.code !== '' && !payload.includes('"atomic":false');
    if (isUndone) await call(operation, payload.replace('"operations":', '"atomic":false,"operations":'));
    return answer;
  };
}

/** The first value of the column in what is found is another one, barely. */
export function wrongValue(type: ColumnType): Fault {
  return (operation, answer) =>
    operation === 'find'
      ? { ...answer, text: answer.text.replace(VALUE, (_, name, value) => `${name}${spoiled(type, value)}`) }
      : answer;
}

function spoiled(type: ColumnType, json: string): string {
  if (type === 'bool') return json === 'true' ? 'false' : 'true';
  if (type === 'float64') return nextDouble(Number(json));
  if (!json.startsWith('"')) return otherLastDigit(json);
  const text = JSON.parse(json) as string;
  if (type === 'string' || type === 'text') return JSON.stringify(otherText(text));
  if (type === 'uuid' && text.toUpperCase() !== text) return JSON.stringify(text.toUpperCase());
  if (type === 'bytes') return text === '' ? '"AA=="' : '""';
  return JSON.stringify(/\d/.test(text) ? otherLastDigit(text) : `${text} `);
}

/** Text as a collation, a pad rule or a normalisation would change it. */
function otherText(text: string): string {
  const others = [text.trimEnd(), text.toLowerCase(), text.toUpperCase(), text.normalize('NFC'), text.normalize('NFD')];
  return others.find((other) => other !== text) ?? `${text} `;
}

function otherLastDigit(text: string): string {
  return text.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10));
}

function nextDouble(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  bytes.writeBigUInt64BE(bytes.readBigUInt64BE() ^ 1n);
  return JSON.stringify(bytes.readDoubleBE());
}

const replaced =
  (operations: readonly string[], pattern: RegExp, by: (...found: string[]) => string): Fault =>
  (operation, answer) =>
    operations.includes(operation) ? { ...answer, text: answer.text.replace(pattern, by) } : answer;

function withOtherIndex(text: string): string {
  const { error } = JSON.parse(text) as { error: { index?: number } };
  return JSON.stringify({ error: { ...error, index: (error.index ?? -1) + 1 } });
}

const oneMore = (_: string, before: string, digits: string): string => `${before}${BigInt(digits) + 1n}`;

export const WRONG_ANSWERS: Readonly<Record<string, Fault>> = {
  'a count that is one too high': replaced(['count'], /("count":)(\d+)/, oneMore),
  'a sum, a count or a greatest that is one too high': replaced(['aggregate'], /("v1":)(-?\d+)/, oneMore),
  'an affected that is one too high': replaced(['update', 'delete', 'upsert'], /("affected":)(\d+)/, oneMore),
  'an id that is not the one': replaced(['insert'], /("ids":\[)(\d+)/, oneMore),
  'rows that changed places': replaced(['find'], /(\{[^{}]*\}),(\{[^{}]*\})/, (_, a, b) => `${b},${a}`),
  'a row that is missing': replaced(['find'], /,\{[^{}]*\}\]/, () => ']'),
  'more rows where there are none': replaced(['find'], /"hasMore":false/, () => '"hasMore":true'),
  'an affected of a batch that is one too high': replaced(['batch'], /("affected":)(\d+)/, oneMore),
  'an id of a batch that is not the one': replaced(['batch'], /("ids":\[)(\d+)/, oneMore),
  'a failed batch that names another operation': (operation, answer) =>
    operation === 'batch' && answer.code !== '' ? { ...answer, text: withOtherIndex(answer.text) } : answer,
  'an operation of a batch that failed otherwise': replaced(
    ['batch'],
    /("results":.*"code":")constraint_violation"/,
    (_, before) => `${before}conflict_retry"`,
  ),
  'a refusal in place of an answer': (operation, answer) =>
    operation === 'upsert' ? { status: 409, code: 'constraint_violation', text: '' } : answer,
};
