import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { DbResult } from '#connector/helper/helper.ts';
import { createAsk } from '#sample/ask.ts';

function answer(code: string): DbResult {
  return { Id: 'x', State: code === '' ? 'ok' : 'error', Status: 0, Code: code, Json: '{}' };
}

function newAsk() {
  const lines: string[] = [];
  const stopping = new AbortController();
  return { ask: createAsk((line) => lines.push(line), stopping.signal), lines, stopping };
}

describe('ask', () => {
  it('repeats a call until the database answers, and tells of the outage once, however many wait', async () => {
    const { ask, lines } = newAsk();
    let calls = 0;
    const call = async () => answer(++calls <= 3 ? 'network' : '');
    const results = await Promise.all([ask(call), ask(call), ask(call)]);
    expect(results.map(({ State }) => State)).toEqual(['ok', 'ok', 'ok']);
    expect(lines).toEqual([
      expect.stringMatching(/does not answer \(network\)/),
      expect.stringMatching(/answers again, after \d+ s/),
    ]);
  });

  it.each(['', 'constraint_violation', 'invalid_value', 'forbidden'])('takes %j for an answer', async (code) => {
    const { ask, lines } = newAsk();
    let calls = 0;
    const result = await ask(async () => {
      calls += 1;
      return answer(code);
    });
    expect([result.Code, calls, lines]).toEqual([code, 1, []]);
  });

  it('ends when the bundle stops: in a pause, in a call, and before one', async () => {
    const { ask, stopping } = newAsk();
    const inPause = ask(async () => answer('unavailable'));
    const inCall = ask(() => new Promise(() => {}));
    await new Promise(setImmediate);
    stopping.abort(new Error('stopped'));
    await expect(inCall).rejects.toThrow('stopped');
    await expect(inPause).rejects.toThrow();
    await expect(ask(async () => answer(''))).rejects.toThrow('stopped');
  });

  it('keeps no answer once it was given', async () => {
    const { ask } = newAsk();
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const given: WeakRef<DbResult>[] = [];
    for (let count = 0; count < 20; count += 1) given.push(new WeakRef(await ask(async () => answer(''))));
    await new Promise(setImmediate);
    collectGarbage();
    // The last one may still lie in a register.
    expect(given.filter((result) => result.deref() !== undefined).length).toBeLessThanOrEqual(2);
  });
});
