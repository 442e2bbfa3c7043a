import { rmSync } from 'node:fs';
import type { SidecarConfig } from '../config/load-config.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineLog } from '../engine/log.ts';
import { MoveBusy, MoveRefused, type MoveReport } from '../moving/report.ts';
import type { NamespaceGate, SyncPlace } from '../schema/gate.ts';
import type { WriteBuffer } from '../write-behind/write-buffer.ts';
import { listBackups, withBackupFolder } from './backup-folder.ts';
import { BackupProgram, causeOf, type Ended } from './backup-program.ts';
import type { MadeAndSent } from './make-backup.ts';
import { rowsOf } from './manifest.ts';
import { countNow, type PreviewTable } from './preview-restore.ts';
import { DrillBook, type DrillResult, isDrillOverdue } from './remote/drill-book.ts';
import { type ListedRemote, listRemoteBackups, openedFolder, withOpenedBackup } from './remote/opened-backup.ts';
import { restoreBackup } from './restore-backup.ts';
import { tellFailedDrill, tellMade, tellNotMade } from './tell-backup.ts';

export interface BackupDeskParts {
  readonly config: SidecarConfig;
  readonly environment: NodeJS.ProcessEnv;
  /** `main.js`. */
  readonly program: string;
  readonly engine: Engine;
  readonly gate: NamespaceGate;
  readonly catalog: { forget(namespace: string): void };
  readonly writeBuffer: WriteBuffer | null;
  /** Copies each write off the machine; null if it is not configured. */
  readonly continuous: { lag(): BackupOverview['continuous'] } | null;
  readonly log: EngineLog;
}

export interface ListedBackup {
  /** Name of the local folder, or of the object. */
  readonly name: string;
  /** ISO 8601. */
  readonly time: string;
  readonly bytes: number;
  readonly where: 'local' | 'remote';
  /** Null, as `rows`: not known until it is opened. */
  readonly namespaces: readonly string[] | null;
  readonly rows: number | null;
}

export interface BackupOverview {
  /** Newest first. Those off the machine of this installation alone. */
  readonly backups: readonly ListedBackup[];
  readonly drill: (DrillResult & { readonly isOverdue: boolean }) | null;
  /** Null if there is no place off this machine. */
  readonly remote: ListedRemote['state'] | null;
  /** Copy of each write; null if it is not configured. */
  readonly continuous: { readonly lagSeconds: number; readonly isLate: boolean } | null;
}

/** A backup of the list. */
export interface BackupChoice {
  readonly name: string;
  readonly where: 'local' | 'remote';
  /** Null: all that it has. */
  readonly namespace: string | null;
}

export interface RestoreWish extends BackupChoice {
  /** New name of the namespace, beside the old one; null for its own, whose rows are replaced. */
  readonly as: string | null;
  /** This restore was begun before the sidecar ended. */
  readonly isResumed: boolean;
  /** Runs when the backup is opened and before anything is changed: what it stores is as new as it can be. */
  readonly before: () => Promise<void>;
  readonly report: MoveReport;
  readonly signal: AbortSignal;
}

const GATE_WAIT_MS = 10_000;
const DRAIN_MS = 60_000;

/** Backups for the panel, in the sidecar that serves meanwhile. */
export class BackupDesk {
  readonly #parts: BackupDeskParts;
  #running: BackupProgram | null = null;

  constructor(parts: BackupDeskParts) {
    this.#parts = parts;
    rmSync(openedFolder(parts.config), { recursive: true, force: true });
  }

  /** A backup or a drill runs in a process of its own. */
  get isBusy(): boolean {
    return this.#running !== null;
  }

  async list(signal: AbortSignal): Promise<BackupOverview> {
    const { config, environment, continuous } = this.#parts;
    const local = listBackups(config.backup.folder).map(
      ({ name, manifest }): ListedBackup => ({
        ...{ name, time: manifest.time, where: 'local', rows: rowsOf(manifest) },
        bytes: manifest.files.reduce((sum, file) => sum + file.bytes, 0),
        namespaces: manifest.namespaces.map((one) => one.name),
      }),
    );
    const remote = config.backup.remote === null ? null : await listRemoteBackups(config, environment, signal);
    const there = (remote?.backups ?? []).map(
      ({ object, time, bytes, known }): ListedBackup => ({
        ...{ name: object, time: new Date(time).toISOString(), bytes, where: 'remote' },
        ...{ namespaces: known?.namespaces ?? null, rows: known?.rows ?? null },
      }),
    );
    const backups = [...local, ...there].toSorted((a, b) => b.time.localeCompare(a.time));
    return { backups, drill: drillOf(config), remote: remote?.state ?? null, continuous: continuous?.lag() ?? null };
  }

  /**
   * In a process of its own. A place off the machine that failed stands in the result.
   *
   * @param options `keepsAll`: no older backup is deleted, here or off the machine. @throws MoveBusy, MoveRefused
   */
  async make({ keepsAll = false }: { readonly keepsAll?: boolean } = {}): Promise<MadeAndSent> {
    const { config } = this.#parts;
    const keep = keepsAll ? ['--keep-all'] : ['--keep', String(config.backup.keep)];
    const ended = await this.#run(['backup', '--config', config.file, '--json', ...keep]);
    if (ended.output === '') throw this.#failed(ended);
    const made = JSON.parse(ended.output) as MadeAndSent;
    this.#tellMade(made);
    return made;
  }

