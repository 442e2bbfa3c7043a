import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Fault, PLANTED_COLUMN, WRONG_ANSWERS, withFault, wrongValue } from '../support/model/planted-faults.ts';
import { programLines, programs } from '../support/model/program-arbitrary.ts';
import { MODEL_NOW_MS, randomColumn } from '../support/model/random-schema.ts';
import type { RandomSource } from '../support/model/random-source.ts';
import { type Caller, runProgram, WrongAnswer } from '../support/model/run-program.ts';
import { COLUMN_TYPES, type ColumnType, type ModelTable, type Program } from '../support/model/types.ts';
import { unique } from '../support/sidecar.ts';
import { useSidecar } from './data-world.ts';

const STEPS = 40;
const PROGRAMS = 20;
/** What is left of a program when it is shrunk: the rows and the question. */
const FEW_STEPS = 4;

const world = useSidecar({ now: () => MODEL_NOW_MS, config: { schema: { removed: 'drop' } } });
const call: Caller = (operation, payload) => world.client.call(operation, payload);

function tableWith(type: ColumnType) {
  return (random: RandomSource): ModelTable[] => {
    const id = randomColumn(random, 'id', 'int64');
    const planted = randomColumn(random, PLANTED_COLUMN, type);
    return [
      {
        name: 'things',
        primaryKey: ['id'],
        columns: [
          { ...id, nullable: false, unique: false, default: null, autoIncrement: true },
          { ...planted, nullable: true, unique: false },
          { ...randomColumn(random, 'other', 'int32'), unique: true },
        ],
        indexes: [],
      },
    ];
  };
}

/** The program that showed the fault, as small as it became. */
async function foundBy(fault: Fault, type: ColumnType, isShrunk: boolean): Promise<Program | null> {
  const faulty = withFault(call, fault);
  const tried = fc.asyncProperty(programs({ steps: STEPS, tables: tableWith(type) }), async (program) => {
    await runProgram(program, unique('p'), faulty, world.sidecar.capabilities);
  });
  const { failed, counterexample, errorInstance } = await fc.check(tried, {
    numRuns: PROGRAMS,
    endOnFailure: !isShrunk,
  });
  if (failed) expect(errorInstance).toBeInstanceOf(WrongAnswer);
  return counterexample?.[0] ?? null;
}

describe('a wrong answer is found', () => {
  it.each(COLUMN_TYPES)('a value of type %s that is another', async (type) => {
    expect(await foundBy(wrongValue(type), type, false)).not.toBeNull();
  });

  it.each(Object.entries(WRONG_ANSWERS))('%s', async (_, fault) => {
    expect(await foundBy(fault, 'string', false)).not.toBeNull();
  });

  it('and nothing where nothing is wrong', async () => {
    expect(await foundBy((_, answer) => answer, 'decimal', false)).toBeNull();
  });

  it('and becomes a few lines that anybody can send', async () => {
    const program = (await foundBy(wrongValue('decimal'), 'decimal', true)) as Program;
    expect(program.steps.length).toBeLessThanOrEqual(FEW_STEPS);
    expect(programLines(program)[0]).toMatch(/^schema\.sync \{"schema":\{"tables":\[\{"name":"things"/);
  }, 60_000);
});
