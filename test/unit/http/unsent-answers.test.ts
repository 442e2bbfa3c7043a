import { expect, it } from 'vitest';
import { UnsentAnswers } from '#sidecar/http/unsent-answers.ts';

function connectionsOf(maxBytes: number) {
  const unsent = new UnsentAnswers(maxBytes);
  const closed: string[] = [];
  return { closed, open: (name: string) => unsent.open(() => void closed.push(name)) };
}

it('closes the connection that holds most, once, and keeps the others', () => {
  const { closed, open } = connectionsOf(100);
  const [small, large] = [open('small'), open('large')];
  small.add(20);
  for (const bytes of [40, 40, 40]) large.add(bytes);
  expect(closed).toEqual(['large']);
  large.add(1000);
  large.taken(40);
  small.add(80);
  expect(closed).toEqual(['large']);
  small.add(1);
  expect(closed).toEqual(['large', 'small']);
});

it('forgets answers that are taken, and those of a connection that is gone', () => {
  const { closed, open } = connectionsOf(100);
  const [first, second] = [open('first'), open('second')];
  first.add(90);
  first.taken(90);
  second.add(90);
  second.end();
  first.add(100);
  expect(closed).toEqual([]);
});
