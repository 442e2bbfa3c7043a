import { expect, it } from 'vitest';
import { seedOf } from '#support/test-seed.ts';
import { Schedule } from './schedule.ts';

/** `SIMULATION_SEED=n` replays one schedule; `SIMULATION_SCHEDULES=n` runs more of them, or fewer. */
const { SIMULATION_SEED, SIMULATION_SCHEDULES } = process.env;
const schedules = SIMULATION_SEED === undefined ? Number(SIMULATION_SCHEDULES ?? 2000) : 1;
const firstSeed = seedOf('SIMULATION_SEED');

it(`keeps every promise in ${schedules} schedules of crashes, errors, restores and slow answers`, async () => {
  let acknowledged = 0;
  for (let seed = firstSeed; seed < firstSeed + schedules; seed += 1) {
    const verdict = await new Schedule(seed).run();
    acknowledged += verdict.acknowledged;
    const story = `SIMULATION_SEED=${seed}\n${verdict.faults.join('\n')}\n\n${verdict.history.join('\n')}\n`;
    expect(verdict.faults, story).toEqual([]);
  }
  expect(acknowledged).toBeGreaterThan(schedules);
}, 300_000);

it.each([
  ['databaseForgetsPosition', /was applied 2 times/],
  ['diskLies', /is lost/],
] as const)(
  'finds out that %s',
  async (planted, expected) => {
    const faults: string[] = [];
    for (let seed = firstSeed; faults.length === 0 && seed < firstSeed + 500; seed += 1) {
      const verdict = await new Schedule(seed, planted).run();
      faults.push(...verdict.faults.filter((fault) => expected.test(fault)));
    }
    expect(faults).not.toEqual([]);
  },
  300_000,
);
