import { expect, it } from 'vitest';
import { changedFields, namesOf } from '#panel/web/core/changed-fields.ts';

it('sends only what differs, lists by what is in them', () => {
  const read = { port: 1, names: ['a'], isOn: false };
  expect(changedFields(read, { port: 1, names: ['a'], isOn: true })).toEqual({ isOn: true });
  expect(changedFields(read, { ...read, names: ['b'] })).toEqual({ names: ['b'] });
  expect(changedFields(read, read)).toEqual({});
});

it('reads names however they were set apart, each once', () => {
  expect(namesOf(' a, b\n\nc a ')).toEqual(['a', 'b', 'c']);
  expect(namesOf(' \n')).toEqual([]);
});
