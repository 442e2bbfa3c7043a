// `node scripts/bench/json.ts`: the strict reader on payloads of 1,000,000 characters, from the bytes of the body to the checked
// payload, each shape first cold and then warm. The budget is 40 ms; beyond it the exit code is 1.
import { parseRequestEnvelope } from '#protocol/envelope.ts';
import { parseJson } from '#protocol/json.ts';
import { parsePayloadText } from '#protocol/payload-reader.ts';

const BUDGET_MS = 40;
const CHARACTERS = 1_000_000;
const RUNS = 15;

/** Shapes that hit different parts of the reader: text, escapes, numbers of both kinds, nesting, many names. */
const SHAPES: Readonly<Record<string, (i: number) => string>> = {
  'rows of a character': (i) =>
    `{"id":${i},"name":"Zoë O'Brien ${i}","money":${12345.67 + i},"job":"police","position":{"x":${i * 1.5},"y":2.25,"z":-3},"note":"${'x'.repeat(700)}","inventory":[{"item":"bread","count":${i % 9}},{"item":"water","count":2}]}`,
  'short rows': (i) => `{"id":${i},"a":true,"b":null,"c":"${i}"}`,
  integers: (i) => String(i * 7919),
  'integers beyond 2^53': (i) => `90071992547409${93 + i}`,
  doubles: (i) => String(Math.sin(i)),
  'decimals that no double holds': (i) => `${i}.1234567890123456789`,
  escapes: () => String.raw`"\n\u00e9\"\\"`,
  'long text': () => `"${'lorem ipsum é 🚗 '.repeat(100)}"`,
  'deep nesting': (i) => `${'[{"a":'.repeat(40)}${i}${'}]'.repeat(40)}`,
  'other names in each': (i) => `{"a${i}":1,"b${i}":2}`,
  'empty objects': () => '{}',
};

function payloadOf(item: (i: number) => string): string {
  const parts: string[] = [];
  let length = 40;
  for (let i = 0; length < CHARACTERS - 2000; i++) {
    const part = item(i);
    parts.push(part);
    length += part.length + 1;
  }
  return `{"namespace":"game","table":"t","rows":[${parts.join(',')}]}`;
}

function bodyOf(payload: string): Buffer {
  const envelope = { v: 1, kid: 'local', ts: 1790000000, nonce: 'n', payload, sig: 's'.repeat(43) };
  return Buffer.from(JSON.stringify(envelope));
}

function read(body: Buffer): void {
  const { payload } = parseRequestEnvelope(body.toString('utf8'), CHARACTERS);
  parsePayloadText(payload);
}

/** Processor time of this thread, which other programs on the machine do not lengthen. */
function measure(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

let worstMs = 0;
console.log(`| Shape (${CHARACTERS} characters) | body to payload, cold | median | reader alone | JSON.parse alone |`);
console.log('|---|---|---|---|---|');
for (const [name, item] of Object.entries(SHAPES)) {
  const payload = payloadOf(item);
  const body = bodyOf(payload);
  const coldMs = measure(() => read(body));
  const median = (run: () => void) =>
    Array.from({ length: RUNS }, () => measure(run)).toSorted((a, b) => a - b)[RUNS >> 1] ?? 0;
  const wholeMs = median(() => read(body));
  const readerMs = median(() => parseJson(payload));
  const nativeMs = median(() => JSON.parse(payload));
  worstMs = Math.max(worstMs, wholeMs);
  console.log(`| ${name} | ${[coldMs, wholeMs, readerMs, nativeMs].map((ms) => `${ms.toFixed(1)} ms`).join(' | ')} |`);
}
console.log(`worst median ${worstMs.toFixed(1)} ms, budget ${BUDGET_MS} ms`);
process.exitCode = worstMs > BUDGET_MS ? 1 : 0;
