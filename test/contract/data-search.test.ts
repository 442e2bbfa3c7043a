import { beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../support/sidecar.ts';
import { declare, outcome, PATIENT, useSidecar } from './data-world.ts';

const world = useSidecar({ config: { ...PATIENT, keys: [keyOf('local', { allowUnfilteredWrites: true })] } });
const NOTES = {
  name: 'notes',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32' },
    { name: 'title', type: 'string', length: 60 },
    { name: 'body', type: 'text' },
    { name: 'search', type: 'string', length: 4000, derived: { from: 'title', fold: true } },
  ],
};
/** Two code units, so that code points and units differ. */
const LONGEST = '🚗'.repeat(1000);
/** Folds to eighteen characters. */
const BLESSING = '\ufdfa';

let namespace = '';
beforeAll(async () => {
  namespace = await declare(world.client, NOTES);
  const rows = [
    { id: 1, title: 'hay', body: `a${LONGEST}b` },
    { id: 2, title: BLESSING.repeat(60), body: `a${'🚗'.repeat(999)}b` },
  ];
  await world.client.must('insert', { namespace, table: 'notes', rows });
});

const call = (operation: string, payload: object) =>
  world.client.call(operation, { namespace, table: 'notes', ...payload });
const count = async (field: string, op: string, value: string) =>
  (await world.client.must<{ count: number }>('count', { namespace, table: 'notes', filter: { field, op, value } }))
    .count;

describe.each(['contains', 'startsWith'])('the text of %s', (op) => {
  const inserted = op === 'contains' ? LONGEST : `a${LONGEST.slice(2)}`;

  it('may have 1,000 characters', async () => {
    expect(await count('body', op, inserted)).toBe(op === 'contains' ? 1 : 2);
    expect(await count('title', op, inserted)).toBe(0);
    expect(await count('search', op, BLESSING.repeat(55))).toBe(1);
  });

  it.each([
    ['body', `${inserted}🚗`],
    ['title', 'x'.repeat(1001)],
    ['body', 'x'.repeat(450_000)],
    ['search', BLESSING.repeat(56)],
    ['search', `e${'\u0301'.repeat(1000)}`],
  ])('on %s is refused beyond, naming the column', async (field, value) => {
    const before = (await call('find', {})).text;
    const filter = { or: [{ field: 'id', op: 'eq', value: 1 }, { not: { field, op, value } }] };
    const message = `filter.or[1].not.value: ${op} on ${field} takes at most 1000 characters`;
    for (const [operation, payload] of [
      ['find', { filter }],
      ['count', { filter }],
      ['update', { filter, set: { title: 'changed' } }],
      ['delete', { filter }],
    ] as const) {
      const answer = await call(operation, payload);
      expect(outcome(answer)).toBe('400 invalid_filter');
      expect(answer.text).toContain(message);
    }
    expect((await call('find', {})).text).toBe(before);
  });
});
