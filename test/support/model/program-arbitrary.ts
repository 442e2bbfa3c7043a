import fc from 'fast-check';
import { randomTables } from './random-schema.ts';
import { RandomSource } from './random-source.ts';
import { randomStep } from './random-steps.ts';
import { requestOf, schemaText } from './requests.ts';
import { shrunkPrograms } from './shrink-program.ts';
import type { ModelTable, Program, Step } from './types.ts';

export interface ProgramOptions {
  readonly steps: number;
  /** Default: random ones. */
  readonly tables?: (random: RandomSource) => ModelTable[];
}

/** Random programs; a failing one shrinks to the few requests that show what is wrong. */
class ProgramArbitrary extends fc.Arbitrary<Program> {
  readonly #options: ProgramOptions;

  constructor(options: ProgramOptions) {
    super();
    this.#options = options;
  }

  override generate(generator: fc.Random): fc.Value<Program> {
    const random = new RandomSource(generator);
    const tables = (this.#options.tables ?? randomTables)(random);
    const steps: Step[] = [];
    while (steps.length < this.#options.steps) steps.push(randomStep(random, tables, steps));
    return new fc.Value({ tables, steps }, undefined);
  }

  override canShrinkWithoutContext(value: unknown): value is Program {
    return typeof value === 'object' && value !== null && 'steps' in value;
  }

  override shrink(program: Program): fc.Stream<fc.Value<Program>> {
    return fc.stream(shrunkPrograms(program)).map((smaller) => new fc.Value(smaller, undefined));
  }
}

export function programs(options: ProgramOptions): fc.Arbitrary<Program> {
  return new ProgramArbitrary(options);
}

/** The requests, one a line, as somebody would send them again. */
export function programLines({ tables, steps }: Program): string[] {
  return [
    `schema.sync {"schema":${schemaText(tables)}}`,
    ...steps.map((step) => {
      const { operation, payload } = requestOf(step);
      return `${operation} {${payload}}`;
    }),
  ];
}
