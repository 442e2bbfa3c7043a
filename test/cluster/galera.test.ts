import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runQuarantine } from '#sidecar/commands/quarantine.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { type GaleraCluster, type GaleraNode, startGalera } from '#support/cluster/galera.ts';
import { foundByDoctor } from '#support/found-by-doctor.ts';
import { startSidecar, type TestSidecar } from '#support/sidecar.ts';
import { Ledger, NOTHING_WRONG, TABLES } from './acknowledged.ts';

let cluster: GaleraCluster;
/** A sidecar for each node, which prefers its own. */
let sidecars: TestSidecar[];

const sidecarAt = (url: string, settings: object = {}): Promise<TestSidecar> =>
  startSidecar({ database: { settings: { provider: 'mysql', url, ...settings }, drop: async () => {} } });
const sidecar = (position: number): TestSidecar => sidecars[position % sidecars.length] as TestSidecar;
const node = (position: number): GaleraNode => cluster.nodes[position] as GaleraNode;
const at = (table: string, more: object) => ({ namespace: 'game', table, ...more });

/** The node applies nothing of the others until the returned function is called. */
async function paused({ admin }: GaleraNode): Promise<() => Promise<void>> {
  const waiting = admin('FLUSH TABLES WITH READ LOCK', 'SELECT SLEEP(60) AS paused').catch(() => {});
  const find = "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(60) AS paused%'";
  await expect.poll(() => admin(find)).toHaveLength(1);
  return async () => {
    for (const [id] of await admin(find)) await admin(`KILL ${Number(id)}`);
    await waiting;
  };
}

beforeAll(async () => {
  cluster = await startGalera();
  sidecars = await Promise.all([0, 1, 2].map((first) => sidecarAt(cluster.urlOf('sidecar', first))));
  await sidecar(0).client.must('schema.sync', { namespace: 'game', schema: { tables: TABLES } });
}, 180_000);

afterAll(async () => {
  await Promise.all((sidecars ?? []).map((each) => each.stop()));
  await cluster?.stop();
});

describe('a cluster with its own defaults', () => {
  it('serves three sidecars, and each answers with the ids that its rows have', async () => {
    expect(sidecars.flatMap(({ log }) => log.filter(({ level }) => level === 'error'))).toEqual([]);
    const insertion = async (position: number) => {
      const rows = [0, 1, 2].map((part) => ({ tag: `ids-${position}-${part}` }));
      const { ids } = await sidecar(position).client.must('insert', at('entries', { rows }));
      return rows.map(({ tag }, part) => ({ id: (ids as number[])[part], tag }));
    };
    const answered = (await Promise.all(Array.from({ length: 60 }, (_, position) => insertion(position)))).flat();
    const filter = { field: 'tag', op: 'startsWith', value: 'ids-' };
    const { rows } = await sidecar(1).client.must('find', at('entries', { filter, limit: 1000 }));
    const byId = (all: readonly { id?: number | undefined }[]) => all.toSorted((a, b) => Number(a.id) - Number(b.id));
    expect(byId(rows as { id: number }[])).toEqual(byId(answered));
  });

  it('repeats conflicts of sidecars until none is left', async () => {
    await sidecar(0).client.must('insert', at('counters', { rows: [{ id: 1, n: 0 }] }));
    const calls = Array.from({ length: 300 }, (_, position) =>
      sidecar(position).client.call(
        'update',
        at('counters', { filter: { field: 'id', op: 'eq', value: 1 }, inc: { n: 1 } }),
      ),
    );
    const answers = new Set((await Promise.all(calls)).map(({ status, code }) => `${status} ${code}`));
    expect([...answers]).toEqual(['200 ']);
    const { rows } = await sidecar(2).client.must('find', at('counters', {}));
    expect(rows).toEqual([{ id: 1, n: 300 }]);
  });

  it('reads at one sidecar what another one has answered', async () => {
    let stale = 0;
    const writeAndRead = async (lane: number): Promise<void> => {
      for (let round = 1; round <= 200; round += 1) {
        const row = { id: 100 + lane, n: round };
        await sidecar(lane).client.must('upsert', at('counters', { row, keys: ['id'] }));
        const filter = { field: 'id', op: 'eq', value: row.id };
        const { rows } = await sidecar(lane + round).client.must('find', at('counters', { filter }));
        if ((rows as { n: number }[])[0]?.n !== round) stale += 1;
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, lane) => writeAndRead(lane)));
    expect(stale).toBe(0);
  });

  it('does not wait for what its node has not applied yet, with causalReads off', async () => {
    const { url } = node(2);
    const [waiting, prompt] = await Promise.all([sidecarAt(url), sidecarAt(url, { causalReads: false })]);
    const filter = { field: 'id', op: 'eq', value: 200 };
    const read = async ({ client }: TestSidecar) => (await client.must('find', at('counters', { filter }))).rows;
    await sidecar(0).client.must('insert', at('counters', { rows: [{ id: 200, n: 1 }] }));
    for (const each of [waiting, prompt]) await expect.poll(() => read(each)).toEqual([{ id: 200, n: 1 }]);
    const goOn = await paused(node(2));
    try {
      await sidecar(0).client.must('update', at('counters', { filter, set: { n: 2 } }));
      let isAnswered = false;
      const late = read(waiting).finally(() => {
        isAnswered = true;
      });
      expect(await read(prompt)).toEqual([{ id: 200, n: 1 }]);
      expect(isAnswered).toBe(false);
      await goOn();
      expect(await late).toEqual([{ id: 200, n: 2 }]);
    } finally {
      await goOn();
      await Promise.all([waiting.stop(), prompt.stop()]);
    }
  });
});

