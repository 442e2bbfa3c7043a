import { PanelError } from '../panel-error.ts';
import type { BundleInfo } from '../shapes/bundles.ts';
import type { ServerStatus } from '../shapes/server.ts';
import type { Health } from './process/backends/backend.ts';
import { missingSetting } from './rules.ts';
import { RunCycle, type RunCycleOptions } from './run-cycle.ts';

const MAX_CODE_POINTS = 4096;
/** C0 and C1 with the tab, and both separators of Unicode: a console would read them as a key, or as the next line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_ONE_LINE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export type ServerControlOptions = Omit<RunCycleOptions, 'onChange' | 'onBundles'>;

/**
 * The one game server of this panel: what may be asked of it, and when. Everything that decides runs in one go on this thread,
 * so that of fifty clicks at once each meets the state that the one before it has made.
 */
export class ServerControl {
  readonly #options: ServerControlOptions;
  readonly #cycle: RunCycle;
  readonly #listeners = new Set<(status: ServerStatus) => void>();
  readonly #bundleListeners = new Set<() => void>();

  constructor(options: ServerControlOptions) {
    this.#options = options;
    this.#cycle = new RunCycle({
      ...options,
      onChange: () => this.#emit(),
      onBundles: () => this.#emitBundles(),
    });
  }

  /** Ends what an earlier sidecar has left running, and starts the server where it starts with the panel. */
  open(): Promise<void> {
    return this.#cycle.open();
  }

  status(): ServerStatus {
    return this.#cycle.status;
  }

  /** Called at each change, at once. */
  onStatus(listener: (status: ServerStatus) => void): void {
    this.#listeners.add(listener);
  }

  /** null: nothing runs, or nothing tells them. */
  bundles(): readonly BundleInfo[] | null {
    return this.#cycle.run?.condition.bundles ?? null;
  }

  /** Called when `bundles()`, or the resources of `health()`, are others. */
  onBundles(listener: () => void): void {
    this.#bundleListeners.add(listener);
  }

  /** What the server tells of itself; null: nothing. */
  health(): Health | null {
    return this.#cycle.run?.condition.health ?? null;
  }

  /** @throws PanelError `server.running`, `server.busy`, `server.elsewhere`, `server.unconfigured` */
  start(actor: string): ServerStatus {
    this.#mustControl();
    if (this.#cycle.run !== null) throw new PanelError('server.running');
    this.#mustBeConfigured();
    this.#mustBeOpen();
    this.#cycle.start(actor);
    return this.status();
  }

  /** @throws PanelError `server.stopped`, `server.elsewhere` */
  stop(actor: string): ServerStatus {
    this.#mustControl();
    if (this.status().state === 'stopped') throw new PanelError('server.stopped');
    this.#cycle.stop(actor);
    return this.status();
  }

  /** @throws PanelError `server.busy`, `server.elsewhere`, `server.unconfigured` */
  restart(actor: string): ServerStatus {
    this.#mustControl();
    if (this.#cycle.isRestarting || this.#cycle.run?.isStopping) throw new PanelError('server.busy');
    if (this.#cycle.run === null) this.#mustBeConfigured();
    this.#mustBeOpen();
    this.#cycle.restart(actor);
    return this.status();
  }

  /** @throws PanelError `server.elsewhere` */
  forceStop(actor: string): ServerStatus {
    this.#mustControl();
    this.#cycle.forceStop(actor);
    return this.status();
  }

  /**
   * Types a line into the server's console.
   *
   * @param actor the account, as the console shows it
   * @throws PanelError `command.text`, `server.stopped`, `server.busy` where it does not read, `server.elsewhere`
   */
  sendCommand(text: unknown, actor: string): void {
    const line = checkCommandText(text);
    this.#mustControl();
    if (this.#cycle.run === null) throw new PanelError('server.stopped');
    this.#cycle.run.type(line, actor);
  }

  /** Stops the server as a person would. Resolves when it has gone, at the latest when its waits and some seconds are over. */
  close(): Promise<void> {
    return this.#cycle.close();
  }

  #mustControl(): void {
    if (this.#options.settings.values.backend === 'none') throw new PanelError('server.elsewhere');
  }

  #mustBeConfigured(): void {
    if (missingSetting(this.#options.settings.values) !== null) throw new PanelError('server.unconfigured');
  }

  #mustBeOpen(): void {
    if (!this.#cycle.mayStart) throw new PanelError('server.busy');
  }

  #emit(): void {
    const status = this.status();
    for (const listener of this.#listeners) listener(status);
  }

  #emitBundles(): void {
    for (const listener of this.#bundleListeners) listener();
  }
}

/** Panel contract, "Console text". @throws PanelError `command.text` */
function checkCommandText(text: unknown): string {
  if (typeof text !== 'string' || text === '' || text.length > 2 * MAX_CODE_POINTS) throw refusal();
  if (NOT_ONE_LINE.test(text) || !text.isWellFormed() || [...text].length > MAX_CODE_POINTS) throw refusal();
  return text;
}

function refusal(): PanelError {
  return new PanelError('command.text', { field: 'text' });
}
