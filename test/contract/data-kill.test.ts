import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { newFolder, type SidecarProcess, spawnSidecar } from '../support/sidecar.ts';

const ROUNDS = 3;
const WRITERS = 8;
const MIN_ANSWERED = 60;

/** Inserts, one after another, until the process is gone. */
async function insertUntilGone(sidecar: SidecarProcess, answered: number[], next: () => number): Promise<void> {
  try {
    for (;;) {
      const n = next();
      const rows = [{ n }, { n: -n }];
      const answer = await sidecar.client.call('insert', {
        namespace: 'kept',
        table: 'notes',
        rows,
        idempotencyKey: `k${n}`,
      });
      if (answer.ok) answered.push(n);
    }
  } catch {
    // The process was killed in the middle of this call; whether it was done is unknown, and not asked.
  }
}

it('what was answered is there after kill -9, again and again, and half a request never', async () => {
  const folder = newFolder();
  const answered: number[] = [];
  let last = 0;
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const sidecar = await spawnSidecar(folder);
      const tables = [{ name: 'notes', primaryKey: ['n'], columns: [{ name: 'n', type: 'int32' }] }];
      await sidecar.client.must('schema.sync', { namespace: 'kept', schema: { tables } });
      const before = answered.length;
      const writers = Array.from({ length: WRITERS }, () => insertUntilGone(sidecar, answered, () => ++last));
      while (answered.length < before + MIN_ANSWERED) await new Promise((resolve) => setTimeout(resolve, 5));
      await sidecar.kill('SIGKILL');
      await Promise.all(writers);
    }
    const sidecar = await spawnSidecar(folder, { limits: { maxRows: 100_000 } });
    const { rows } = await sidecar.client.must<{ rows: { n: number }[] }>('find', {
      namespace: 'kept',
      table: 'notes',
    });
    const kept = new Set(rows.map((row) => row.n));
    expect(answered.filter((n) => !kept.has(n) || !kept.has(-n))).toEqual([]);
    expect([...kept].filter((n) => !kept.has(-n))).toEqual([]);
    for (const n of answered.slice(-20)) {
      const again = { namespace: 'kept', table: 'notes', rows: [{ n }, { n: -n }], idempotencyKey: `k${n}` };
      expect(await sidecar.client.must('insert', again)).toEqual({ inserted: 2, ids: [n, -n] });
    }
    expect(await sidecar.client.must('count', { namespace: 'kept', table: 'notes' })).toEqual({ count: kept.size });
    await sidecar.kill('SIGTERM');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
