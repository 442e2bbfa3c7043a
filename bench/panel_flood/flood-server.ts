// A game server that talks: `node flood-server.ts LINES_A_SECOND`. Ends with the line `quit`.
import { createInterface } from 'node:readline';

const TICK_MS = 25;
const KINDS = [
  '[shop] sold 3 × bread to \u001b[36mMarta\u001b[0m for \u001b[33m12 $\u001b[0m',
  '[ script:bank] \u001b[31;1mError: account 4711 has no balance\u001b[0m at transfer (bank/server.js:211:17) at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
  'Player <b>Tom</b> joined (id 12)',
  '[sample_roleplay] \u001b[32mloaded\u001b[0m 12 characters in 4 ms',
];

const linesASecond = Number(process.argv[2] ?? '2000');
let said = 0;
const started = performance.now();

// By the clock, so that a late tick is made up for.
setInterval(() => {
  const wanted = Math.floor(((performance.now() - started) * linesASecond) / 1000);
  const lines: string[] = [];
  for (; said < wanted; said++) lines.push(`${KINDS[said % KINDS.length]} #${said}`);
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}, TICK_MS);

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'quit') process.exit(0);
});
