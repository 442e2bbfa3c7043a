import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** `tooLarge` once more than `maxBytes` have come or are announced; what follows is read and thrown away. */
export type BodyTaker = (body: Buffer | 'tooLarge') => void;

/** Calls `take` once, or never where the connection ends first. */
export function readBody(request: IncomingMessage, maxBytes: number, take: BodyTaker): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    request.resume();
    take('tooLarge');
    return;
  }
  let first: Buffer | null = null;
  let chunks: Buffer[] | null = null;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    if (bytes > maxBytes) return;
    bytes += chunk.length;
    if (bytes > maxBytes) {
      first = null;
      chunks = null;
      take('tooLarge');
    } else if (first === null) first = chunk;
    else {
      chunks ??= [first];
      chunks.push(chunk);
    }
  });
  request.on('end', () => {
    if (bytes <= maxBytes) take(chunks === null ? (first ?? Buffer.alloc(0)) : Buffer.concat(chunks, bytes));
  });
  request.on('error', () => {});
}

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?;?[ \t]*$/i;

/** `application/json`, optionally in UTF-8 (contract section 3.1). */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType === 'application/json' || (contentType !== undefined && JSON_TYPE.test(contentType));
}

/** The body as text; null for a byte order mark or bytes that are not UTF-8. */
export function decodeBody(body: Buffer): string | null {
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  return hasMark || !isUtf8(body) ? null : body.toString('utf8');
}
