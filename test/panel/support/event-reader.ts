import { type ClientRequest, type IncomingHttpHeaders, request as requestPlain } from 'node:http';
import { request as requestSafe } from 'node:https';
import type { PanelClient } from './panel-client.ts';

export interface SeenEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** Reads `GET /api/events` as a browser would; everything that came is in `events`. */
export class EventReader {
  readonly events: SeenEvent[] = [];
  /** Lines that begin with a colon. */
  comments = 0;
  status = 0;
  headers: IncomingHttpHeaders = {};
  isEnded = false;
  #sent: ClientRequest | null = null;
  #rest = '';

  /** Resolves with the head of the answer. */
  open(
    client: Pick<PanelClient, 'address' | 'cookieHeader'>,
    query = '',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<this> {
    const { hostname, port, protocol } = new URL(client.address);
    // A certificate of a test is signed by nobody.
    const options = { hostname, port, agent: false, rejectUnauthorized: false };
    const request = protocol === 'https:' ? requestSafe : requestPlain;
    const path = `/api/events${query === '' ? '' : `?${query}`}`;
    return new Promise((resolve, reject) => {
      const all = { cookie: client.cookieHeader, accept: 'text/event-stream', ...headers };
      this.#sent = request({ ...options, path, headers: all }, (response) => {
        this.status = response.statusCode ?? 0;
        this.headers = response.headers;
        response.setEncoding('utf8');
        response.on('data', (text: string) => this.#take(text));
        response.on('close', () => {
          this.isEnded = true;
        });
        response.on('error', () => {});
        resolve(this);
      });
      this.#sent.on('error', reject);
      this.#sent.end();
    });
  }

  of(event: string): unknown[] {
    return this.events.filter((seen) => seen.event === event).map((seen) => seen.data);
  }

  close(): void {
    this.#sent?.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#read(block.split('\n'));
  }

  #read(lines: readonly string[]): void {
    const value = (name: string) => {
      const found = lines
        .filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).trimStart());
      return found.length === 0 ? undefined : found.join('\n');
    };
    this.comments += lines.filter((line) => line.startsWith(':')).length;
    const data = value('data');
    if (data !== undefined)
      this.events.push({ event: value('event') ?? 'message', id: value('id'), data: JSON.parse(data) });
  }
}
