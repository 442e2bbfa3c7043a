import { describe, expect, it } from 'vitest';
import { NamespaceGate } from '#sidecar/schema/gate.ts';

/** A promise and its resolver. */
function held() {
  return Promise.withResolvers<void>();
}

describe('NamespaceGate', () => {
  it('has one place for a sync, in each namespace', () => {
    const gate = new NamespaceGate();
    const place = gate.beginSync('a');
    expect(place).not.toBeNull();
    expect(gate.beginSync('a')).toBeNull();
    expect(gate.beginSync('b')).not.toBeNull();
    place?.release();
    place?.release();
    expect(gate.beginSync('a')).not.toBeNull();
  });

  it('lets operations go on until the place is closed, then waits for those under way', async () => {
    const gate = new NamespaceGate();
    const events: string[] = [];
    const first = held();
    const place = gate.beginSync('a');
    const running = gate.run('a', async () => {
      await first.promise;
      events.push('operation under way');
    });
    const closed = place?.close().then(() => events.push('closed'));
    const later = gate.run('a', async () => {
      events.push('operation after');
      return 7;
    });
    expect(await gate.run('b', async () => 'other namespace')).toBe('other namespace');
    expect(events).toEqual([]);
    first.resolve();
    await Promise.all([running, closed]);
    place?.release();
    expect(await later).toBe(7);
    expect(events).toEqual(['operation under way', 'closed', 'operation after']);
  });

  it('waits for an operation that fails, too', async () => {
    const gate = new NamespaceGate();
    const first = held();
    const running = gate.run('a', () => first.promise);
    const place = gate.beginSync('a');
    const closed = place?.close();
    first.reject(new Error('failed'));
    await expect(running).rejects.toThrow('failed');
    await closed;
  });

  it('refuses an operation that has waited too long, and no other', async () => {
    const gate = new NamespaceGate({ waitMs: 5 });
    const place = gate.beginSync('a');
    await place?.close();
    await expect(gate.run('a', async () => 1)).rejects.toMatchObject({ code: 'sync_in_progress' });
    place?.release();
    expect(await gate.run('a', async () => 2)).toBe(2);
  });

  it('keeps a second sync out of an operation that waited for the first', async () => {
    const gate = new NamespaceGate();
    const events: string[] = [];
    const first = gate.beginSync('a');
    await first?.close();
    const work = held();
    const operation = gate.run('a', async () => {
      events.push('operation begins');
      await work.promise;
      events.push('operation ends');
    });
    first?.release();
    const second = gate.beginSync('a');
    const closed = second?.close().then(() => events.push('second sync'));
    work.resolve();
    second?.release();
    await Promise.all([operation, closed]);
    expect(events.indexOf('operation ends')).toBeGreaterThan(events.indexOf('operation begins'));
  });

  it('gives the place to those who wait for it in their order, and to nobody who has given up', async () => {
    const gate = new NamespaceGate();
    const first = gate.beginSync('a');
    const order: string[] = [];
    const take = async (name: string) => {
      const place = await gate.awaitSync('a', 60_000);
      order.push(name);
      return place;
    };
    const second = take('second');
    expect(await gate.awaitSync('a', 1)).toBeNull();
    const third = take('third');
    first?.release();
    (await second)?.release();
    expect(gate.beginSync('a')).toBeNull();
    (await third)?.release();
    expect(order).toEqual(['second', 'third']);
    expect(gate.beginSync('a')).not.toBeNull();
  });
});
