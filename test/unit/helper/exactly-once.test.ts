import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Database, type DbTicket } from '#connector/helper/helper.ts';
import { FakeServer, failed, ok } from './fake-server.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Events of a bundle's calls, in any order. */
const anyStep = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'call' } as const) },
  { weight: 2, arbitrary: fc.constant({ kind: 'throwing call' } as const) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('answer' as const), index: fc.nat(30), isOk: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(300) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), isTold: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'start' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'forget' } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace' as const), hasLists: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'look at a ticket' } as const) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('refuse' as const), code: fc.constantFrom('', 'busy: full') }),
  },
);

it('whatever happens, each callback is called exactly once, never inside of its call, and then all is quiet', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), fc.boolean(), async (steps, isTicked) => {
      const server = new FakeServer();
      if (isTicked) server.turn = { atOnce: 2, end: (run) => void setTimeout(run, 10) };
      let ticket: DbTicket | undefined;
      const db = new Database(server);
      const delivered: number[] = [];
      const call = (isThrowing: boolean): void => {
        const index = delivered.push(0) - 1;
        let isInside = true;
        ticket = db.Count('game', 'cars', () => {
          delivered[index] = (delivered[index] ?? 0) + (isInside ? 100 : 1);
          if (isThrowing) throw new Error('a slip');
        });
        isInside = false;
      };
      for (const step of steps) {
        if (step.kind === 'call' || step.kind === 'throwing call') call(step.kind !== 'call');
        else if (step.kind === 'answer') server.answer(step.index, step.isOk ? ok({ count: 1 }) : failed('network'));
        else if (step.kind === 'wait') await vi.advanceTimersByTimeAsync(step.ms);
        else if (step.kind === 'forget') server.forgetAll();
        else if (step.kind === 'replace') server.hasLists = step.hasLists;
        else if (step.kind === 'look at a ticket') expect(typeof ticket?.Accepted).toMatch(/boolean|undefined/);
        else if (step.kind === 'refuse') server.refusal = step.code;
        else server.isRunning = step.kind === 'start';
        if (step.kind === 'stop' && step.isTold) server.tell('db_connector', 'stopped');
      }
      server.isRunning = false;
      await vi.advanceTimersByTimeAsync(1000);
      expect(delivered).toEqual(delivered.map(() => 1));
      expect(vi.getTimerCount()).toBe(0);
    }),
  );
});
