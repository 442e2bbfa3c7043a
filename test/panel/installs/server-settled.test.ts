import { expect, it } from 'vitest';
import { serverSettled } from '#panel/installs/server-settled.ts';
import type { BundleInfo } from '#panel/shapes/bundles.ts';
import type { Backend, ServerState, ServerStatus } from '#panel/shapes/server.ts';

/** A server that changes its state, or sends its first report, with each look at it; the last one stays. */
function serverOf(...moments: readonly (readonly [ServerState, readonly BundleInfo[] | null])[]) {
  let looks = 0;
  const now = () => moments[Math.min(looks, moments.length) - 1] ?? moments[0];
  return {
    status: () => {
      looks += 1;
      return { state: now()?.[0] } as ServerStatus;
    },
    bundles: () => now()?.[1] ?? null,
    looks: () => looks,
  };
}

const looksUntilSettled = async (server: ReturnType<typeof serverOf>, backend: Backend, reportMs?: number) => {
  await serverSettled(server, backend, new AbortController().signal, reportMs);
  return server.looks();
};

it('a standalone server that runs is settled with the first report of its bundles', async () => {
  const server = serverOf(['starting', null], ['running', null], ['running', null], ['running', []]);
  expect(await looksUntilSettled(server, 'standalone')).toBe(4);
});

it('one that runs and reports nothing is not waited for without end', async () => {
  expect(await looksUntilSettled(serverOf(['running', null]), 'standalone', 0)).toBe(1);
});

it('a server of another kind, or one that does not run, is settled at once', async () => {
  expect(await looksUntilSettled(serverOf(['starting', null], ['running', null]), 'fxserver')).toBe(2);
  expect(await looksUntilSettled(serverOf(['stopping', []], ['stopped', null]), 'standalone')).toBe(2);
  expect(await looksUntilSettled(serverOf(['crashed', null]), 'standalone')).toBe(1);
});

it('a wait that was cancelled ends', async () => {
  const stopped = serverSettled(serverOf(['starting', null]), 'standalone', AbortSignal.abort());
  await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
});
