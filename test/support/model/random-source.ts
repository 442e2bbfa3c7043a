import type fc from 'fast-check';

/** Choices of fast-check's generator: a seed gives the same ones again. */
export class RandomSource {
  readonly #random: fc.Random;

  constructor(random: fc.Random) {
    this.#random = random;
  }

  /** Both ends included. */
  int(min: number, max: number): number {
    return this.#random.nextInt(min, max);
  }

  bigint(min: bigint, max: bigint): bigint {
    return this.#random.nextBigInt(min, max);
  }

  chance(percent: number): boolean {
    return this.int(0, 99) < percent;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)] as T;
  }

  /** Some of them, in another order. */
  some<T>(items: readonly T[], min: number, max: number): T[] {
    const left = [...items];
    const count = Math.min(items.length, this.int(min, max));
    return Array.from({ length: count }, () => left.splice(this.int(0, left.length - 1), 1)[0] as T);
  }

  many<T>(min: number, max: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.int(min, max) }, (_, i) => make(i));
  }
}
