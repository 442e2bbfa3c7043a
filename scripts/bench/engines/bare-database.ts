// Base line of an engine: Fastify with one unsigned POST route that runs the same statement through the bare driver.
// `node scripts/bench/engines/bare-database.ts KIND SETTINGS_FILE` prints its port; the file is `database` of
// sidecar.json, since a URL holds a password.
import { readFileSync } from 'node:fs';
import fastify from 'fastify';
import { bareStatements, type Settings } from './bare-statements.ts';
import { type EngineKind, itemPayload } from './items.ts';

const [kind, settingsFile] = process.argv.slice(2) as [EngineKind, string];
const statements = await bareStatements(JSON.parse(readFileSync(settingsFile, 'utf8')) as Settings);
const run = statements[kind];

const app = fastify({ logger: false, bodyLimit: 2 ** 26 });
app.post(itemPayload(kind).path, async (request) => {
  const { payload } = request.body as { payload: string };
  return run(JSON.parse(payload) as never);
});
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
console.log(typeof address === 'object' && address !== null ? address.port : 0);
process.on('SIGTERM', () => process.exit(0));
