import { join } from 'node:path';
import type { SidecarConfig } from '#sidecar/config/load-config.ts';
import type { Log } from '#sidecar/log.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { AttemptLimit } from '../attempt-limit.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import { reservedFolders } from '../settings/server-root.ts';
import type { JobStatus } from '../shapes/jobs.ts';
import { PERMISSIONS } from '../shapes/permissions.ts';
import type { Backend } from '../shapes/server.ts';
import { connectorAccess } from './connector-access.ts';
import { FolderDialog, type PickStatus } from './folder-dialog.ts';
import { type Installed, InstallJob, type JobTask } from './install-job.ts';
import { installServer } from './install-server.ts';
import {
  isPreset,
  neededServerFields,
  readSetupFields,
  SETUP_FIELDS,
  type ServerPreset,
  type SetupChoice,
  type SetupDocument,
  type SetupField,
  serverKey,
  withPreset,
} from './setup-fields.ts';
import { SetupKey } from './setup-key.ts';
import { findShippedFiles, type ShippedFiles } from './shipped-files.ts';

const MOST_WRONG_KEYS = 10;

export interface SetupOptions {
  readonly config: Pick<SidecarConfig, 'file' | 'folder'>;
  readonly accounts: Pick<Accounts, 'isEmpty' | 'createFirst'>;
  readonly settings: PanelSettings;
  readonly preset: ServerPreset | null;
  readonly log: Log;
  /** Address of the API once it listens. */
  readonly apiAddress?: () => string | null;
  readonly environment?: NodeJS.ProcessEnv;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  readonly shipped?: ShippedFiles;
  readonly dialog?: FolderDialog;
  /** Whether a person sees this process's output. */
  readonly hasConsole?: boolean;
}

/** From the first start to the first account. After that the key is deleted and all routes answer 404. */
export class Setup {
  readonly hasConsole: boolean;
  readonly #options: SetupOptions;
  readonly #key: SetupKey;
  readonly #wrongKeys: AttemptLimit;
  readonly #job = new InstallJob();
  readonly #dialog: FolderDialog;
  readonly #shipped: ShippedFiles;
  /** Installations since the start, by `serverKey`. */
  readonly #installed = new Map<string, Installed>();
  #isFinishing = false;

  constructor(options: SetupOptions) {
    const { config, log, accounts } = options;
    this.#options = options;
    const file = join(config.folder, 'secrets/panel-setup.key');
    this.#key = accounts.isEmpty ? SetupKey.open(file, log) : SetupKey.used(file, log);
    this.#wrongKeys = new AttemptLimit(MOST_WRONG_KEYS, options.now ?? (() => performance.now()));
    this.#dialog = options.dialog ?? new FolderDialog();
    this.#shipped = options.shipped ?? findShippedFiles();
    this.hasConsole = options.hasConsole ?? process.stdout.isTTY === true;
  }

  get isOpen(): boolean {
    return this.#options.accounts.isEmpty;
  }

  get preset(): ServerPreset | null {
    return this.#options.preset;
  }

  get job(): JobStatus | null {
    return this.#job.status;
  }

  get pickStatus(): PickStatus {
    return this.#dialog.status;
  }

  /**
   * The right key always passes: it cannot be guessed at any rate, and another program of this machine, which has the owner's
   * address, must not lock the owner out by guessing.
   *
   * @throws PanelError `route.unknown` after setup, `setup.key`, `setup.keyMissing`, `rate.limited`
   */
  authorize(key: unknown, address: string): void {
    if (!this.isOpen) throw new PanelError('route.unknown');
    if (this.#key.matches(key)) return;
    const retryAfterSeconds = this.#wrongKeys.blockedSeconds(address);
    if (retryAfterSeconds > 0) throw new PanelError('rate.limited', { retryAfterSeconds });
    this.#wrongKeys.count(address);
    const isMissing = key === undefined || key === '';
    throw new PanelError(isMissing ? 'setup.keyMissing' : 'setup.key', { field: 'key' });
  }

  /** Validates any subset of the fields. @throws PanelError `setup.<field>` */
  validate(document: SetupDocument): void {
    this.#read(document, []);
  }

  install(document: SetupDocument): JobStatus {
    const choice = this.#chosen(document, []);
    const { backend, serverRoot } = choice;
    if (this.#isFinishing) throw new PanelError('setup.busy');
    return this.#job.start('setup.install', async (task) => {
      const installed = await this.#install(backend, serverRoot, task);
      this.#installed.set(serverKey(backend, serverRoot), installed);
      return { backend, ...installed };
    });
  }

  /** Cancels the running job, or closes the open dialog. */
  cancel(): JobStatus | null {
    this.#dialog.cancel();
    return this.#job.cancel();
  }

  /**
   * @returns the name of the account
   * @throws PanelError; `setup.busy` for the second of two simultaneous calls
   */
  async finish(document: SetupDocument): Promise<string> {
    const required = SETUP_FIELDS.filter((field) => field !== 'backend' && field !== 'serverRoot');
    const choice = this.#chosen(document, required);
    const installed = this.#installed.get(serverKey(choice.backend, choice.serverRoot));
    const needsInstall = choice.backend !== 'none' && choice.backend !== 'command' && !isPreset(choice, this.preset);
    if (installed === undefined && needsInstall) throw new PanelError('setup.install');
    if (this.#isFinishing || this.#job.status?.state === 'running') throw new PanelError('setup.busy');
    this.#isFinishing = true;
    try {
      await this.#finish(choice as Required<SetupChoice>, installed?.startLine ?? '');
      return choice.username as string;
    } finally {
      this.#isFinishing = false;
    }
  }

  /** @param isDirect the request is from this machine, and not through a proxy */
  pick(isDirect: boolean): PickStatus {
    return isDirect ? this.#dialog.open() : { state: 'unavailable', path: null };
  }

  async close(): Promise<void> {
    this.#dialog.cancel();
    await this.#job.close();
  }

  /** Writes the settings before the account, which ends the setup: after a crash between both the setup is repeated. */
  async #finish(choice: Required<SetupChoice>, startLine: string): Promise<void> {
    const { settings, accounts, log } = this.#options;
    const { username, password, dashboardName, locale, backend, serverRoot } = choice;
    const line = startLine !== '' && settings.values.startLine === '' ? { startLine } : {};
    // Presets are not stored: the next start may have others.
    const server = isPreset(choice, this.preset) ? {} : { backend, serverRoot };
    settings.update({ dashboardName, locale, ...server, ...line });
    if (!(await accounts.createFirst({ username, password, permissions: PERMISSIONS }))) {
      throw new PanelError('route.unknown');
    }
    this.#key.retire(log);
    await this.close();
    log.info('the panel is set up', { username, backend });
  }

  #read(document: SetupDocument, required: readonly SetupField[]): SetupChoice {
    const { folder } = this.#options.config;
    return readSetupFields(document, required, reservedFolders(folder));
  }

  /** @param required beside the required fields of the server */
  #chosen(document: SetupDocument, required: readonly SetupField[]): SetupChoice & ServerPreset {
    const fields = [...required, ...neededServerFields(document, this.preset)];
    return withPreset(this.#read(document, fields), this.preset);
  }

  #install(backend: Backend, root: string, task: JobTask): Promise<Installed> {
    const { config, environment = process.env, apiAddress } = this.#options;
    const access = () => connectorAccess(config.file, environment, apiAddress?.() ?? null);
    return installServer(backend, root, this.#shipped, access, task);
  }
}
