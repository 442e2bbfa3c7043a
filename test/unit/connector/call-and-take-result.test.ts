import { decode, encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rig, SECRET } from '#support/connector-rig.ts';
import { LyingServer } from '#support/lying-server.ts';

const PAYLOAD = '{"namespace":"game","table":"characters"}';
const TICKET = { Id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/), Accepted: true, Error: '' };

let api: LyingServer;
let rig: Rig;

beforeAll(async () => {
  api = await LyingServer.start(SECRET);
  rig = new Rig({ url: api.url, slowCallMs: 0, maxConcurrent: 64 });
});

afterAll(async () => {
  await rig.stop();
  await api.close();
});

function refused(code: string): object {
  return { Id: '', Accepted: false, Error: expect.stringMatching(new RegExp(`^${code}: .`)) };
}

describe('the form of a record', () => {
  it('is a plain record, and so is the reply', async () => {
    const ticket = rig.call('find', PAYLOAD);
    expect(ticket).toEqual(TICKET);
    expect(await rig.result(ticket)).toMatchObject({ Id: ticket.Id, State: 'ok' });
  });

  it('is a plain array by position', () => {
    const [id, ...rest] = rig.ask('Call', ['find', PAYLOAD]) as string[];
    expect(rest).toEqual([true, '']);
    expect(rig.ask('TakeResult', [id])).toEqual([id, 'pending', 0, '', '']);
  });

  it('is a MessagePack map in bytes', async () => {
    const reply = rig.ask('Call', encode({ Json: PAYLOAD, Operation: 'find' }));
    expect(reply).toBeInstanceOf(Uint8Array);
    const ticket = decode(reply as Uint8Array) as { Id: string };
    expect(ticket).toEqual(TICKET);
    await rig.result({ ...ticket, Accepted: true, Error: '' });
    expect(decode(rig.ask('TakeResult', encode({ Id: ticket.Id })) as Uint8Array)).toEqual({
      Id: ticket.Id,
      State: 'missing',
      Status: 0,
      Code: '',
      Json: '',
    });
  });

  it('is a MessagePack array in bytes, of any kind of view', () => {
    const packed = encode(['find', PAYLOAD]);
    const padded = Buffer.concat([Buffer.alloc(3), packed, Buffer.alloc(2)]);
    const views = [packed, Buffer.from(packed), padded.subarray(3, -2), new DataView(packed.slice().buffer)];
    for (const view of views) {
      expect(decode(rig.ask('Call', view) as Uint8Array)).toEqual([TICKET.Id, true, '']);
    }
  });

  it('may hold what nobody asks for', () => {
    expect(rig.ask('Call', { Operation: 'find', Json: PAYLOAD, More: [1] })).toEqual(TICKET);
    expect(decode(rig.ask('Call', encode(['find', PAYLOAD, { a: [null] }])) as Uint8Array)).toEqual([
      TICKET.Id,
      true,
      '',
    ]);
  });

  it('keeps every character of a text', async () => {
    const payload = JSON.stringify({ namespace: 'game', table: 'é漢🚗"\\\u0001' });
    decode(rig.ask('Call', encode({ Operation: 'find', Json: payload })) as Uint8Array);
    await rig.run('find', PAYLOAD);
    expect(api.seen.map(({ envelope }) => envelope.payload)).toContain(payload);
  });

  const unreadable: [string, unknown][] = [
    ['nothing', undefined],
    ['null', null],
    ['a text', 'find'],
    ['a number', 1],
    ['a function', () => 1],
    ['an empty record', {}],
    ['an empty list', []],
    ['a record without Json', { Operation: 'find' }],
    ['fields of another case', { operation: 'find', json: PAYLOAD }],
    ['fields that are inherited', Object.create({ Operation: 'find', Json: PAYLOAD })],
    ['an Operation that is no text', { Operation: 1, Json: PAYLOAD }],
    ['a Json that is an object', { Operation: 'find', Json: {} }],
    ['a Json that is not well-formed', { Operation: 'find', Json: '{"namespace":"game","x":"\ud800"}' }],
    ['a promise', Promise.resolve({ Operation: 'find', Json: PAYLOAD })],
    ['a map', new Map([['Operation', 'find']])],
    ['a list of one', ['find']],
    [
      'a record that throws',
      new Proxy(
        {},
        {
          getOwnPropertyDescriptor: () => {
            throw new Error('no');
          },
        },
      ),
    ],
  ];

  it.each(unreadable)('%s is invalid_request', (_name, question) => {
    const reply = rig.ask('Call', question);
    expect(Array.isArray(reply) ? { Id: reply[0], Accepted: reply[1], Error: reply[2] } : reply).toEqual(
      refused('invalid_request'),
    );
  });

  it.each([
    ['no bytes', new Uint8Array()],
    ['bytes that are no MessagePack', Uint8Array.of(0xc1)],
    ['half a record', encode({ Operation: 'find', Json: PAYLOAD }).slice(0, -1)],
    ['two records', Buffer.concat([encode({ Operation: 'find', Json: PAYLOAD }), encode(1)])],
    ['a packed number', encode(7)],
    [
      'a text that is no UTF-8',
      Buffer.from(encode(['health', '{"a":"?"}'])).map((byte) => (byte === 0x3f ? 0xff : byte)),
    ],
    ['a list that says it is endless', Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff)],
    ['bytes for a text', encode({ Operation: new Uint8Array([1]), Json: 1 })],
  ])('%s is invalid_request in bytes', (_name, bytes) => {
    const reply = decode(rig.ask('Call', bytes) as Uint8Array);
    expect(Array.isArray(reply) ? { Id: reply[0], Accepted: reply[1], Error: reply[2] } : reply).toEqual(
      refused('invalid_request'),
    );
  });
});

