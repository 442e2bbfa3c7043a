import { beforeEach, expect, it } from 'vitest';
import type { ServerNews } from '#sidecar/keeper/channel/messages.ts';
import { NewsBacklog } from '#sidecar/keeper/news-backlog.ts';

const MEBIBYTE = 2 ** 20;
const line = (text: string): ServerNews => ({ type: 'line', time: '', stream: 'out', text });

let backlog: NewsBacklog;
beforeEach(() => {
  backlog = new NewsBacklog();
});

/** Texts of all that is sent until the reader has too much, and whether they were sent before. */
function sent(): { readonly texts: string[]; readonly again: number; readonly last: number } {
  const found = { texts: [] as string[], again: 0, last: 0 };
  for (let batch = backlog.nextBatch(); batch !== null; batch = backlog.nextBatch()) {
    found.texts.push(...batch.news.map((news) => (news.type === 'line' ? news.text : news.type)));
    found.again += batch.isAgain ? batch.news.length : 0;
    found.last = batch.last;
  }
  return found;
}

it('keeps news until they are taken, and sends the next reader those that were not, marked as such', () => {
  for (const text of ['a', 'b', 'c']) backlog.add(line(text));
  expect(sent()).toEqual({ texts: ['a', 'b', 'c'], again: 0, last: 3 });
  backlog.take(1);
  backlog.add(line('d'));
  backlog.rewind();
  expect(sent()).toEqual({ texts: ['b', 'c', 'd'], again: 2, last: 4 });
  backlog.take(4);
  expect(backlog.isEmpty).toBe(true);
  expect(sent().texts).toEqual([]);
});

it('sends a reader no more than it can store, and goes on when it has', () => {
  const text = 'x'.repeat(1000);
  for (let count = 0; count < 2000; count += 1) backlog.add(line(text));
  const first = sent();
  expect(first.texts.length).toBeLessThan(1000);
  expect(sent().texts).toEqual([]);
  backlog.take(first.last);
  expect(sent().texts.length).toBeGreaterThan(0);
});

it('is full at 16 MiB, until a reader has taken some', () => {
  const text = 'x'.repeat(MEBIBYTE / 2 - 50);
  for (let count = 0; count < 15; count += 1) backlog.add(line(text));
  expect(backlog.isFull).toBe(false);
  backlog.add(line(text));
  expect(backlog.isFull).toBe(true);
  backlog.take(sent().last);
  expect(backlog.isFull).toBe(false);
});

it('without a reader to come drops lines, and keeps the end of the run', () => {
  backlog.add(line('a'));
  backlog.add({ type: 'exit', exit: { code: 0, signal: null, failure: null }, hasMembers: false });
  backlog.add({ type: 'end', isLeftOver: false });
  backlog.dropLines();
  expect(sent().texts).toEqual(['exit', 'end']);
});
