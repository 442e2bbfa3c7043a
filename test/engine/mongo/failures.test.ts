import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
  type TopologyDescription,
} from 'mongodb';
import { describe, expect, it } from 'vitest';
import { detailOf, failureOf, insertedBefore } from '#engine/mongo/failures.ts';

/** Error of MongoDB itself, if the server of the tests answers another one or cannot reach that state. */
const server = (code: number, message: string): MongoServerError => new MongoServerError({ code, message });

describe('a failure that MongoDB tells', () => {
  it.each([
    [
      server(11000, 'E11000 duplicate key error collection: a.b index: c__d__u__e dup key: { e: "secret" }'),
      'duplicate',
    ],
    [server(11000, "Duplicate key violation on the requested collection: Index 'c__d__u__e'"), 'duplicate'],
    [server(10334, 'BSONObj size: 16777300 (0x1000054) is invalid. Size must be between 0 and 16793600'), 'tooLong'],
    [server(17419, 'Resulting document after update is larger than 16777216'), 'tooLong'],
    [server(50, 'operation exceeded time limit'), 'timeout'],
    [server(112, 'Write conflict during plan execution'), 'conflict'],
    [server(10107, 'not primary'), 'unreachable'],
    [server(11602, 'operation was interrupted'), 'lost'],
    [server(6, 'Connection refused by a shard'), 'lost'],
    [server(133, 'Could not find host matching read preference { mode: "primary" } for set s'), 'unreachable'],
    [server(18, 'Authentication failed.'), 'broken'],
    [server(13, 'not authorized on sidecar to execute command'), 'broken'],
    [server(14031, 'available disk space is less than required'), 'broken'],
    [new MongoNetworkError('connection 3 to 10.0.0.1:27017 closed'), 'lost'],
    [
      new MongoNetworkError('connect', { cause: Object.assign(new Error('no'), { syscall: 'connect' }) }),
      'unreachable',
    ],
    [new MongoServerSelectionError('none', {} as TopologyDescription), 'unreachable'],
  ])('%s: %s', (error, kind) => {
    expect(failureOf(error)).toMatchObject({ kind });
    expect(detailOf(error)).not.toMatch(/secret|10\.0\.0\.1/);
  });

  it('names the index', () => {
    const error = server(11000, 'E11000 duplicate key error collection: a.b index: _key dup key: { id: 5 }');
    expect(failureOf(error)).toEqual({ kind: 'duplicate', index: '_key' });
  });

  it('after the write is done is never a reason to send it again', () => {
    const stepDown = { code: 10107, errmsg: 'not primary any more' };
    const alone = new MongoWriteConcernError({ ok: 1, writeConcernError: stepDown } as never);
    const result = { insertedCount: 2, insertedIds: {}, getWriteErrors: () => [] };
    const bulk = new MongoBulkWriteError({ message: 'not primary', code: 10107, writeErrors: [] }, result as never);
    for (const error of [alone, bulk]) expect(failureOf(error).kind).toBe('lost');
    expect(insertedBefore(bulk)).toBe(2);
  });
});
