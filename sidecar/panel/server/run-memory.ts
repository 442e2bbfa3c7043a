import type { PanelStore } from '../store/panel-store.ts';
import type { StoreTrouble } from '../store-trouble.ts';
import { RUN_VARIABLE } from './process/child-environment.ts';
import { groupMembers, hasVariable, readStartMark } from './process/group.ts';

/** Which process is the server's, kept on the disk: after `kill -9` of the sidecar the next start knows what to end. */
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

  /** A number that stays in a file that takes nothing is harmless: the next start finds no such process. */
  forget(): void {
    this.#trouble.attempt(() => void this.#store.prepare('DELETE FROM server_run').run(), undefined);
  }

  /** The process number of a group that an earlier sidecar has left running; null where there is none. */
  async findLeftGroup(): Promise<number | null> {
    const row = this.#store.prepare('SELECT pid, mark, run FROM server_run').get() as Row | undefined;
    if (row === undefined) return null;
    const mark = await readStartMark(row.pid);
    if (mark !== null) return mark === row.mark ? row.pid : null;
    // Its leader has gone. Who is left is known by what the leader was started with.
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
