import { expect, it } from 'vitest';
import { attackedSidecar, expectUnharmed } from './attack-world.ts';

const columns = [
  { name: 'id', type: 'int64' },
  { name: 'name', type: 'string' },
];
const PEOPLE = {
  name: 'people',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'text' },
    { name: 'search', type: 'string', derived: { from: 'name', fold: true } },
  ],
};
/** Normalisation sorts a run of marks by class, in time by its length squared. */
const MARKS = `a${'\u0301\u0327'.repeat(225_000)}`;

it('texts of combining marks on a folded column delay no others', { timeout: 120_000 }, async () => {
  const sidecar = await attackedSidecar();
  const tables = [{ name: 'things', primaryKey: ['id'], columns }, PEOPLE];
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables } });
  const people = { namespace: 'game', table: 'people' };
  await expectUnharmed(sidecar, async () => {
    await sidecar.client.must('insert', { ...people, rows: [{ id: 1, name: MARKS }] });
    const filter = { field: 'search', op: 'eq', value: MARKS };
    const found = await sidecar.client.must('find', { ...people, filter, fields: ['id', 'search'] });
    expect(found.rows).toEqual([{ id: 1, search: 'a' }]);
  });
});
