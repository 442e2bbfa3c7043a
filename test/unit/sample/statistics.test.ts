import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Game } from '#sample/game.ts';
import { testFolder } from '#support/test-folder.ts';
import { SampleWorld } from './sample-world.ts';

const [ZOE, FRANK] = [1, 2];
const WALK = { seconds: 60, metres: 250, kills: 0 };
const FIGHT = { seconds: 30, metres: 5, kills: 1 };

let vfs: string;
beforeEach(() => {
  vfs = testFolder();
});

function newWorld(isBuffered = true): SampleWorld {
  const world = new SampleWorld([], 0);
  if (isBuffered) world.sidecar.buffered.add('stats');
  world.vfs = vfs;
  world.restart();
  return world;
}

/** Two rounds of deeds, saved each: the second one finds the rows there. */
async function play({ statistics }: Game): Promise<void> {
  for (const deeds of [WALK, FIGHT]) {
    for (const character of [ZOE, FRANK]) statistics.add(character, deeds);
    await statistics.save();
  }
}

/** Sums of the table, added up without the sample's own code. */
function stored(world: SampleWorld): Record<string, number> {
  const sum = (name: string) => world.sidecar.rows('players').reduce((total, row) => total + Number(row[name] ?? 0), 0);
  return { saves: sum('saves'), seconds: sum('seconds'), metres: sum('metres'), kills: sum('kills') };
}

const forgetBook = () => rmSync(join(vfs, 'data'), { recursive: true, force: true });
const book = () => join(vfs, 'data/sample_roleplay.statistics.jsonl');

describe.each([
  ['buffered', true],
  ['live', false],
])('statistics in a namespace that is %s', (_, isBuffered) => {
  it('add up what was done, and are found in order', async () => {
    const world = newWorld(isBuffered);
    await world.game.statistics.begin();
    await play(world.game);
    expect(await world.game.statistics.audit()).toBe(
      'statistics ok: 4 saves of 2 players, 0 h 03 min played, 510 m, 2 kills',
    );
    expect(stored(world)).toEqual({ saves: 4, seconds: 180, metres: 510, kills: 2 });
  });

  it('save many deeds of one character in one call', async () => {
    const world = newWorld(isBuffered);
    await world.game.statistics.begin();
    const before = world.calls;
    for (let deed = 0; deed < 100; deed += 1) world.game.statistics.add(ZOE, WALK);
    await world.game.statistics.save();
    expect(world.calls - before).toBe(2);
    world.sidecar.drain();
    expect(stored(world)).toEqual({ saves: 1, seconds: 6000, metres: 25_000, kills: 0 });
  });

  it('are exact wherever the server dies, also when the call arrives later or its key is forgotten', async () => {
    const calls = await callsOfAnEvening(isBuffered);
    const moments = ['before', 'after', { lateBy: 0 }, { lateBy: 3 }] as const;
    for (let at = 3; at <= calls; at += 1) {
      for (const moment of moments) {
        for (const isForgotten of typeof moment === 'object' ? [false] : [false, true]) {
          forgetBook();
          const world = newWorld(isBuffered);
          world.dieAt(at, moment);
          await world.game.statistics.begin();
          await play(world.game).catch(() => {});
          if (isForgotten) world.sidecar.forget();
          world.restart();
          await world.game.statistics.begin();
          await play(world.game);
          world.deliverLate();
          const line = await world.game.statistics.audit();
          expect(line, `died at call ${at}, ${JSON.stringify(moment)}`).toMatch(/^statistics ok: [4-8] saves of 2/);
          expect(line).toContain(`${stored(world).metres?.toLocaleString('en')} m`);
        }
      }
    }
  });

  it('are exact when an answer is lost, also when its key is forgotten meanwhile', async () => {
    const calls = await callsOfAnEvening(isBuffered);
    for (let at = 3; at <= calls; at += 1) {
      for (const isForgotten of [false, true]) {
        const world = newWorld(isBuffered);
        const said: string[] = [];
        world.said = (line) => said.push(line);
        await world.game.statistics.begin();
        world.loseAnswerOf(at, () => isForgotten && world.sidecar.forget());
        await play(world.game);
        expect(await world.game.statistics.audit()).toMatch(/^statistics ok: [2-4] saves of 2/);
        expect(said).toEqual([
          expect.stringMatching(/^statistics: the database does not answer \(network\)/),
          expect.stringMatching(/^statistics: the database answers again/),
        ]);
        forgetBook();
      }
    }
  });
});

async function callsOfAnEvening(isBuffered: boolean): Promise<number> {
  const world = newWorld(isBuffered);
  await world.game.statistics.begin();
  await play(world.game);
  forgetBook();
  return world.calls;
}

