import { expect, it } from 'vitest';
import { bufferHealth, flush, readState } from '../support/buffered/buffered-sidecar.ts';
import { NAMESPACE } from '../support/buffered/oracle.ts';
import { type BufferedWorld, eventually } from './buffered-world.ts';

const TAGS = ['hand-0', 'hand-1', 'hand-2'];

/** A table that somebody renames below: its writes become dead letters, others go on, and a retry applies each of them once. */
export function itSurvivesHands(world: () => BufferedWorld, rename: (from: string, to: string) => Promise<void>): void {
  it('is changed by hand below: what cannot be done is a dead letter, and is done once when it is asked for again', async () => {
    const { client } = world().sidecar;
    const insert = (tag: string) =>
      client.must('insert', { namespace: NAMESPACE, table: 'events', rows: [{ tag, part: 0 }] });
    await rename('stats__events', 'taken_away');
    for (const tag of TAGS) await insert(tag);
    const row = { id: 'beside', seq: 1 };
    await client.must('upsert', { namespace: NAMESPACE, table: 'latest', row, keys: ['id'] });
    await eventually(async () => {
      expect(await flush(client)).toMatchObject({ remaining: 0, halted: false });
      expect(await bufferHealth(client)).toMatchObject({ pending: 0, deadLetters: TAGS.length });
    });
    expect(
      await client.must('count', {
        namespace: NAMESPACE,
        table: 'latest',
        filter: { field: 'id', op: 'eq', value: 'beside' },
      }),
    ).toEqual({ count: 1 });
    const letters = (await world().command('dead-letters', 'list')).trim().split('\n');
    expect(letters.map((line) => JSON.parse(line))).toMatchObject(
      TAGS.map((tag) => ({ namespace: NAMESPACE, op: 'insert', payload: { rows: [{ tag }] } })),
    );
    await rename('taken_away', 'stats__events');
    await world().command('dead-letters', 'retry');
    await world().restart();
    await eventually(async () => expect(await bufferHealth(world().sidecar.client)).toMatchObject({ deadLetters: 0 }));
    const { events } = await readState(world().sidecar.client);
    expect(events.filter(({ tag }) => tag.startsWith('hand-')).map(({ tag }) => tag)).toEqual(TAGS);
  });
}
