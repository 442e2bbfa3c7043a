import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isFullDisk } from '#sidecar/full-disk.ts';
import { PanelError } from '../panel-error.ts';
import type { TrashedBundle } from '../shapes/bundles.ts';
import { plainFolder, unavailable } from './bundle-place.ts';
import type { TrashRow, TrashStore } from './trash-store.ts';

export interface TrashOptions {
  readonly store: TrashStore;
  readonly trashDays: () => number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onTrouble: (error: unknown) => void;
}

const DAY_MS = 86_400_000;
const SWEEP_MS = 3_600_000;

/** Folders of deleted bundles. A folder moves whole, by renaming; until the move its row says where to. */
export class Trash {
  readonly #options: TrashOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TrashOptions) {
    this.#options = options;
  }

  list(): TrashedBundle[] {
    return this.#options.store.list('kept').map((row) => {
      const { id, name, version, by, atEpochMs, bytes } = row;
      return { id, name, version, by, at: isoOf(atEpochMs), until: isoOf(this.untilOf(atEpochMs)), bytes };
    });
  }

  /** When what is deleted at this time is removed for good, in epoch milliseconds. */
  untilOf(atEpochMs: number): number {
    return atEpochMs + this.#options.trashDays() * DAY_MS;
  }

  /** @throws PanelError `bundleTools.unknown` if it is not in the trash, or on its way */
  get(id: unknown): TrashRow {
    const found = typeof id === 'string' ? this.#options.store.find(id) : null;
    if (found === null || found.state !== 'kept') throw new PanelError('bundleTools.unknown', { field: 'id' });
    return found.row;
  }

  /** Moves the bundle's folder into the trash. Can be repeated after a crash. */
  async put(row: TrashRow): Promise<void> {
    const { store } = this.#options;
    store.save(row, 'moving');
    if (!(await exists(row.folder))) {
      await mkdir(dirname(row.folder), { recursive: true, mode: 0o700 });
      const from = await plainFolder(row, row.way).catch((error) => {
        store.remove(row.id);
        throw error;
      });
      const { ino } = await lstat(from, { bigint: true });
      await renameFolder(from, row.folder).catch((error) => {
        store.remove(row.id);
        throw error;
      });
      await this.#checkMoved(row, from, ino);
    }
    store.save(row, 'kept');
  }

  /** @param row with what became known after the move */
  amend(row: TrashRow): void {
    this.#options.store.save(row, 'kept');
  }

  /**
   * Moves the folder back to its place. Can be repeated after a crash.
   *
   * @throws PanelError `bundles.exists`, `bundles.linked`
   */
  async takeBack(row: TrashRow): Promise<void> {
    const { store } = this.#options;
    if (await exists(row.folder)) {
      const parent = await this.#parentOf(row);
      await refuseTwin(parent, row.name);
      store.save(row, 'returning');
      await renameFolder(row.folder, join(parent, row.name)).catch((error) => {
        store.save(row, 'kept');
        throw error;
      });
    }
    store.remove(row.id);
  }

  /** Removes it for good. @throws PanelError `bundleTools.unknown` */
  async purge(id: unknown): Promise<TrashRow> {
    const row = this.get(id);
    await this.#remove(row);
    return row;
  }

  /** Removes what is too old, now and each hour, and finishes removals that a crash cut off. */
  async begin(): Promise<void> {
    this.#timer ??= setInterval(() => void this.sweep(), SWEEP_MS).unref();
    await this.sweep();
  }

  async sweep(): Promise<void> {
    const { store, now, onTrouble } = this.#options;
    const isOver = ({ atEpochMs }: TrashRow) => this.untilOf(atEpochMs) <= now();
    for (const row of [...store.list('purging'), ...store.list('kept').filter(isOver)]) {
      await this.#remove(row).catch(onTrouble);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #remove(row: TrashRow): Promise<void> {
    const { store } = this.#options;
    store.save(row, 'purging');
    // Links in it are removed, not followed.
    await rm(row.folder, { recursive: true, force: true, maxRetries: 3 });
    store.remove(row.id);
  }

  /** A link that was put in the place of the folder between check and move goes back. */
  async #checkMoved({ id, folder }: TrashRow, from: string, ino: bigint): Promise<void> {
    const moved = await lstat(folder, { bigint: true });
    if (moved.isDirectory() && moved.ino === ino) return;
    await rename(folder, from);
    this.#options.store.remove(id);
    throw new PanelError('bundles.linked', { detail: `${from} was replaced while it was deleted` });
  }

  /** Its `[folders]` are made again if they are gone. */
  async #parentOf({ bundles, way }: TrashRow): Promise<string> {
    const parent = dirname(way);
    if (parent === '.') return bundles;
    await mkdir(join(bundles, parent), { recursive: true, mode: 0o755 });
    return plainFolder({ bundles }, parent);
  }
}

/** Equal but for case or Unicode form is the same name on some disks. */
async function refuseTwin(parent: string, name: string): Promise<void> {
  const key = (text: string) => text.normalize('NFC').toLowerCase();
  const twin = (await readdir(parent)).find((other) => key(other) === key(name));
  if (twin !== undefined) throw new PanelError('bundles.exists', { detail: `there is ${twin} already` });
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

async function renameFolder(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EXDEV') throw new PanelError('bundles.linked', { detail: `${from} lies on another disk` });
    if (isFullDisk(error)) throw new PanelError('disk.full');
    throw unavailable(`${from} cannot be moved: ${code}`);
  }
}

function isoOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
