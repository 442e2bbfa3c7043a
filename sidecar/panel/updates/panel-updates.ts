import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gt, satisfies } from 'semver';
import type { SidecarConfig } from '#sidecar/config/load-config.ts';
import { FORMATS } from '#sidecar/formats.ts';
import type { KeeperLink } from '#sidecar/keeper/channel/keeper-link.ts';
import { PROGRAM_FOLDER, VERSION } from '#sidecar/program-folder.ts';
import type { JobCaller } from '../jobs/job-kind.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { JobView } from '../shapes/jobs.ts';
import type { ServerStatus } from '../shapes/server.ts';
import type { PanelUpdates, ReleaseOffer } from '../shapes/updates.ts';
import type { PanelStore } from '../store/panel-store.ts';
import { removePanelCopies } from './panel-copy.ts';
import { type InboxContent, readInbox } from './release-inbox.ts';
import type { ReleaseManifest } from './release-manifest.ts';
import { ReleaseOrder } from './release-order.ts';
import { ReleaseShelf } from './release-shelf.ts';
import type { ReleaseTrust } from './release-trust.ts';
import { ReleaseUpload } from './release-upload.ts';
import { UpdateHistory } from './update-history.ts';

export interface PanelUpdatesOptions {
  readonly config: SidecarConfig;
  readonly store: PanelStore;
  readonly settings: PanelSettings;
  readonly jobs: Jobs;
  readonly keeper: KeeperLink | null;
  /** The game server itself has started this sidecar. */
  readonly isEmbedded: boolean;
  readonly serverStatus: () => ServerStatus;
  readonly now: () => number;
}

const DAY_MS = 86_400_000;
export const UPDATE_JOBS = { check: 'updates.check', download: 'updates.download', apply: 'updates.apply' } as const;

/** Input of the job that changes the release. */
export interface ApplyInput {
  readonly version: string;
  /** Release of the shelf; null: the program's own folder. */
  readonly to: string | null;
}

