import type { SecretBox } from '../secret-box.ts';
import type { PanelStore } from '../store/panel-store.ts';
import type { TargetFields, TargetSecrets } from './target-input.ts';

/** A target as it is stored, with its secrets opened. */
export interface StoredTarget extends TargetFields {
  readonly id: string;
  /** null: `secrets/panel.key` is another one since, and they have to be entered again. */
  readonly secrets: TargetSecrets | null;
}

interface Row {
  readonly id: string;
  readonly record: string;
  readonly secrets: Buffer;
}

/** Targets of notices; URL and secret are encrypted. */
export class TargetStore {
  readonly #store: PanelStore;
  readonly #box: SecretBox;

  constructor(store: PanelStore, box: SecretBox) {
    this.#store = store;
    this.#box = box;
  }

  list(): StoredTarget[] {
    const rows = this.#store.prepare('SELECT id, record, secrets FROM notice_targets').all() as Row[];
    return rows.map(({ id, record, secrets }): StoredTarget => {
      const opened = this.#box.open(secrets, placeOf(id));
      const fields = JSON.parse(record) as TargetFields;
      return { ...fields, id, secrets: opened === null ? null : (JSON.parse(opened) as TargetSecrets) };
    });
  }

  save({ id, secrets, ...fields }: StoredTarget & { readonly secrets: TargetSecrets }): void {
    const sealed = this.#box.seal(JSON.stringify(secrets), placeOf(id));
    this.#store
      .prepare('INSERT OR REPLACE INTO notice_targets (id, record, secrets) VALUES (?, ?, ?)')
      .run(id, JSON.stringify(fields), sealed);
  }

  remove(id: string): void {
    this.#store.prepare('DELETE FROM notice_targets WHERE id = ?').run(id);
  }
}

function placeOf(id: string): readonly string[] {
  return ['notice_targets', id];
}
