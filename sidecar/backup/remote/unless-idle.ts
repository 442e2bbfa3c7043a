import type { Readable } from 'node:stream';

/** Chunks of a stream, which is ended with an error if none comes for `patienceMs`. */
export async function* unlessIdle(
  stream: Readable,
  patienceMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const abort = (): void => void stream.destroy(signal.reason as Error);
  const idle = setTimeout(() => stream.destroy(new Error(`nothing came for ${patienceMs / 1000} s`)), patienceMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    for await (const chunk of stream) {
      idle.refresh();
      yield chunk as Uint8Array;
      idle.refresh();
    }
  } finally {
    clearTimeout(idle);
    signal.removeEventListener('abort', abort);
  }
}
