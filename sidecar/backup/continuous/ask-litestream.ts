import { request } from 'node:http';

const ANSWER_SECONDS = 30;
const MOST_CHARS = 65_536;

/** Asks Litestream to copy what is written and to wait until the second place has it. False if it has not. */
export function isCopied(socketPath: string, database: string): Promise<boolean> {
  const body = JSON.stringify({ path: database, wait: true, timeout: ANSWER_SECONDS });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const asked = request({ socketPath, path: '/sync', method: 'POST', headers }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk.slice(0, MOST_CHARS - text.length);
    });
    response.on('end', () => resolve(response.statusCode === 200 && isUpToDate(text)));
    response.on('error', () => resolve(false));
  });
  asked.setTimeout((ANSWER_SECONDS + 5) * 1000, () => asked.destroy());
  asked.on('error', () => resolve(false));
  asked.on('close', () => resolve(false));
  asked.end(body);
  return promise;
}

function isUpToDate(text: string): boolean {
  try {
    const { txid, replicated_txid: copied } = JSON.parse(text) as { txid?: unknown; replicated_txid?: unknown };
    return typeof txid === 'number' && typeof copied === 'number' && copied >= txid;
  } catch {
    return false;
  }
}
