// Base line of an acknowledgement: Fastify with one POST route that verifies the signature, does nothing, and signs its
// answer. `node scripts/bench/write-behind/signed-server.ts PATH SECRET_FILE` prints its port.
import { readFileSync } from 'node:fs';
import fastify from 'fastify';
import { importSecret, isSameSignature, signRequest, signResponse } from '#protocol/signing.ts';

interface Envelope {
  readonly kid: string;
  readonly ts: number;
  readonly nonce: string;
  readonly payload: string;
  readonly sig: string;
}

const [path = '/', secretFile = ''] = process.argv.slice(2);
const key = importSecret(readFileSync(secretFile, 'utf8'));
const payload = JSON.stringify({ queued: true, id: 'aaaaaaaaaa-1000000', pending: 1000 });

const app = fastify({ logger: false });
app.post(path, async (request, reply) => {
  const { kid, ts, nonce, payload: asked, sig } = request.body as Envelope;
  if (!isSameSignature(sig, signRequest(key, path, kid, ts, nonce, asked))) return reply.code(401).send();
  return { v: 1, ok: true, status: 200, payload, sig: signResponse(key, nonce, 200, payload) };
});
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
console.log(typeof address === 'object' && address !== null ? address.port : 0);
process.on('SIGTERM', () => process.exit(0));
