import { expect } from 'vitest';
import { type TestSidecar, unique } from '../support/sidecar.ts';
import type { Answer } from '../support/signed-client.ts';

export const NAMES = { name: 'name', type: 'string', length: 40, nullable: true };

/** With an int64 key `id`, and other columns. */
export function table(name: string, key: string, ...columns: object[]) {
  return { name, primaryKey: [key], columns: [{ name: key, type: 'int64' }, ...columns] };
}

export const CHARACTERS = table('characters', 'id', NAMES);
/** Columns and tables that a part adds to `CHARACTERS`. */
export const PHONE = {
  name: 'characters',
  columns: [{ name: 'phone', type: 'string', nullable: true }],
  indexes: [{ name: 'by_phone', columns: ['phone'] }],
};

export interface Planned {
  readonly hash: string;
  readonly changed: boolean;
  readonly status: string;
  readonly plan: readonly {
    kind: string;
    table: string;
    column?: string;
    index?: string;
    newName?: string;
    destructive: boolean;
  }[];
}

export interface Described {
  readonly hash: string | null;
  readonly schema: { readonly tables: readonly { name: string; columns: readonly { name: string }[] }[] } | null;
  readonly updatedAt: string | null;
}

export type PartsWorld = ReturnType<typeof partsWorld>;

/** A namespace of its own, and the calls that bundles make of it. */
export function partsWorld(owner: () => TestSidecar, namespace = unique('parts')) {
  const call = (operation: string, payload: object): Promise<Answer> =>
    owner().client.call(operation, { namespace, ...payload });
  const must = async (operation: string, payload: object) => {
    const answer = await call(operation, payload);
    expect(answer).toMatchObject({ status: 200 });
    return answer.result;
  };
  return {
    namespace,
    call,
    sync: async (...tables: object[]) => (await must('schema.sync', { schema: { tables } })) as unknown as Planned,
    extend: async (part: string, ...tables: object[]) =>
      (await must('schema.extend', { part, schema: { tables } })) as unknown as Planned,
    describe: async (part?: string) => (await must('schema.describe', { part })) as unknown as Described,
    insert: (name: string, ...rows: object[]) => must('insert', { table: name, rows }),
    rows: async (name: string) => (await must('find', { table: name })).rows as Record<string, unknown>[],
    columnsOf: ({ schema }: Described, name: string) =>
      schema?.tables.find((declared) => declared.name === name)?.columns.map((column) => column.name),
  };
}
