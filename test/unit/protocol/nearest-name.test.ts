import { describe, expect, test } from 'vitest';
import { nearestName } from '#protocol/unknown-names.ts';

const COLUMNS = ['id', 'name', 'money', 'first_name', 'last_seen', 'idempotencyKey', 'createdAt'];

describe('the nearest name', () => {
  test.each([
    ['nmae', 'name'],
    ['nam', 'name'],
    ['names', 'name'],
    ['nane', 'name'],
    ['NAME', 'name'],
    ['di', 'id'],
    ['monney', 'money'],
    ['firstname', 'first_name'],
    ['lastseen', 'last_seen'],
    ['idempotencykey', 'idempotencyKey'],
    ['idempotenceKey', 'idempotencyKey'],
    ['created_at', 'createdAt'],
  ])('%s means %s', (name, expected) => {
    expect(nearestName(name, COLUMNS)).toBe(expected);
  });

  test.each(['', 'x', 'xy', 'vehicle', 'where', 'namespace', '__proto__', 'constructor'])(
    '%s is near to none',
    (name) => {
      expect(nearestName(name, COLUMNS)).toBeNull();
    },
  );

  test('no candidates, no nearest name', () => {
    expect(nearestName('name', [])).toBeNull();
  });

  test('the closest candidate wins, and the first of equally close ones', () => {
    expect(nearestName('accounts', ['discount', 'account', 'amounts'])).toBe('account');
    expect(nearestName('port', ['sort', 'part'])).toBe('sort');
  });

  test('the work is bounded, however long and many the names are', () => {
    let taken = 0;
    function* endless(): Generator<string> {
      for (;;) {
        taken += 1;
        yield 'y'.repeat(63);
      }
    }
    expect(nearestName('x'.repeat(64), endless())).toBeNull();
    expect(taken).toBeLessThan(2_000);
    expect(nearestName('x'.repeat(10_000_000), ['x'.repeat(10_000_000)])).toBeNull();
    expect(nearestName('name', ['n'.repeat(10_000_000), 'name'])).toBe('name');
  });
});