describe('the checks', () => {
  const tooLong = `{"namespace":"game","x":"${'x'.repeat(1_000_000)}"}`;
  it.each([
    ['unknown_operation before payload_too_large', 'drop', tooLong, 'unknown_operation'],
    ['unknown_operation', 'Find', PAYLOAD, 'unknown_operation'],
    ['unknown_operation of a name that objects have', 'constructor', PAYLOAD, 'unknown_operation'],
    ['payload_too_large before invalid_request', 'find', 'x'.repeat(1_000_001), 'payload_too_large'],
    ['invalid_request: no JSON', 'find', '{"namespace":"game"', 'invalid_request'],
    ['invalid_request: empty', 'find', '', 'invalid_request'],
    ['invalid_request: a list', 'find', '[{"namespace":"game"}]', 'invalid_request'],
    ['invalid_request: null', 'health', 'null', 'invalid_request'],
    ['invalid_request: a text', 'find', '"game"', 'invalid_request'],
    ['invalid_identifier: missing', 'find', '{}', 'invalid_identifier'],
    ['invalid_identifier: null', 'find', '{"namespace":null}', 'invalid_identifier'],
    ['invalid_identifier: a number', 'find', '{"namespace":1}', 'invalid_identifier'],
    ['invalid_identifier: upper case', 'find', '{"namespace":"Game"}', 'invalid_identifier'],
    ['invalid_identifier: two underscores', 'find', '{"namespace":"a__b"}', 'invalid_identifier'],
    ['invalid_identifier: too long', 'find', `{"namespace":"${'a'.repeat(25)}"}`, 'invalid_identifier'],
    ['namespace_not_allowed', 'find', '{"namespace":"stats"}', 'namespace_not_allowed'],
  ])('%s', (_name, operation, payload, code) => {
    expect(rig.call(operation, payload)).toEqual(refused(code));
  });

  it('count UTF-16 code units: exactly 1,000,000 pass', () => {
    const payload = `{"namespace":"game","x":"${'é'.repeat(1_000_000 - 27)}"}`;
    expect(payload.length).toBe(1_000_000);
    expect(rig.call('find', payload).Accepted).toBe(true);
    expect(rig.call('find', `${payload} `)).toEqual(refused('payload_too_large'));
  });

  it('refuse bytes that no accepted record can have without reading them', () => {
    const reply = rig.ask('Call', encode(['find', PAYLOAD, 'x'.repeat(3_100_000)]));
    expect(decode(reply as Uint8Array)).toEqual(['', false, expect.stringMatching(/^payload_too_large/)]);
  });

  it('let health through without a namespace', () => {
    expect(rig.call('health', '{}').Accepted).toBe(true);
  });
});

describe('for any argument at all', () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  const record = fc.record({ Operation: fc.anything(), Json: fc.anything(), Id: fc.anything() }, { requiredKeys: [] });
  const packed = fc.oneof(record, fc.array(fc.string())).map((value) => {
    try {
      return encode(value);
    } catch {
      return new Uint8Array();
    }
  });
  const anything = fc.oneof(fc.anything({ withBigInt: true, withDate: true, withMap: true }), record, bytes, packed);

  it('Call gives a ticket at once', () => {
    fc.assert(
      fc.property(anything, (question) => {
        const [id, accepted, error] = fieldsOf(rig.ask('Call', question));
        expect([id, accepted, typeof error]).toEqual(['', false, 'string']);
      }),
      { numRuns: 1000 },
    );
  });

  it('TakeResult gives a result at once', () => {
    fc.assert(
      fc.property(anything, (question) => {
        expect(fieldsOf(rig.ask('TakeResult', question)).slice(1)).toEqual(['missing', 0, '', '']);
      }),
      { numRuns: 1000 },
    );
  });

  it('both answer a proxy that is revoked', () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    expect(rig.ask('Call', proxy)).toEqual(refused('invalid_request'));
    expect(fieldsOf(rig.ask('TakeResult', proxy))[1]).toBe('missing');
  });

  /** The fields of a reply in their order, whatever its form. */
  function fieldsOf(reply: unknown): unknown[] {
    expect(reply).not.toBeInstanceOf(Promise);
    return Object.values((reply instanceof Uint8Array ? decode(reply) : reply) as object);
  }
});
