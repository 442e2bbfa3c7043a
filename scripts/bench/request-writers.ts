import { randomBytes } from 'node:crypto';
import { importSecret, signRequest } from '#protocol/signing.ts';
import { writeCallFrame } from '#protocol/stream-frames.ts';
import type { LoadOptions } from './load-options.ts';
import { createPayloads } from './payloads.ts';
import { isPeerKind, type PeerKind, peerRequests } from './peers/peer-requests.ts';

/** The next call as a frame of a stream. */
export function frameWriter(options: LoadOptions): () => { nonce: string; frame: Buffer } {
  const { path, sign } = signer(options);
  return () => {
    const envelope = sign();
    return { nonce: envelope.nonce, frame: writeCallFrame({ path, ...envelope }) };
  };
}

/** The next signed envelope. */
function signer({ kind, kid, secret, instance }: LoadOptions) {
  if (isPeerKind(kind)) throw new Error(`${kind} is not signed`);
  const { path, next } = createPayloads(kind);
  const key = importSecret(secret);
  const nonceStart = (instance === undefined ? '' : `${instance}.`) + randomBytes(9).toString('base64url');
  let count = 0;
  const sign = () => {
    const payload = next();
    const ts = Math.floor(Date.now() / 1000);
    count += 1;
    const nonce = `${nonceStart}${count}`;
    return { kid, ts, nonce, payload, sig: signRequest(key, path, kid, ts, nonce, payload) };
  };
  return { path, sign };
}

/** The next request as the text of an HTTP message. */
export function requestWriter(options: LoadOptions): () => string {
  if (isPeerKind(options.kind)) return peerWriter(options.kind, options.port);
  const { path, sign } = signer(options);
  return () => {
    const { kid, ts, nonce, payload, sig } = sign();
    const body = `{"v":1,"kid":"${kid}","ts":${ts},"nonce":"${nonce}","payload":${JSON.stringify(payload)},"sig":"${sig}"}`;
    const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${options.port}\r\ncontent-type: application/json\r\n`;
    return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
}

function peerWriter(kind: PeerKind, port: number): () => string {
  const next = peerRequests(kind);
  return () => {
    const { method, target, body } = next();
    const head = `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
    if (body === null) return `${head}\r\n`;
    return `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
}