describe('the audit of statistics', () => {
  it.each([
    ['loses one', 'saves 4 acknowledged, 3 stored; seconds 180 acknowledged, 150 stored'],
    ['doubles one', 'saves 4 acknowledged, 5 stored; seconds 180 acknowledged, 210 stored'],
  ] as const)('shouts when the queue %s', async (fault, details) => {
    const world = newWorld();
    const { statistics } = world.game;
    await statistics.begin();
    for (const character of [ZOE, FRANK]) statistics.add(character, WALK);
    await statistics.save();
    world.sidecar.drain();
    for (const character of [ZOE, FRANK]) statistics.add(character, FIGHT);
    await statistics.save();
    world.sidecar.drain(fault);
    expect(await statistics.audit()).toContain(`!!! STATISTICS MISMATCH !!! ${details}`);
    world.restart();
    await world.game.statistics.begin();
    expect(await world.game.statistics.audit()).toContain(details);
  });

  it('shouts when the rows are gone, and begins anew where the table itself was made just now', async () => {
    const world = newWorld();
    await world.game.statistics.begin();
    await play(world.game);
    world.sidecar.drain();
    world.sidecar.tables.set('players', []);
    expect(await world.game.statistics.audit()).toMatch(/MISMATCH !!! saves 4 acknowledged, 0 stored/);
    const afresh = newWorld();
    await afresh.game.statistics.begin();
    expect(await afresh.game.statistics.audit()).toMatch(/^statistics ok: 0 saves of 0 players/);
  });

  it('says so where the queue stands, and audits nothing', async () => {
    const world = newWorld();
    const said: string[] = [];
    world.said = (line) => said.push(line);
    await world.game.statistics.begin();
    await play(world.game);
    world.sidecar.isHalted = true;
    expect(await world.game.statistics.audit()).toBe(
      'statistics not audited: write_buffer_halted, 4 saves acknowledged',
    );
    expect(said).toEqual([expect.stringMatching(/does not answer \(write_buffer_halted\)/)]);
    world.sidecar.isHalted = false;
    expect(await world.game.statistics.audit()).toMatch(/^statistics ok: 4 saves/);
  });

  it('counts the deeds of one server, whoever else plays on the database', async () => {
    const world = newWorld();
    await world.game.statistics.begin();
    await play(world.game);
    forgetBook();
    const other = world.anotherGame();
    await other.statistics.begin();
    await play(other);
    await play(other);
    expect(await world.game.statistics.audit()).toMatch(/^statistics ok: 4 saves of 2 players/);
    expect(await other.statistics.audit()).toMatch(/^statistics ok: 8 saves of 2 players/);
  });
});

describe('the book', () => {
  it('bears a last line that was torn, and no other damage', async () => {
    const world = newWorld();
    await world.game.statistics.begin();
    await play(world.game);
    appendFileSync(book(), '{"id":"torn","charac');
    world.restart();
    await world.game.statistics.begin();
    expect(await world.game.statistics.audit()).toMatch(/^statistics ok: 4 saves/);
    writeFileSync(book(), readFileSync(book(), 'utf8').replace('{"server"', '{"server'));
    world.restart();
    await expect(world.game.statistics.begin()).rejects.toThrow(/jsonl is damaged. Move it away/);
  });
});

describe('a namespace that is not allowed', () => {
  async function refusalWith(config: string, code: string): Promise<string> {
    const world = newWorld();
    writeFileSync(join(vfs, 'database.json'), config);
    world.sidecar.refused.set('stats', { status: 0, body: { error: { code, message: 'no' } } });
    const said: string[] = [];
    world.said = (line) => said.push(line);
    await world.game.statistics.keep();
    world.game.statistics.add(ZOE, WALK);
    expect(await world.game.statistics.audit()).toBe('statistics are not kept');
    expect(said).toHaveLength(1);
    return said.join();
  }

  it.each([
    ['{\n  "namespaces": ["game"],\n  "url": "x"\n}', '  "namespaces": ["game", "stats"],'],
    ['{"url":"x","namespaces":["game","bank"]}', '  "namespaces": ["game", "bank", "stats"]'],
    ['nonsense', '  "namespaces": ["game", "stats"],'],
  ])('is told with the line to write: %j', async (config, line) => {
    const said = await refusalWith(config, 'namespace_not_allowed');
    expect(said).toMatch(/^statistics are not kept: vfs\/database.json does not allow the namespace stats/);
    expect(said.split('\n').at(-1)).toBe(line);
  });

  it('is left alone where another bundle keeps tables in it', async () => {
    const world = newWorld();
    world.sidecar.declared.add('visits');
    const said: string[] = [];
    world.said = (line) => said.push(line);
    await world.game.statistics.keep();
    expect(said.join()).toMatch(/the namespace stats belongs to another bundle \(its tables: .*visits\)/);
    expect([...world.sidecar.declared]).toEqual(['visits']);
  });

  it('is told where the key is the reason', async () => {
    expect(await refusalWith('{}', 'forbidden')).toMatch(/Add "stats" to "namespaces" of this server's key in sidecar/);
  });
});
