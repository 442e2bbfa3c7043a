import { expect, it } from 'vitest';
import { Places } from '#engine/model/places.ts';

const DEADLINE = { deadline: Number.POSITIVE_INFINITY };
const late = (): Error => new Error('no place in time');

/** Calls that run until they are ended, in the order in which they began. */
class Calls {
  readonly begun: string[] = [];
  readonly #places: Places;
  readonly #ends: (() => void)[] = [];

  constructor(count: number) {
    this.#places = new Places(count);
  }

  call(name: string, caller = name.slice(0, 1), deadline = performance.now() + 60_000): Promise<string> {
    const work = (): Promise<string> => {
      this.begun.push(name);
      return new Promise((resolve) => this.#ends.push(() => resolve(name)));
    };
    return this.#places.run({ deadline, caller }, work, late);
  }

  /** Ends the call that began first. */
  async endOne(): Promise<void> {
    this.#ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it('lends every place to a single caller', () => {
  const calls = new Calls(3);
  for (const name of ['a1', 'a2', 'a3', 'a4']) void calls.call(name);
  expect(calls.begun).toEqual(['a1', 'a2', 'a3']);
});

it('serves callers by turns, each in its own order', async () => {
  const calls = new Calls(1);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void calls.call(name);
  for (let ended = 0; ended < 5; ended += 1) await calls.endOne();
  expect(calls.begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

it('keeps the last free place for others while several callers are active', async () => {
  const calls = new Calls(3);
  void calls.call('b1');
  await calls.endOne();
  for (const name of ['a1', 'a2', 'a3']) void calls.call(name);
  expect(calls.begun).toEqual(['b1', 'a1', 'a2']);
  void calls.call('b2');
  expect(calls.begun).toEqual(['b1', 'a1', 'a2', 'b2']);
  await calls.endOne();
  expect(calls.begun.at(-1)).toBe('a3');
});

it("neither bounds the sidecar's own calls nor bounds others for them", () => {
  const calls = new Calls(2);
  void calls.call('own1', '');
  void calls.call('a1');
  void calls.call('a2');
  expect(calls.begun).toEqual(['own1', 'a1']);
  const alone = new Calls(2);
  for (const name of ['own1', 'own2']) void alone.call(name, '');
  expect(alone.begun).toEqual(['own1', 'own2']);
});

it('gives a call up at its deadline, and its place to the next', async () => {
  const calls = new Calls(1);
  void calls.call('a1');
  const waiting = calls.call('a2', 'a', performance.now() + 5);
  const next = calls.call('b1');
  await expect(waiting).rejects.toThrow('no place in time');
  await calls.endOne();
  expect(calls.begun).toEqual(['a1', 'b1']);
  await calls.endOne();
  expect(await next).toBe('b1');
});

it('lends the place of a call that failed again', async () => {
  const places = new Places(1);
  const failing = places.run(DEADLINE, () => Promise.reject(new Error('broken')), late);
  await expect(failing).rejects.toThrow('broken');
  expect(await places.run(DEADLINE, async () => 'done', late)).toBe('done');
});
