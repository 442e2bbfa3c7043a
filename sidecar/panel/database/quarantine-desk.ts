import type { EngineLog } from '#engine/log.ts';
import type { QuarantinedObject } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import { Quarantine, tablesFirst } from '#sidecar/schema/quarantine.ts';
import { PanelError } from '../panel-error.ts';
import type { QuarantineAnswer, QuarantineChangeAnswer } from '../shapes/database.ts';
import type { DatabaseAccess } from './database-access.ts';
import { onDatabase } from './refusals.ts';

export interface QuarantineDeskOptions {
  readonly access: DatabaseAccess;
  readonly log: EngineLog;
  /** Called after tables were restored. */
  readonly onChange: () => void;
}

/** Tables and columns that a sync has removed from a schema and keeps. */
export class QuarantineDesk {
  readonly #options: QuarantineDeskOptions;
  readonly #quarantine: Quarantine;

  constructor(options: QuarantineDeskOptions) {
    this.#options = options;
    const { engine, now } = options.access.parts;
    this.#quarantine = new Quarantine({ engine, now, log: options.log });
  }

  read(): Promise<QuarantineAnswer> {
    return onDatabase(async () => ({ objects: await this.#quarantine.list() }));
  }

  restore(ids: readonly number[]): Promise<QuarantineChangeAnswer> {
    return this.#each(ids, async (object) => (await this.#quarantine.restore(object)).note);
  }

  purge(ids: readonly number[]): Promise<QuarantineChangeAnswer> {
    return this.#each(ids, async (object) => {
      await this.#quarantine.purge(object);
      return null;
    });
  }

  #each(
    ids: readonly number[],
    change: (object: QuarantinedObject) => Promise<string | null>,
  ): Promise<QuarantineChangeAnswer> {
    return onDatabase(async () => {
      const objects = await this.#quarantine.list();
      const chosen = tablesFirst(objects.filter(({ id }) => ids.includes(id)));
      if (chosen.length === 0) throw new PanelError('database.unknown', { detail: 'it is not in quarantine any more' });
      const done: QuarantineChangeAnswer['done'][number][] = [];
      const failed = ids
        .filter((id) => chosen.every((object) => object.id !== id))
        .map((id) => ({ id, reason: 'it is not in quarantine any more' }));
      for (const object of chosen) {
        try {
          done.push({ id: object.id, note: await change(object) });
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          failed.push({ id: object.id, reason: error.message });
        }
      }
      if (done.length > 0) this.#options.onChange();
      return { done, failed };
    });
  }
}
