import { expect, it } from 'vitest';
import { type AttackedSidecar, attackedSidecar, expectUnharmed } from './attack-world.ts';

const NOTES = {
  name: 'notes',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32' },
    { name: 'body', type: 'text' },
  ],
};
const THINGS = {
  name: 'things',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'string' },
  ],
};

async function withLargeRows(): Promise<AttackedSidecar> {
  const sidecar = await attackedSidecar();
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: [THINGS, NOTES] } });
  for (let id = 1; id <= 8; id += 1) {
    await sidecar.client.must('insert', {
      namespace: 'game',
      table: 'notes',
      rows: [{ id, body: 'a'.repeat(900_000) }],
    });
  }
  return sidecar;
}

const search = (value: string, op = 'contains') => ({ field: 'body', op, value });

it('a part of 450,000 characters is refused', { timeout: 120_000 }, async () => {
  const sidecar = await withLargeRows();
  const filter = search(`${'a'.repeat(225_000)}b${'a'.repeat(225_000)}`);
  await expectUnharmed(sidecar, async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => sidecar.client.call('find', { namespace: 'game', table: 'notes', filter })),
    );
    expect(answers.map(({ code }) => code)).toEqual(Array(6).fill('invalid_filter'));
  });
});

it('the hardest parts that a filter admits delay no others', { timeout: 120_000 }, async () => {
  const sidecar = await withLargeRows();
  const filter = {
    or: Array.from({ length: 128 }, (_, i) => search(`${'a'.repeat(500 - i)}b${'a'.repeat(499)}`)),
  };
  await expectUnharmed(sidecar, async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => sidecar.client.call('count', { namespace: 'game', table: 'notes', filter })),
    );
    expect(answers.map(({ code }) => code)).toEqual(Array(6).fill('database_timeout'));
  });
});
