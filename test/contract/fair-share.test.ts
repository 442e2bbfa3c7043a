import { expect, it } from 'vitest';
import { keyOf } from '../support/sidecar.ts';
import { declare, PATIENT, useSidecar } from './data-world.ts';

const HEAVY_CALLS = 30;
const OWN_CALLS = 2;
/**
 * By turns, as many heavy calls as the pool has connections, 4, end before a call of another key: 12 here. Without turns all
 * end before its first call. A machine that stalls between two calls lets some more end.
 */
const MOST_BEFORE = 20;

const world = useSidecar({ config: { ...PATIENT, keys: [keyOf('local'), keyOf('greedy'), keyOf('modest')] } });

it('heavy finds of one key are in the way of another by turns only', async () => {
  const columns = [
    { name: 'id', type: 'int32' },
    { name: 'body', type: 'text' },
  ];
  const namespace = await declare(world.client, { name: 'notes', primaryKey: ['id'], columns });
  const rows = Array.from({ length: 4 }, (_, id) => ({ id, body: 'a'.repeat(100_000) }));
  await world.client.must('insert', { namespace, table: 'notes', rows });
  const searches = Array.from({ length: 20 }, (_, i) => ({
    ...{ field: 'body', op: 'contains' },
    value: `${'a'.repeat(20 - i)}b${'a'.repeat(9)}`,
  }));
  const ended: string[] = [];
  const count = async (kid: string): Promise<void> => {
    await world.sidecar.clientOf(kid).must('count', { namespace, table: 'notes', filter: { or: searches } });
    ended.push(kid);
  };
  // The other key is known to be active, and the search to be slow.
  await count('modest');
  const greedy = Array.from({ length: HEAVY_CALLS }, () => count('greedy'));
  await Promise.race(greedy);
  for (let call = 0; call < OWN_CALLS; call += 1) await count('modest');
  expect(ended.filter((kid) => kid === 'greedy').length).toBeLessThanOrEqual(MOST_BEFORE);
  await Promise.all(greedy);
});
