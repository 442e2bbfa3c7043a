import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const STALLED_MS = 30_000;

/** Sends all of `source`. Cuts a reader that takes nothing for `stalledMs`; a reader that goes away is no fault. */
export async function sendStream(source: Readable, response: ServerResponse, stalledMs = STALLED_MS): Promise<void> {
  const cut = setTimeout(() => response.destroy(), stalledMs);
  try {
    const sent = pipeline(source, response);
    // While the reader takes nothing, nothing is read either.
    source.on('data', () => cut.refresh());
    await sent;
  } catch (error) {
    source.destroy();
    if (!response.destroyed) throw error;
  } finally {
    clearTimeout(cut);
  }
}
