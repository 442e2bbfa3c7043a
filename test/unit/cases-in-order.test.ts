import { expect, it } from 'vitest';
import { CaseOrder } from '#support/cases-in-order.ts';

/** Three cases and all hooks; each notes that it ran. */
function notingOrder() {
  const notes: string[] = [];
  const note = (text: string) => () => void notes.push(text);
  const order = new CaseOrder();
  for (const hook of ['beforeAll', 'afterAll', 'beforeEach', 'afterEach'] as const) order[hook].push(note(hook));
  for (const name of ['first', 'second', 'third']) order.cases.set(name, note(name));
  return { order, notes };
}

it('a second attempt finds a new start and every case before it', async () => {
  const { order, notes } = notingOrder();
  await order.replay('third');
  const around = (name: string) => ['beforeEach', name, 'afterEach'];
  expect(notes).toEqual(['afterAll', 'beforeAll', ...around('first'), ...around('second')]);
});

it('the first case needs a new start alone', async () => {
  const { order, notes } = notingOrder();
  await order.replay('first');
  expect(notes).toEqual(['afterAll', 'beforeAll']);
});

it('a case that fails on the way ends the way, after its own hooks', async () => {
  const { order, notes } = notingOrder();
  order.cases.set('first', () => Promise.reject(new Error('it fails again')));
  await expect(order.replay('third')).rejects.toThrow('it fails again');
  expect(notes).toEqual(['afterAll', 'beforeAll', 'beforeEach', 'afterEach']);
});
