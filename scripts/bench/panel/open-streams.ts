import { type ClientRequest, request } from 'node:http';
import type { PanelClient } from '#test/panel/support/panel-client.ts';
import type { BenchPanel } from './bench-panel.ts';

/** Streams that the panel allows a session. */
const OF_A_SESSION = 20;

export interface Reader {
  readonly sent: ClientRequest;
  lines: number;
}

/** Counts lines as they come, and parses nothing: it must not cost more than what is measured. */
function openStream(client: PanelClient, isReading: boolean): Promise<Reader> {
  const { hostname, port } = new URL(client.address);
  return new Promise((resolve, reject) => {
    const headers = { cookie: client.cookieHeader };
    const sent = request({ hostname, port, path: '/api/events', headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a stream was refused: ${response.statusCode}`));
      const reader: Reader = { sent, lines: 0 };
      response.on('error', () => {});
      if (isReading) response.on('data', (bytes: Buffer) => (reader.lines += countOf(bytes, '\nid: ')));
      else response.pause();
      resolve(reader);
    });
    sent.on('error', reject);
    sent.end();
  });
}

function countOf(bytes: Buffer, text: string): number {
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) count += 1;
  return count;
}

const sessions = new WeakMap<BenchPanel, PanelClient[]>();

/** The same ones each time: an address may not sign in as often as a measurement has rounds. */
async function session(panel: BenchPanel, index: number): Promise<PanelClient> {
  const clients = sessions.get(panel) ?? [];
  sessions.set(panel, clients);
  const client = clients[index] ?? (await panel.signIn());
  clients[index] = client;
  return client;
}

/** Streams of as many sessions as that takes. */
export async function openStreams(panel: BenchPanel, count: number, isReading: boolean): Promise<Reader[]> {
  const readers: Reader[] = [];
  for (let index = 0; readers.length < count; index++) {
    const client = await session(panel, index);
    const most = Math.min(OF_A_SESSION, count - readers.length);
    readers.push(...(await Promise.all(Array.from({ length: most }, () => openStream(client, isReading)))));
  }
  return readers;
}
