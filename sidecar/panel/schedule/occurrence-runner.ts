import { PanelError } from '../panel-error.ts';
import type { ServerControl } from '../server/control.ts';
import type { PlannedRestart, RunResult } from '../shapes/schedule.ts';
import type { ServerState } from '../shapes/server.ts';
import type { StoredEntry } from './entry-store.ts';
import type { Occurrence, Plan } from './plan.ts';

/** A restart waits so long for other work, and is given up then. */
const LONGEST_WAIT_MS = 30 * 60_000;
/** The name of the schedule in the console. */
export const ACTOR = 'schedule';

export interface RunnerOptions {
  readonly plan: Plan;
  readonly server: Pick<ServerControl, 'status' | 'start' | 'stop' | 'restart' | 'sendCommand'>;
  /** Other work that a restart waits for. */
  readonly waitsFor: () => PlannedRestart['waitsFor'];
  /** @throws if no backup was made */
  readonly backup: () => Promise<void>;
  /** Runs work on the panel's file; a fault of it is logged, and ends nothing. */
  readonly attempt: (work: () => void) => void;
  /** Called for each run: the name of the entry, and `ok` or the reason. */
  readonly onRun: (name: string, result: string) => void;
}

/** Does what an occurrence asks for, once. */
export class OccurrenceRunner {
  readonly #options: RunnerOptions;
  /** Restarts that wait for other work, since when. */
  readonly #waiting = new Map<string, number>();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  forget(id: string): void {
    this.#waiting.delete(id);
  }

  /** Returns the result as it is known at once; null: it waits. */
  run(occurrence: Occurrence, now: number): RunResult | null {
    const { plan, server } = this.#options;
    const { entry } = occurrence;
    if (entry.action === 'restart' && this.#options.waitsFor() !== null) return this.#wait(occurrence, now);
    this.#waiting.delete(entry.id);
    const { state } = server.status();
    const needsServer = entry.action !== 'start' && entry.action !== 'backup';
    if (needsServer && state === 'stopped') {
      plan.end(occurrence, 'notRunning');
      return 'notRunning';
    }
    // On disk before it is done: a sidecar that ends meanwhile must not do it twice.
    plan.end(occurrence, 'done');
    return this.#act(occurrence, state);
  }

  #wait(occurrence: Occurrence, now: number): RunResult | null {
    const { id } = occurrence.entry;
    const since = this.#waiting.get(id) ?? now;
    this.#waiting.set(id, since);
    if (now - since < LONGEST_WAIT_MS) return null;
    this.#waiting.delete(id);
    this.#options.plan.end(occurrence, 'busy');
    return 'busy';
  }

  #act(occurrence: Occurrence, state: ServerState): RunResult {
    const { name } = occurrence.entry;
    const fail = (error: unknown): RunResult => {
      const { plan, onRun } = this.#options;
      plan.fail(occurrence);
      onRun(name, error instanceof PanelError ? error.key : 'internal.error');
      return 'failed';
    };
    try {
      const work = this.#begin(occurrence.entry, state);
      const { onRun, attempt } = this.#options;
      if (work === null) onRun(name, 'ok');
      else
        work.then(
          () => attempt(() => onRun(name, 'ok')),
          (error: unknown) => attempt(() => void fail(error)),
        );
      return 'done';
    } catch (error) {
      return fail(error);
    }
  }

  #begin(entry: StoredEntry, state: ServerState): Promise<void> | null {
    const { server, backup } = this.#options;
    const isDown = state === 'stopped' || state === 'crashed';
    switch (entry.action) {
      case 'restart':
        if (isDown) server.start(ACTOR);
        else server.restart(ACTOR);
        return null;
      case 'stop':
        server.stop(ACTOR);
        return null;
      case 'start':
        if (isDown) server.start(ACTOR);
        return null;
      case 'command':
        server.sendCommand(entry.text, ACTOR);
        return null;
      case 'backup':
        return backup();
      default:
        return entry.action satisfies never;
    }
  }
}
