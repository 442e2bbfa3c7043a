import type { RunProcess } from '../server-run.ts';
import { type GroupSignal, isGroupAlive, signalGroup } from './group.ts';
import type { ProcessExit } from './spawn.ts';

const GONE: ProcessExit = { code: null, signal: null, failure: null };

/** A server that a sidecar has left running when it was killed: its console is lost, so that it can only be ended. */
export class LeftGroup implements RunProcess {
  readonly exited = Promise.resolve(GONE);
  readonly drained = Promise.resolve();
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  signal(signal: GroupSignal): void {
    signalGroup(this.#pid, signal);
  }

  isGroupAlive(): boolean {
    return isGroupAlive(this.#pid);
  }

  abandonOutput(): void {}
}
