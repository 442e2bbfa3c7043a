import { beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../support/sidecar.ts';
import { declare, outcome, useSidecar } from './data-world.ts';
import { ITEMS, LAMP_ROW, REFUSALS } from './refusals.ts';

const world = useSidecar({
  config: {
    keys: [keyOf('local', { allowUnfilteredWrites: true }), keyOf('modest', { allowUnfilteredWrites: false })],
    limits: { maxInsertRows: 3 },
  },
});
let namespace = '';
beforeAll(async () => {
  namespace = await declare(world.client, ITEMS);
  await world.client.must('insert', { namespace, table: 'items', rows: [LAMP_ROW] });
});

async function everything(): Promise<string> {
  return (await world.client.call('find', { namespace, table: 'items' })).text;
}

describe('refusals change nothing', () => {
  it.each(REFUSALS)('%s %j: %s', async (operation, payload, expected) => {
    const before = await everything();
    const answer = await world.client.call(operation, { namespace, table: 'items', ...payload });
    expect(outcome(answer)).toBe(expected);
    expect(answer.isVerified).toBe(true);
    expect(await everything()).toBe(before);
  });

  it('unfiltered writes need the permission, also where nothing is declared', async () => {
    const modest = world.sidecar.clientOf('modest');
    const before = await everything();
    expect(outcome(await modest.call('delete', { namespace, table: 'items', all: true }))).toBe('403 forbidden');
    expect(outcome(await modest.call('update', { namespace, table: 'nowhere', all: true, set: { a: 1 } }))).toBe(
      '403 forbidden',
    );
    expect(await everything()).toBe(before);
  });

  it('null for an optional property means left out', async () => {
    const payload = { namespace, table: 'items', filter: null, fields: null, sort: null, limit: null, offset: null };
    expect((await world.client.call('find', payload)).text).toBe(await everything());
  });

  it('flush answers that write-behind is off', async () => {
    const expected = { flushed: 0, deadLettered: 0, remaining: 0, halted: false, enabled: false };
    expect(await world.client.must('flush', { namespace })).toEqual(expected);
  });
});