describe('a schema that changes on one sidecar while the others use it', () => {
  const ROUNDS = 8;
  const namespace = 'moving';
  const columns = [
    { name: 'id', type: 'int32' },
    { name: 'kept', type: 'string', length: 20 },
  ];
  const tableOf = (round: number) => ({
    name: 'things',
    primaryKey: ['id'],
    columns: [...columns, ...Array.from({ length: round }, (_, i) => ({ name: `c${i}`, type: 'int32', default: i }))],
  });
  const described = async (of: TestSidecar) =>
    JSON.stringify((await of.client.must<{ schema: unknown }>('schema.describe', { namespace })).schema);

  it('is the same on all of them after each change, and no row lost a value', async () => {
    const sync = (position: number, round: number) =>
      sidecar(position).client.call('schema.sync', { namespace, schema: { tables: [tableOf(round)] } });
    expect((await sync(0, 0)).status).toBe(200);
    const rows = Array.from({ length: 200 }, (_, id) => ({ id, kept: `value ${id}` }));
    await sidecar(0).client.must('insert', { namespace, table: 'things', rows });
    for (let round = 1; round <= ROUNDS; round += 1) {
      let isDone = false;
      const looking = [1, 2].map(async (offset) => {
        while (!isDone) {
          const answer = await sidecar(round + offset).client.call('schema.describe', { namespace });
          expect([200, 409]).toContain(answer.status);
          await sidecar(round + offset).client.call('count', { namespace, table: 'things' });
        }
      });
      expect((await sync(round, round)).message).toBe('');
      isDone = true;
      await Promise.all(looking);
      const all = await Promise.all(sidecars.map(described));
      expect(new Set(all).size).toBe(1);
      expect(all[0]).toContain(`"c${round - 1}"`);
    }
    const find = { namespace, table: 'things', fields: ['id', 'kept', `c${ROUNDS - 1}`], limit: 1000 };
    for (const { client } of sidecars) {
      const found = await client.must<{ rows: readonly object[] }>('find', find);
      expect(found.rows).toHaveLength(rows.length);
      expect(found.rows).toEqual(
        expect.arrayContaining(rows.map((row) => ({ ...row, [`c${ROUNDS - 1}`]: ROUNDS - 1 }))),
      );
    }
  });

  it('may be declared by three sidecars at once, as when their servers start together', async () => {
    const schema = { tables: [tableOf(2)] };
    const declare = async (of: TestSidecar): Promise<void> => {
      for (;;) {
        const answer = await of.client.call('schema.sync', { namespace: 'together', schema });
        if (answer.status === 200) return;
        expect(['sync_in_progress', 'conflict_retry']).toContain(answer.code);
      }
    };
    await Promise.all(sidecars.map(declare));
    for (const { client } of sidecars) {
      await client.must('count', { namespace: 'together', table: 'things' });
    }
  });
});

