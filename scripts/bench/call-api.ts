import { randomBytes } from 'node:crypto';
import { importSecret, signRequest } from '#protocol/signing.ts';

export async function callApi(port: number, secret: string, path: string, payload: unknown): Promise<unknown> {
  const text = JSON.stringify(payload);
  const ts = Math.floor(Date.now() / 1000);
  const nonce = randomBytes(12).toString('base64url');
  const sig = signRequest(importSecret(secret), path, 'local', ts, nonce, text);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ v: 1, kid: 'local', ts, nonce, payload: text, sig }),
  });
  const answer = (await response.json()) as { ok: boolean; payload: string };
  if (!answer.ok) throw new Error(`${path} was refused: ${answer.payload}`);
  return JSON.parse(answer.payload);
}
