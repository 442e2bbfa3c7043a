// Base line of the API: Fastify with one POST route that takes the same body, parsed by Fastify's own reader, and answers
// with as many bytes as the API does. `node scripts/bench/bare-server.ts PATH ANSWER_BYTES` prints its port.
import fastify from 'fastify';

const [path = '/', answerBytes = '100'] = process.argv.slice(2);
const empty = JSON.stringify({ ok: true, filler: '' });
const answer = { ok: true, filler: 'x'.repeat(Math.max(0, Number(answerBytes) - empty.length)) };

const app = fastify({ logger: false });
app.post(path, async () => answer);
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
console.log(typeof address === 'object' && address !== null ? address.port : 0);
process.on('SIGTERM', () => process.exit(0));
