import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MessageChannel } from 'node:worker_threads';
import { beforeEach, expect, it } from 'vitest';
import { Connection } from '#engine/sqlite/connection.ts';
import type { WriteCall } from '#engine/sqlite/worker/messages.ts';
import { WorkerVoice } from '#engine/sqlite/worker/voice.ts';
import { WriteGroup } from '#engine/sqlite/worker/write-group.ts';
import { testFolder } from '#support/test-folder.ts';
import { declareNotes, openSqlite } from './world.ts';

const STATEMENTS = 60_000;
const WARM_UP = 3000;
/** A map of 60,000 times takes 2.7 MB. */
const GROWTH_BYTES = 1_000_000;

let folder = '';

beforeEach(() => {
  folder = testFolder();
});

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

it('the writer forgets statements that are no longer used', { timeout: 60_000 }, async () => {
  const file = join(folder, 'game.sqlite');
  const { engine } = await openSqlite(file);
  const { namespace, revision } = await declareNotes(engine);
  await engine.close();
  const { port1, port2 } = new MessageChannel();
  const connection = new Connection({ file, role: 'writer', leavesCheckpoints: false });
  const voice = new WorkerVoice(port1, file, new SharedArrayBuffer(8));
  const group = new WriteGroup(connection, voice, () => []);
  const runNew = (from: number, to: number): void => {
    const numbers = Array.from({ length: to - from }, (_, i) => from + i);
    const definitions = numbers.map((number) => {
      return { number, sql: `DELETE FROM game__notes WHERE id = ${number}`, columns: [] };
    });
    connection.define(definitions);
    const queue = numbers.map((sequence): WriteCall => {
      const work = { do: 'change', statement: sequence, params: [], isSingleRow: false } as const;
      const bounds = { sequence, budgetMs: null, deadline: Number.POSITIVE_INFINITY };
      return { kind: 'write', work, slot: null, namespace, revision, ...bounds };
    });
    while (queue.length > 0) group.run(queue, () => {});
  };
  const runAll = (from: number, to: number): void => {
    for (let next = from; next < to; next += 1000) runNew(next, next + 1000);
  };
  runAll(0, WARM_UP);
  const before = heapBytes();
  runAll(WARM_UP, WARM_UP + STATEMENTS);
  const grown = heapBytes() - before;
  connection.close();
  port1.close();
  port2.close();
  expect(grown).toBeLessThan(GROWTH_BYTES);
});
