import type { PanelStore } from '../store/panel-store.ts';
import type { StoreTrouble } from '../store-trouble.ts';
import { RUN_VARIABLE } from './process/child-environment.ts';
import { groupMembers, hasVariable, readStartMark } from './process/group.ts';

/** The server's process id on disk: after `kill -9` of the sidecar the next start ends that process. */
export class RunMemory {
  readonly #store: PanelStore;
  readonly #trouble: Pick<StoreTrouble, 'attempt'>;

  constructor(store: PanelStore, trouble: Pick<StoreTrouble, 'attempt'>) {
    this.#store = store;
    this.#trouble = trouble;
  }

  async note(pid: number, run: string): Promise<void> {
    const mark = await readStartMark(pid);
    if (!this.#store.open) return;
    this.#store
      .prepare('INSERT OR REPLACE INTO server_run (id, pid, mark, run) VALUES (1, ?, ?, ?)')
      .run(pid, mark, run);
  }

  /** False too if it cannot be read. */
  get isEmpty(): boolean {
    return this.#trouble.attempt(() => this.#store.prepare('SELECT 1 FROM server_run').get() === undefined, false);
  }

  /** If the delete fails, the stored id is harmless: the next start finds no such process. */
  forget(): void {
    this.#trouble.attempt(() => void this.#store.prepare('DELETE FROM server_run').run(), undefined);
  }

  /** Process id of a group that an earlier sidecar left running, or null. */
  async findLeftGroup(): Promise<number | null> {
    const row = this.#store.prepare('SELECT pid, mark, run FROM server_run').get() as Row | undefined;
    if (row === undefined) return null;
    const mark = await readStartMark(row.pid);
    if (mark !== null) return mark === row.mark ? row.pid : null;
    // The leader has ended. Other members are known by the variable that the leader was started with.
    if (process.platform !== 'linux') return null;
    const isOurs = groupMembers(row.pid).some((pid) => hasVariable(pid, RUN_VARIABLE, row.run));
    return isOurs ? row.pid : null;
  }
}

interface Row {
  readonly pid: number;
  readonly mark: string | null;
  readonly run: string;
}
