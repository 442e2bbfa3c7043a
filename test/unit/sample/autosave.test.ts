import { describe, expect, it } from 'vitest';
import { SampleWorld } from './sample-world.ts';

const at = (x: number) => ({ x, y: 0, z: 0, heading: 0 });

function positions(world: SampleWorld): unknown[] {
  return world.sidecar.rows('characters').map(({ position }) => (position as { x: number } | undefined)?.x);
}

describe('saving everyone', () => {
  it('is one call for all who moved, with the last state of each', async () => {
    const world = new SampleWorld([1, 2, 3], 1000);
    const { autosave } = world.game;
    autosave.note(1, at(5), []);
    autosave.note(3, at(6), []);
    autosave.note(1, at(7), []);
    await autosave.save();
    expect(positions(world)).toEqual([7, undefined, 6]);
    await autosave.save();
    expect(world.calls).toBe(1);
    expect(world.game.tally.take()).toBe('saved 2');
  });

  it('goes on in several calls where there are more than one holds', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => index + 1);
    const world = new SampleWorld(ids, 1000);
    for (const id of ids) world.game.autosave.note(id, at(id), []);
    await world.game.autosave.save();
    expect(world.calls).toBe(3);
    expect(positions(world)).toEqual(ids);
  });

  it('keeps what found no database for the next time, unless there is something newer', async () => {
    const world = new SampleWorld([1, 2], 1000);
    const { autosave } = world.game;
    autosave.note(1, at(5), []);
    autosave.note(2, at(6), []);
    world.loseAnswerOf(1, () => autosave.note(1, at(8), []));
    await autosave.save();
    await autosave.save();
    expect(positions(world)).toEqual([8, 6]);
  });
});
