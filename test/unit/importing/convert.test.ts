import { describe, expect, it } from 'vitest';
import type { Column } from '#protocol/schema.ts';
import { converterOf } from '#sidecar/importing/convert.ts';
import type { SourceColumn } from '#sidecar/importing/source.ts';
import { timeZoneOf } from '#sidecar/importing/time-zone.ts';

function convert(dataType: string, type: Column['type'], text: string | null, zone = 'UTC') {
  const source = { name: 'c', dataType, columnType: dataType } as SourceColumn;
  const size = type === 'decimal' ? { precision: 20, scale: 2 } : type === 'string' ? { length: 20 } : {};
  const target: Column = { name: 'c', type, ...size, nullable: true, unique: false, autoIncrement: false };
  return converterOf(source, target, timeZoneOf(zone))(text);
}

describe('a value of MySQL', () => {
  it.each([
    ['int', 'int32', '00042', 42],
    ['bigint', 'int64', '9223372036854775807', 9223372036854775807n],
    ['decimal', 'decimal', '-0012.50', '-12.5'],
    ['double', 'float64', '1.5e-7', 1.5e-7],
    // Single precision, read as the double that it is.
    ['float', 'float64', '12.300000190734863', 12.3],
    ['float', 'float64', '16777216', 16777216],
    ['tinyint', 'bool', '1', true],
    ['bit', 'bool', '0', false],
    ['longtext', 'json', '{"a": 1.50}', '{"a":1.5}'],
    ['date', 'date', '0000-00-00', null],
    ['date', 'date', '2024-00-10', null],
    ['datetime', 'datetime', '2024-02-29 23:59:59.123456', '2024-02-29T23:59:59.123Z'],
    ['datetime', 'datetime', '0000-00-00 00:00:00', null],
    ['timestamp', 'datetime', '2024-07-01 12:00:00', '2024-07-01T12:00:00.000Z'],
    ['blob', 'bytes', '00FF10', new Uint8Array([0, 255, 16])],
    ['binary', 'string', '00FF', '00ff'],
    ['varchar', 'string', null, null],
  ] as const)('%s as %s: %s', (dataType, type, text, value) => {
    const converted = convert(dataType, type, text);
    expect(converted instanceof Uint8Array ? [...converted] : converted).toEqual(
      value instanceof Uint8Array ? [...value] : value,
    );
  });

  it.each([
    ['tinyint', 'bool', '2'],
    ['varchar', 'int32', 'many'],
    ['bigint', 'int32', '3000000000'],
    ['longtext', 'json', '{'],
    ['longtext', 'json', ''],
    ['varchar', 'string', 'more than twenty characters'],
    ['date', 'date', '2023-02-29'],
  ] as const)('%s as %s does not fit: %s', (dataType, type, text) => {
    expect(() => convert(dataType, type, text)).toThrow(/expected/);
  });
});

describe('a naive time', () => {
  it.each([
    ['+05:45', '2024-01-01 00:00:00', '2023-12-31T18:15:00.000Z'],
    ['Europe/Berlin', '2024-01-01 12:00:00', '2024-01-01T11:00:00.000Z'],
    ['Europe/Berlin', '2024-07-01 12:00:00', '2024-07-01T10:00:00.000Z'],
    ['America/New_York', '2024-07-01 23:00:00', '2024-07-02T03:00:00.000Z'],
    // The day on which summer begins, before and after; then the day on which it ends.
    ['Europe/Berlin', '2024-03-31 01:59:59', '2024-03-31T00:59:59.000Z'],
    ['Europe/Berlin', '2024-03-31 03:00:00', '2024-03-31T01:00:00.000Z'],
    ['Europe/Berlin', '2024-10-27 01:30:00', '2024-10-26T23:30:00.000Z'],
    ['Europe/Berlin', '2024-10-27 03:30:00', '2024-10-27T02:30:00.000Z'],
  ])('in %s: %s', (zone, text, utc) => {
    expect(convert('datetime', 'datetime', text, zone)).toBe(utc);
  });

  it('of a zone that nobody knows is refused', () => {
    expect(() => timeZoneOf('Mars/Base')).toThrow('--time-zone expects UTC, an offset such as +02:00');
  });
});
