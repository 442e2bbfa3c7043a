import { describe, expect, it } from 'vitest';
import { Gate } from '#sample/gate.ts';

describe('the money gate', () => {
  it('lets a count wait for what moves, and holds back what comes', async () => {
    const gate = new Gate();
    const events: string[] = [];
    const first = Promise.withResolvers<void>();
    const counting = Promise.withResolvers<void>();
    const moved = gate.move(async () => {
      await first.promise;
      events.push('first moved');
    });
    const counted = gate.still(async () => {
      events.push('counting');
      await counting.promise;
      events.push('counted');
    });
    const late = gate.move(async () => void events.push('second moved'));
    first.resolve();
    await moved;
    await new Promise(setImmediate);
    expect(events).toEqual(['first moved', 'counting']);
    counting.resolve();
    await Promise.all([counted, late]);
    expect(events).toEqual(['first moved', 'counting', 'counted', 'second moved']);
  });

  it('opens again after a failure on either side', async () => {
    const gate = new Gate();
    const failure = async () => Promise.reject(new Error('no'));
    await expect(gate.move(failure)).rejects.toThrow('no');
    await expect(gate.still(failure)).rejects.toThrow('no');
    await expect(gate.still(async () => gate.constructor.name)).resolves.toBe('Gate');
    await expect(gate.move(async () => 7)).resolves.toBe(7);
  });
});