  /** In a process of its own. A drill that failed is a result. @throws MoveBusy, MoveRefused */
  async drill(): Promise<DrillResult> {
    const ended = await this.#run(['backup', 'drill', '--config', this.#parts.config.file, '--json']);
    if (ended.output === '') throw refusalOf(ended);
    const { drill } = JSON.parse(ended.output) as { readonly drill: DrillResult };
    if (!drill.ok) tellFailedDrill(this.#parts.log, drill);
    return drill;
  }

  /** Rows of each table in the backup and in the database. @throws MoveRefused */
  async preview(choice: BackupChoice, signal: AbortSignal): Promise<PreviewTable[]> {
    const { config, environment, engine } = this.#parts;
    const tables = await withOpenedBackup(choice, { config, environment, signal }, async ({ tables }) => tables);
    const { namespace } = choice;
    const wanted = namespace === null ? tables : tables.filter((one) => one.namespace === namespace);
    if (wanted.length === 0)
      throw new MoveRefused(`the backup ${choice.name} has no tables of ${namespace ?? 'any namespace'}`);
    return countNow(engine, wanted);
  }

  /**
   * Restores while the sidecar serves: its namespaces answer 409 `sync_in_progress` meanwhile, their queued writes are
   * applied first. It may be repeated after a crash. The caller makes a backup in `before`. @throws MoveRefused and others
   */
  async restore(wish: RestoreWish): Promise<void> {
    const { config, environment } = this.#parts;
    const { signal } = wish;
    const restoring = { config, environment, signal, mustOpen: true };
    await withOpenedBackup(wish, restoring, async ({ path, namespaces }) => {
      const chosen = wish.namespace === null ? namespaces : [wish.namespace];
      const targets = wish.as === null ? chosen : [wish.as];
      await wish.before();
      // No other process makes a backup of closed namespaces meanwhile, or deletes the one that is read.
      await withBackupFolder(config.backup.folder, () =>
        this.#whileClosed(targets, () => this.#restoreClosed(path, chosen, targets, wish)),
      );
    });
  }

  /** Gives up what runs in a process of its own. */
  stop(): void {
    this.#running?.stop();
  }

  #tellMade(made: MadeAndSent): void {
    const { log } = this.#parts;
    const { remote } = made;
    tellMade(log, made);
    if (remote === null || !('error' in remote)) return;
    tellNotMade(log, 'the backup is on this machine only: it could not be sent', remote.error);
  }

  #failed(ended: Ended): Error {
    const refusal = refusalOf(ended);
    if (!(refusal instanceof MoveBusy))
      tellNotMade(this.#parts.log, 'the backup failed: there is none of this time', refusal.message);
    return refusal;
  }

  async #run(args: readonly string[]): Promise<Ended> {
    if (this.#running !== null) throw new MoveBusy('a backup or a drill is running already');
    this.#running = new BackupProgram(this.#parts.program);
    try {
      return await this.#running.run(args);
    } finally {
      this.#running = null;
    }
  }

  /** Nothing of this process reads or writes the namespaces meanwhile. */
  async #whileClosed(namespaces: readonly string[], work: () => Promise<void>): Promise<void> {
    const { gate, catalog } = this.#parts;
    const places: SyncPlace[] = [];
    try {
      for (const namespace of namespaces) {
        const place = await gate.awaitSync(namespace, GATE_WAIT_MS);
        if (place === null) throw new MoveRefused(`namespace ${namespace} is busy with a schema sync; try again`);
        places.push(place);
        await place.close();
      }
      await work();
    } finally {
      for (const namespace of namespaces) catalog.forget(namespace);
      for (const place of places) place.release();
    }
  }

  async #restoreClosed(
    backup: string,
    chosen: readonly string[],
    targets: readonly string[],
    { as, isResumed, report, signal }: RestoreWish,
  ): Promise<void> {
    const { config, engine, log, writeBuffer } = this.#parts;
    const options = { backup, config, namespaces: chosen, replace: as === null, as, isResumed, log, report, signal };
    if (writeBuffer === null) return void (await restoreBackup(options, engine));
    const deadline = performance.now() + DRAIN_MS;
    await writeBuffer.suspend(targets, deadline, (journal) => restoreBackup({ ...options, journal }, engine));
  }
}

function drillOf({ dataFolder, backup }: SidecarConfig): BackupOverview['drill'] {
  const record = new DrillBook(dataFolder).read();
  if (record === null) return null;
  const isOverdue = backup.drill !== null && isDrillOverdue(record, backup.drill.everyDays, Date.now());
  return { ...record.last, isOverdue };
}

function refusalOf(ended: Ended): Error {
  const cause = causeOf(ended);
  return ended.code === MoveBusy.exitCode ? new MoveBusy(cause) : new MoveRefused(cause);
}
