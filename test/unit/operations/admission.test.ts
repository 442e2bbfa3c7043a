import { expect, it } from 'vitest';
import { Admission } from '#sidecar/operations/admission.ts';

const LONG = 1_000_000;
/** Long calls that run at once, and those of one key that may wait. */
const RUNNING = 16;
const WAITING = 128;

function callsOf(admission: Admission) {
  const begun: string[] = [];
  const enter = (name: string, chars = LONG): void =>
    admission.enter(name.slice(0, 1), chars, () => void begun.push(name));
  const fill = (kid: string, count: number): void => {
    for (let each = 1; each <= count; each += 1) enter(`${kid}${each}`);
  };
  return { begun, enter, fill };
}

it('runs long calls up to its bound, and the next one as one leaves', () => {
  const admission = new Admission();
  const { begun, fill } = callsOf(admission);
  fill('a', 20);
  expect(begun).toHaveLength(RUNNING);
  admission.leave('a', LONG);
  expect(begun.slice(RUNNING)).toEqual(['a17']);
});

it('lets waiting keys in by turns, and begins the calls of a key that has none at once', () => {
  const admission = new Admission();
  const { begun, fill } = callsOf(admission);
  fill('a', 20);
  fill('b', 3);
  expect(begun.slice(RUNNING)).toEqual(['b1']);
  for (let left = 0; left < 5; left += 1) admission.leave('a', LONG);
  expect(begun.slice(RUNNING + 1)).toEqual(['a17', 'b2', 'a18', 'b3']);
});

it('refuses the key that fills the room for waiting, and no other', () => {
  const admission = new Admission();
  const { begun, enter, fill } = callsOf(admission);
  fill('a', RUNNING + WAITING);
  expect(() => enter('a')).toThrow('too many long calls wait already');
  expect(() => enter('a', 1)).toThrow(expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 1 }));
  fill('b', 2);
  expect(begun.at(-1)).toBe('b1');
  admission.leave('a', LONG);
  expect(() => enter('a')).toThrow('too many long calls wait already');
});

it('begins every call that waits, also if each is over at once', () => {
  const admission = new Admission();
  const { fill } = callsOf(admission);
  fill('a', RUNNING);
  let over = 0;
  for (let each = 0; each < 10_000; each += 1) {
    admission.enter('a', 10_000, () => {
      over += 1;
      admission.leave('a', 10_000);
    });
  }
  expect(over).toBe(0);
  admission.leave('a', LONG);
  expect(over).toBe(10_000);
});
