import { once } from 'node:events';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { type AttackedSidecar, askUntilAnswered, attackedSidecar, expectEnd, expectServed } from './attack-world.ts';
import { OwnTime } from './own-time.ts';

const STATEMENT_MS = 2000;
/** A call of SQLite's own function that takes minutes and cannot be interrupted. */
const ENDLESS = "instr(hex(zeroblob(6000000)), hex(zeroblob(3000000)) || '1')";

/** Puts a view that never answers in the place of the table `stuck`, as nothing that a client sends can do. */
function makeStuck({ folder }: AttackedSidecar): void {
  const db = new SQLite(join(folder, 'data/database.sqlite'));
  db.exec(`ALTER TABLE game__stuck RENAME TO kept; CREATE VIEW game__stuck AS SELECT ${ENDLESS} AS id, '' AS name`);
  db.close();
}

it('a reader that never comes back is replaced, and the stop ends by force', { timeout: 120_000 }, async () => {
  const sidecar = await attackedSidecar({ database: { statementTimeoutMs: STATEMENT_MS } });
  const columns = [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'string' },
  ];
  const tables = ['things', 'stuck'].map((name) => ({ name, primaryKey: ['id'], columns }));
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables } });
  makeStuck(sidecar);
  const find = (table: string) => sidecar.client.call('find', { namespace: 'game', table });
  const replacements = () => sidecar.log.filter((line) => line.msg === 'database reader is replaced').length;

  await expectServed(sidecar, async () => {
    expect((await find('stuck')).code).toBe('database_timeout');
  });
  await expect.poll(replacements, { timeout: 20_000 }).toBe(1);

  // All readers are stuck now, the new one too; each is replaced.
  const attacks = await Promise.all([find('stuck'), find('stuck'), find('stuck')]);
  expect(attacks.map(({ code }) => code)).toEqual(Array(3).fill('database_timeout'));
  await expect.poll(replacements, { timeout: 20_000 }).toBe(4);
  const things = { namespace: 'game', table: 'things' };
  const time = new OwnTime(sidecar.pid);
  onTestFinished(() => time.stop());
  const { ownMs } = await time.of(async () => {
    const finds = Array.from({ length: 9 }, () => askUntilAnswered(sidecar.client, 'find', things));
    expect((await Promise.all(finds)).map(({ status }) => status)).toEqual(Array(9).fill(200));
  });
  expect(ownMs).toBeLessThan(STATEMENT_MS);

  await expectEnd(sidecar, async () => {
    const ended = once(sidecar.child, 'exit');
    sidecar.child.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGKILL']);
  });
  expect(sidecar.log.map((line) => line.msg)).toContain('stopped');
});
