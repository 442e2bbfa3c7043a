import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressRanges, isLoopback, isRange, readAddress, SOCKET_CLIENT } from '#sidecar/security/addresses.ts';

describe('readAddress', () => {
  const rows: [string, string | null][] = [
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:0A00:0001', '10.0.0.1'],
    ['FE80::1%eth0', 'fe80::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['', null],
    ['127.1', null],
    ['0177.0.0.1', null],
    ['0x7f.0.0.1', null],
    ['1.2.3.4.5', null],
    ['[::1]', null],
    ['localhost', null],
    ['10.0.0.1 ', null],
  ];
  for (const [text, address] of rows)
    it(`${JSON.stringify(text)} is ${address}`, () => expect(readAddress(text)).toBe(address));
});

describe('ranges', () => {
  it('hold what shares their first bits, as counting in numbers does', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    const address = fc.tuple(byte, byte, byte, byte);
    const value = (parts: number[]) => parts.reduce((sum, part) => sum * 256 + part, 0);
    fc.assert(
      fc.property(address, address, fc.integer({ min: 0, max: 32 }), (base, probe, bits) => {
        const size = 2 ** (32 - bits);
        const isIn = Math.floor(value(base) / size) === Math.floor(value(probe) / size);
        const near = [...base.slice(0, 2), ...probe.slice(2)];
        const isNearIn = Math.floor(value(base) / size) === Math.floor(value(near) / size);
        const ranges = new AddressRanges([`${base.join('.')}/${bits}`]);
        expect(ranges.has(probe.join('.'))).toBe(isIn);
        expect(ranges.has(near.join('.'))).toBe(isNearIn);
        expect(ranges.has(probe.join('.'))).toBe(isIn);
      }),
    );
  });

  const rows: [string, string, boolean][] = [
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['2001:db8::/32', '2001:db8:1::5', true],
    ['2001:db8::/32', '2001:db9::5', false],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '10.0.0.1', false],
    ['::ffff:10.0.0.0/104', '10.9.9.9', true],
    ['127.0.0.0/8', SOCKET_CLIENT, true],
    ['10.0.0.0/8', SOCKET_CLIENT, false],
  ];
  for (const [range, address, isIn] of rows) {
    it(`${range} ${isIn ? 'holds' : 'does not hold'} ${address}`, () =>
      expect(new AddressRanges([range]).has(address)).toBe(isIn));
  }

  for (const text of [
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0/8',
    'fe80::1%eth0/64',
    '::1/129',
    '/8',
    'x',
    '10.0.0.0/ 8',
  ]) {
    it(`${text} is none`, () => expect(isRange(text)).toBe(false));
  }
});

it('loopback is 127.0.0.0/8, ::1 and the socket', () => {
  expect(['127.0.0.1', '127.255.0.9', '::1', SOCKET_CLIENT].every(isLoopback)).toBe(true);
  expect(['128.0.0.1', '10.0.0.1', '::2', 'fe80::1'].some(isLoopback)).toBe(false);
});
