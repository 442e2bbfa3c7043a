// Base line of the applier: rows in batches through the bare driver, one durable batch after another on one connection.
// `node scripts/bench/write-behind/bare-batches.ts SETTINGS_FILE SECONDS` prints rows a second.
import { readFileSync } from 'node:fs';
import { bareStatements, type Settings } from '../engines/bare-statements.ts';
import { itemPayload } from '../engines/items.ts';

const ROWS = 500;

const [settingsFile = '', seconds = '5'] = process.argv.slice(2);
const { insert500 } = await bareStatements(JSON.parse(readFileSync(settingsFile, 'utf8')) as Settings);
const { next } = itemPayload('insert500');

const startedAt = performance.now();
const endsAt = startedAt + Number(seconds) * 1000;
let rows = 0;
while (performance.now() < endsAt) {
  await insert500(next() as never);
  rows += ROWS;
}
console.log(rows / ((performance.now() - startedAt) / 1000));
process.exit(0);