/** Releases of the panel: those of the inbox, those that are unpacked, and the change to one of them. */
export class PanelUpdatesDesk {
  readonly shelf: ReleaseShelf;
  readonly history: UpdateHistory;
  readonly order: ReleaseOrder | null;
  readonly trust: ReleaseTrust;
  readonly upload: ReleaseUpload;
  /** `data/updates` */
  readonly folder: string;
  readonly #options: PanelUpdatesOptions;
  readonly #offers = new Map<string, ReleaseOffer>();
  #inbox: InboxContent = { releases: [], refused: [] };
  readonly #listeners: (() => void)[] = [];
  #checkedAt: string | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PanelUpdatesOptions) {
    const { config, keeper, store } = options;
    this.#options = options;
    this.folder = join(config.dataFolder, 'updates');
    this.shelf = new ReleaseShelf(join(config.dataFolder, 'releases'));
    this.history = new UpdateHistory(store, keeper?.hello.program ?? VERSION);
    this.order = keeper === null ? null : new ReleaseOrder(keeper);
    const { keys, allowUnsigned } = config.panel.updates;
    this.trust = { keys: [...keys, ...ownKeys()], allowsUnsigned: allowUnsigned };
    this.upload = new ReleaseUpload(join(this.folder, 'inbox'), this.trust);
  }

  /** A release is being changed: no account may act meanwhile. */
  get isApplying(): boolean {
    return this.#options.jobs.hasLive(UPDATE_JOBS.apply) || this.order?.isOpen === true;
  }

  /** Once the panel serves: writes down what the keeper has ended, and begins the daily look into the inbox. */
  async open(): Promise<void> {
    const { keeper } = this.#options;
    if (keeper?.hello.last != null) this.history.add(keeper.hello.last);
    await this.upload.open();
    const look = () => {
      if (this.#options.settings.values.autoUpdateChecks) void this.check().catch(() => {});
    };
    this.#timer = setInterval(look, DAY_MS).unref();
    look();
    if (this.order?.isOpen !== true) await removePanelCopies(this.folder);
    await this.#readShelf();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  view(): PanelUpdates {
    const { settings, keeper } = this.#options;
    const newer = (offer: ReleaseOffer) => gt(offer.version, VERSION) && this.#isOfChannel(offer.channel);
    const [staged = null] = [...this.#offers.values()].filter(newer);
    const [newest = null] = this.#inbox.releases.map((release) => this.#offerOf(release)).filter(newer);
    return {
      ...{ version: VERSION, channel: settings.values.updateChannel, checkedAt: this.#checkedAt, newest, staged },
      ...{ previous: this.#previous()?.version ?? null, keeper: keeper !== null, isApplying: this.isApplying },
      ...{ refusal: this.#refusal(), refused: this.#inbox.refused, history: this.history.list() },
    };
  }

  /** Called after each look into the inbox. */
  onChecked(listener: () => void): void {
    this.#listeners.push(listener);
  }

  lastJob(caller: JobCaller): JobView | null {
    return this.#options.jobs.list(caller).find(({ kind }) => isUpdateJob(kind)) ?? null;
  }

  /** Reads the inbox. */
  async check(): Promise<InboxContent> {
    this.#inbox = await readInbox(join(this.folder, 'inbox'), this.trust);
    this.#checkedAt = new Date(this.#options.now()).toISOString();
    for (const listener of this.#listeners) listener();
    return this.#inbox;
  }

  startCheck(caller: JobCaller): JobView {
    return this.#options.jobs.start(UPDATE_JOBS.check, {}, caller);
  }

  startDownload(target: string | null, caller: JobCaller): JobView {
    return this.#options.jobs.start(UPDATE_JOBS.download, { target }, caller);
  }

  /** @throws PanelError `update.target`, `update.keeper`, `update.embedded`, `jobs.running`, `server.busy`, `update.invalid` */
  startApply(target: string | null, caller: JobCaller): JobView {
    this.#checkPossible();
    const version = target ?? this.view().staged?.version ?? null;
    const previous = this.#previous();
    const offer = version === null ? undefined : this.#offers.get(version);
    if (version !== null && offer !== undefined && version !== VERSION) {
      if (offer.fault !== null) throw new PanelError('update.target', { detail: offer.fault });
      return this.#start({ version, to: version }, caller);
    }
    if (previous === null || previous.version !== version) throw new PanelError('update.target');
    return this.#start(previous, caller);
  }

  /** @throws as `startApply` */
  startRollback(caller: JobCaller): JobView {
    this.#checkPossible();
    const previous = this.#previous();
    if (previous === null) throw new PanelError('update.target', { detail: 'there is no version to go back to' });
    const fault = previous.to === null ? null : (this.#offers.get(previous.version)?.fault ?? null);
    if (fault !== null) throw new PanelError('update.target', { detail: fault });
    return this.#start(previous, caller);
  }

  /** Ends the job that waits or unpacks. @throws PanelError `jobs.committed` */
  cancel(caller: JobCaller): JobView {
    const { jobs } = this.#options;
    const job = jobs.list(caller).find(({ kind, canCancel }) => isUpdateJob(kind) && canCancel);
    if (job === undefined) throw new PanelError('jobs.committed');
    return jobs.cancel(job.id, caller);
  }

  /** @throws PanelError `server.busy` */
  checkServer(): void {
    const { state, plan } = this.#options.serverStatus();
    if (state === 'starting' || state === 'stopping' || plan !== null) throw new PanelError('server.busy');
  }

  /** Reads again what is unpacked. */
  async refresh(): Promise<void> {
    await this.#readShelf();
  }

  offerOf(manifest: ReleaseManifest, isSigned: boolean): ReleaseOffer {
    return this.#offerOf({ manifest, isSigned });
  }

  #start(input: ApplyInput, caller: JobCaller): JobView {
    return this.#options.jobs.start(UPDATE_JOBS.apply, input, caller);
  }

  #checkPossible(): void {
    const refusal = this.#refusal();
    if (refusal !== null) throw new PanelError(refusal);
    if (!this.#options.jobs.isIdle) throw new PanelError('jobs.running');
    this.checkServer();
  }

  #refusal(): PanelUpdates['refusal'] {
    if (this.#options.isEmbedded) return 'update.embedded';
    return this.#options.keeper === null ? 'update.keeper' : null;
  }

  #previous(): ApplyInput | null {
    const { keeper } = this.#options;
    const to = this.order?.previous;
    if (keeper === null || to === undefined || to === keeper.hello.release) return null;
    return { version: to ?? keeper.hello.program, to };
  }

  async #readShelf(): Promise<void> {
    const previous = this.#previous()?.to ?? null;
    const own = this.#options.keeper?.hello.release ?? null;
    const isKept = (version: string) => version === own || version === previous || gt(version, VERSION);
    if (!this.isApplying) await this.shelf.keepOnly(isKept);
    this.#offers.clear();
    for (const version of await this.shelf.versions()) {
      const verified = await this.shelf.verify(version, this.trust).catch(() => null);
      if (verified === null) await rm(this.shelf.pathOf(version), { recursive: true, force: true }).catch(() => {});
      else this.#offers.set(version, this.#offerOf(verified));
    }
  }

  #offerOf({ manifest, isSigned }: { readonly manifest: ReleaseManifest; readonly isSigned: boolean }): ReleaseOffer {
    const { version, channel, date, formats } = manifest;
    const names = ['panel', 'database', 'journal'] as const;
    const raises = names.filter((name) => formats[name] > FORMATS[name]);
    return { version, channel, date, isSigned, raises, fault: this.#faultOf(manifest) };
  }

  #faultOf({ node, keeper, formats }: ReleaseManifest): string | null {
    const channel = this.#options.keeper?.hello.channel ?? keeper;
    if (!satisfies(process.versions.node, node)) return `it needs Node.js ${node}; this is ${process.versions.node}`;
    if (keeper > channel) return 'it needs a newer keeper: replace the folder of the program by this release';
    const isOlder = formats.panel < FORMATS.panel || formats.database < FORMATS.database;
    return isOlder || formats.journal < FORMATS.journal ? 'it cannot read the formats of this version' : null;
  }

  #isOfChannel(channel: ReleaseOffer['channel']): boolean {
    return channel === 'stable' || this.#options.settings.values.updateChannel === 'beta';
  }
}

function isUpdateJob(kind: string): boolean {
  return Object.values(UPDATE_JOBS).some((known) => known === kind);
}

/** Keys in the folder of the running release. */
function ownKeys(): string[] {
  try {
    return readFileSync(join(PROGRAM_FOLDER, 'release-keys.txt'), 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