describe('a table that comes back out of quarantine', () => {
  const namespace = 'returns';
  const counted = {
    name: 't',
    primaryKey: ['id'],
    columns: [
      { name: 'id', type: 'int64', autoIncrement: true },
      { name: 'name', type: 'string', length: 20 },
    ],
  };
  const quarantine = async (of: TestSidecar, ...args: string[]): Promise<string[]> => {
    const out: string[] = [];
    const io = { print: (line: string) => void out.push(line), printError: (line: string) => void out.push(line) };
    await runQuarantine(args, loadConfig(of.configFile, {}), { ...io, isForPeople: false });
    return out;
  };

  it('draws no id that its namesake drew, whichever nodes drew and restored', async () => {
    // Offsets of the nodes: each draws the numbers of its own row, and its counter knows the others' rows only.
    const offsets = await Promise.all(
      cluster.nodes.map(async (each) => Number((await each.admin('SELECT @@GLOBAL.auto_increment_offset'))[0]?.[0])),
    );
    const [first, second, third] = [1, 2, 3].map((offset) => sidecar(offsets.indexOf(offset)));
    if (first === undefined || second === undefined || third === undefined) throw new Error(`offsets ${offsets}`);
    const sync = (at: TestSidecar, ...tables: object[]) =>
      at.client.must('schema.sync', { namespace, schema: { tables } });
    const draw = async (at: TestSidecar): Promise<number> => {
      const { ids } = await at.client.must<{ ids: number[] }>('insert', {
        namespace,
        table: 't',
        rows: [{ name: 'x' }],
      });
      return Number(ids[0]);
    };
    await sync(first, counted);
    const drawn = [await draw(first)];
    await sync(second);
    await sync(second, counted);
    drawn.push(await draw(second));
    await sync(third, { ...counted, name: 'u', renamedFrom: 't' });
    const { id } = JSON.parse(`${(await quarantine(third, 'list'))[0]}`) as { id: number };
    expect(await quarantine(first, 'restore', String(id))).toEqual([`restored table ${namespace}.t with 1 row`]);
    for (const at of [second, third, first]) drawn.push(await draw(at));
    expect(new Set(drawn).size).toBe(drawn.length);
  });
});

describe('a node that has lost its cluster', () => {
  const readiness = (of: TestSidecar) => of.client.get('/readyz');

  it('is told by /readyz and health, and left for another host within the same call', async () => {
    const single = await sidecarAt(node(2).url);
    try {
      expect((await readiness(single)).status).toBe(200);
      await node(2).admin("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'");
      await expect.poll(async () => (await readiness(single)).status).toBe(503);
      const started = performance.now();
      expect(JSON.parse((await readiness(single)).body)).toMatchObject({ database: true, takesNoWrites: 'notReady' });
      expect(performance.now() - started).toBeLessThan(2000);
      const health = await single.client.must('health', {});
      expect(health).toMatchObject({ status: 'degraded', takesNoWrites: 'notReady' });
      const answer = await sidecar(2).client.call('insert', at('entries', { rows: [{ tag: 'moved' }] }));
      expect([answer.status, answer.message]).toEqual([200, '']);
      expect((await readiness(sidecar(2))).status).toBe(200);
      expect(await foundByDoctor(single.configFile, 'database')).toEqual([
        {
          verdict: 'fail',
          what: 'database',
          found: expect.stringContaining('the database failed: this node has no majority (wsrep_ready OFF): '),
          advice: 'start the nodes that are down; if they are lost for good: docs/cluster.md',
        },
      ]);
      const late = await sidecarAt(node(2).url);
      const failed = 'the database failed: this node has no majority (wsrep_ready OFF): ';
      await expect
        .poll(() => late.log)
        .toContainEqual(expect.objectContaining({ level: 'error', msg: expect.stringContaining(failed) }));
      await late.stop();
    } finally {
      await node(2).admin("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'");
      await cluster.isWhole();
      await single.stop();
    }
  });
});

describe('a node that is killed under load', () => {
  it('loses no acknowledged write and doubles none', async () => {
    const ledger = new Ledger();
    await ledger.prepare(sidecar(0).client);
    const callers = Array.from({ length: 6 }, (_, position) =>
      ledger.load((attempt) => sidecar(position + attempt).client, `kill-${position}`),
    );
    await ledger.more(100);
    await node(1).server.kill();
    await ledger.more(300);
    await node(1).server.start();
    await ledger.more(100);
    ledger.end();
    await Promise.all(callers);
    await cluster.isWhole();
    for (const { client } of sidecars) expect(await ledger.judge(client)).toEqual(NOTHING_WRONG);
  });
});
