/** A small source of numbers that look random and are always the same for the same seed. Nothing for secrets. */
export interface Random {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
}

/** The generator is "mulberry32": 32 bits of state, the same digits on every machine. */
export function randomFrom(seed: number, stream: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream, 0x85ebca6b)) >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  return chooseWith(next);
}

/** For the evening, which need not be the same twice. */
export const chance: Random = chooseWith(Math.random);

function chooseWith(next: () => number): Random {
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, pick: (list) => list[below(list.length)] ?? list[0] };
}
