import type { UpdateEnd } from '#sidecar/keeper/channel/messages.ts';
import type { UpdateRecord } from '../shapes/updates.ts';
import type { PanelStore } from '../store/panel-store.ts';

const MAX_RECORDS = 50;

/** Changes of the release, as the keeper has ended them. */
export class UpdateHistory {
  readonly #store: PanelStore;
  /** Version of the program's own folder. */
  readonly #program: string;

  constructor(store: PanelStore, program: string) {
    this.#store = store;
    this.#program = program;
  }

  /** An end that is written down already changes nothing. */
  add({ id, from, to, ...end }: UpdateEnd): void {
    const record: UpdateRecord = { id, ...end, from: from ?? this.#program, to: to ?? this.#program };
    const insert = this.#store.prepare(
      'INSERT INTO updates (job_id, outcome, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    );
    insert.run(id, end.outcome, JSON.stringify(record));
    this.#store
      .prepare('DELETE FROM updates WHERE id NOT IN (SELECT id FROM updates ORDER BY id DESC LIMIT ?)')
      .run(MAX_RECORDS);
  }

  /** The newest first. */
  list(): UpdateRecord[] {
    const rows = this.#store.prepare('SELECT record FROM updates ORDER BY id DESC').all() as { record: string }[];
    return rows.map(({ record }) => JSON.parse(record) as UpdateRecord);
  }
}
