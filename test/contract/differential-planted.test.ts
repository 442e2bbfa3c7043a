import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODEL_MAX_INSERT_ROWS } from '../support/model/model-batch.ts';
import {
  PLANTED_COLUMN,
  WRONG_ANSWERS,
  withFault,
  withoutUndoing,
  wrongValue,
} from '../support/model/planted-faults.ts';
import { programLines, programs } from '../support/model/program-arbitrary.ts';
import { MODEL_NOW_MS, randomColumn } from '../support/model/random-schema.ts';
import type { RandomSource } from '../support/model/random-source.ts';
import { type Caller, runProgram, WrongAnswer } from '../support/model/run-program.ts';
import { COLUMN_TYPES, type ColumnType, type ModelTable, type Program } from '../support/model/types.ts';
import { unique } from '../support/sidecar.ts';
import { PATIENT, useSidecar } from './data-world.ts';

const STEPS = 40;
const PROGRAMS = 20;
const FEW_PROGRAMS = 4;
/** Steps of a shrunk program: the rows and the question. */
const FEW_STEPS = 4;

const world = useSidecar({
  now: () => MODEL_NOW_MS,
  config: { ...PATIENT, schema: { removed: 'drop' }, limits: { maxInsertRows: MODEL_MAX_INSERT_ROWS } },
});
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

/** Programs until one shows the fault, if any; that one as small as it became. */
async function tryWith(faulty: Caller, type: ColumnType, isShrunk: boolean, numRuns = PROGRAMS) {
  const tried = fc.asyncProperty(programs({ steps: STEPS, tables: tableWith(type) }), async (program) => {
    await runProgram(program, unique('p'), faulty, world.sidecar.capabilities);
  });
  const { counterexample, errorInstance } = await fc.check(tried, { numRuns, endOnFailure: !isShrunk });
  return { program: counterexample?.[0], error: errorInstance };
}

describe('a wrong answer is found', () => {
  it.each(COLUMN_TYPES)('a value of type %s that is another', async (type) => {
    expect((await tryWith(withFault(call, wrongValue(type)), type, false)).error).toBeInstanceOf(WrongAnswer);
  });

  it.each(Object.entries(WRONG_ANSWERS))('%s', async (_, fault) => {
    expect((await tryWith(withFault(call, fault), 'string', false)).error).toBeInstanceOf(WrongAnswer);
  });

  it('an atomic batch of which something stays', async () => {
    expect((await tryWith(withoutUndoing(call), 'string', false)).error).toBeInstanceOf(WrongAnswer);
  });

  it('and nothing where nothing is wrong', async () => {
    expect((await tryWith(call, 'decimal', false, FEW_PROGRAMS)).error).toBeNull();
  });

  it('and becomes a few lines that anybody can send', async () => {
    const program = (await tryWith(withFault(call, wrongValue('decimal')), 'decimal', true)).program as Program;
    expect(program.steps.length).toBeLessThanOrEqual(FEW_STEPS);
    expect(programLines(program)[0]).toMatch(/^schema\.sync \{"schema":\{"tables":\[\{"name":"things"/);
  });
});
