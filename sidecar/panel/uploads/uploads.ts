import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Bundles } from '../bundles/bundles.ts';
import { ofLua } from '../bundles/fx-resources.ts';
import { announcedBytes, receiveUpload } from '../http/receive-upload.ts';
import { UploadPlaces } from '../http/upload-places.ts';
import { type BundlePlaces, isBundleName } from '../installs/bundle-places.ts';
import type { Installs } from '../installs/installs.ts';
import { checkPutFields } from '../installs/put-fields.ts';
import type { JobCaller, RunningJob } from '../jobs/job-kind.ts';
import { PanelError } from '../panel-error.ts';
import type { InstallOutcome } from '../shapes/installs.ts';
import { MAX_UPLOAD_BYTES, type Upload, type UploadedBundle } from '../shapes/uploads.ts';
import type { InspectedBundle } from '../work/inspect-zip.ts';
import { runWork } from '../work/run-work.ts';
import type { StoredUpload, UploadStore } from './upload-store.ts';

const KEPT_MS = 24 * 3_600_000;
const MAX_OF_AN_ACCOUNT = 10;
/** In all; the last of it, room for a whole upload, is for an account that holds none. */
const MAX_BYTES = 2 * 2 ** 30;
/** Bodies that arrive, or are inspected, at the same time. */
const AT_ONCE = { most: 4, mostOfAnAccount: 2 };
const ARCHIVE = 'upload.zip';

export interface UploadsOptions {
  readonly store: UploadStore;
  /** `data/bundle-tools/uploads` */
  readonly folder: string;
  readonly installs: Installs;
  readonly places: BundlePlaces;
  readonly bundles: Pick<Bundles, 'list'>;
  readonly now: () => number;
}

/** Body of `POST /api/bundle-tools/upload/install`. */
export interface UploadInstall {
  readonly upload: string;
  readonly bundles: readonly {
    readonly from: string;
    readonly name: string;
    readonly category?: string | null | undefined;
    readonly keep?: readonly string[] | undefined;
  }[];
  readonly apply: 'now' | 'later';
  readonly overwrite?: boolean | undefined;
}

type Held = Pick<StoredUpload, 'accountId' | 'bytes'>;

/** Archives of bundles: received, inspected without touching the server's folder, then installed or forgotten. */
export class Uploads {
  readonly #options: UploadsOptions;
  readonly #places = new UploadPlaces(AT_ONCE);
  /** Announced bytes of those that arrive now, by id. */
  readonly #underWay = new Map<string, Held>();

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** Removes files of uploads that a crash has cut off, and expired ones. The panel serves already: those that arrive stay. */
  open(): void {
    void this.#expire();
    const { folder, store } = this.#options;
    if (!existsSync(folder)) return;
    const known = new Set(store.all().map(({ id }) => id));
    for (const name of readdirSync(folder))
      if (!known.has(name) && !this.#underWay.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }

  /**
   * Receives a body and inspects it.
   *
   * @param judgeAgain called when the body has arrived: the account may have lost the right
   * @throws PanelError `upload.busy`, `upload.full`, `disk.full`, those of `receiveUpload` and of the inspection
   */
  async receive(request: IncomingMessage, caller: JobCaller, judgeAgain: () => Promise<void>): Promise<Upload> {
    await this.#expire();
    const { folder, store } = this.#options;
    const leave = this.#places.take(caller);
    const id = randomBytes(12).toString('hex');
    const own = join(folder, id);
    try {
      const announced = { accountId: caller.accountId, bytes: announcedBytes(request) };
      this.#checkRoom(announced);
      this.#underWay.set(id, announced);
      mkdirSync(own, { recursive: true, mode: 0o700 });
      const { name, bytes } = await receiveUpload(request, join(own, ARCHIVE));
      await judgeAgain();
      const at = this.#options.now();
      const upload = await this.#inspect(id, name, at);
      store.add({ ...{ id, at, bytes, upload }, accountId: caller.accountId });
      await this.#dropOldest(caller.accountId);
      return upload;
    } catch (error) {
      await this.#discard(id);
      throw error;
    } finally {
      this.#underWay.delete(id);
      leave();
    }
  }

  /** Whether a name is taken, by any spelling. @throws PanelError `bundles.name` */
  async find(name: string): Promise<{ readonly name: string; readonly version: string } | null> {
    if (!isBundleName(name)) throw new PanelError('bundles.name', { field: 'name' });
    const { places, bundles } = this.#options;
    const taken = places.list(places.root()).find((found) => found.name.toLowerCase() === name.toLowerCase());
    if (taken === undefined) return null;
    const version = (await bundles.list()).find((bundle) => bundle.name === taken.name)?.version ?? '';
    return { name: taken.name, version };
  }

  /**
   * @throws PanelError `bundleTools.unknown` for an upload of another account, or a folder that it does not have; `bundles.name`,
   * `bundleTools.from`, `bundleTools.keep`, `bundleTools.category`
   */
  check({ upload, bundles }: UploadInstall, { accountId }: Pick<JobCaller, 'accountId'>): void {
    void this.#expire();
    const stored = this.#own(upload, accountId);
    const { backend } = this.#options.places.root();
    const [names, folders] = [new Set<string>(), new Set<string>()];
    for (const [index, bundle] of bundles.entries()) {
      const { from, name } = bundle;
      checkPutFields(bundle, backend, `bundles.${index}.`);
      if (!stored.upload.bundles.some((known) => known.from === from)) {
        throw new PanelError('bundleTools.unknown', { field: 'from' });
      }
      if (!isBundleName(name) || names.has(name.toLowerCase())) throw new PanelError('bundles.name', { field: 'name' });
      names.add(name.toLowerCase());
      if (folders.has(from)) {
        const detail = 'expected each folder once: send the archive again for a second bundle of it';
        throw new PanelError('bundleTools.from', { field: `bundles.${index}.from`, detail });
      }
      folders.add(from);
    }
  }

  /** Unpacks the chosen bundles beside the server's, and puts them in place. The upload is used up. */
  async install(job: RunningJob<UploadInstall>): Promise<InstallOutcome> {
    const { installs, folder } = this.#options;
    const { upload: id, bundles, apply, overwrite = false } = job.input;
    this.check(job.input, job.by);
    const { upload } = this.#own(id, job.by.accountId);
    const chosen = upload.bundles.filter(({ from }) => bundles.some((bundle) => bundle.from === from));
    const needed = {
      bytes: chosen.reduce((sum, { bytes }) => sum + bytes, 0),
      files: chosen.reduce((sum, { files }) => sum + files, 0),
    };
    try {
      const outcome = await installs.staging(job, needed, async (staging) => {
        const staged = bundles.map((bundle, index) => ({
          ...bundle,
          origin: 'upload',
          stagedFolder: join(staging, String(index)),
        }));
        job.log(`unpacking ${bundles.map(({ name }) => name).join(', ')}`);
        const targets = new Map(staged.map(({ from, stagedFolder }) => [from, stagedFolder]));
        const onProgress = (progress: number) => job.progress(progress / 2);
        await runWork('unpack-zip', { file: join(folder, id, ARCHIVE), targets }, { signal: job.signal, onProgress });
        return await installs.put(job, { bundles: staged, apply, overwrite });
      });
      await this.#remove(id);
      return outcome;
    } catch (error) {
      // After a refusal before anything was changed, such as for edited files or a full disk, it can be sent again.
      if (!(error instanceof PanelError) && !job.signal.aborted) await this.#remove(id);
      throw error;
    }
  }

  /** Judges the bytes that are kept, or announced by bodies that arrive. @throws PanelError `upload.full` */
  #checkRoom({ accountId, bytes }: Held): void {
    const held: readonly Held[] = [...this.#options.store.all(), ...this.#underWay.values()];
    const free = MAX_BYTES - held.reduce((sum, each) => sum + each.bytes, 0);
    const isFirst = held.every((each) => each.accountId !== accountId);
    if (bytes > free - (isFirst ? 0 : MAX_UPLOAD_BYTES)) throw new PanelError('upload.full');
  }

  async #inspect(id: string, archiveName: string, at: number): Promise<Upload> {
    const { folder, places, bundles } = this.#options;
    const root = places.root();
    const installed = new Map(places.list(root).map(({ name, path }) => [name, path]));
    const input = { file: join(folder, id, ARCHIVE), archiveName, installed };
    const { bundles: found, ignored } = await runWork('inspect-zip', input);
    const listed = await bundles.list();
    const known = new Set([...installed.keys(), ...found.map(({ name }) => name)]);
    const judged: UploadedBundle[] = [];
    for (const bundle of found) {
      const version = listed.find(({ name }) => name === bundle.name)?.version ?? '';
      judged.push(await this.#describe(bundle, known, installed.has(bundle.name) ? version : null));
    }
    return { id, expiresAt: new Date(at + KEPT_MS).toISOString(), bundles: judged, ignored };
  }

  async #describe(
    bundle: InspectedBundle,
    known: ReadonlySet<string>,
    installed: string | null,
  ): Promise<UploadedBundle> {
    const { lua, ...rest } = bundle;
    const { version, dependencies } = lua === null ? bundle : ofLua(bundle.name, lua);
    const missing = dependencies.filter((name) => !known.has(name));
    const { edited, isManaged } = installed === null ? NOTHING : await this.#options.installs.edited(bundle.name);
    const warnings = installed !== null && !isManaged ? ['unmanaged'] : [];
    return { ...rest, ...{ version, dependencies, missing, installed, edited, warnings } };
  }

  #own(id: string, accountId: number): StoredUpload {
    const found = this.#options.store.all().find((stored) => stored.id === id && stored.accountId === accountId);
    if (found === undefined) throw new PanelError('bundleTools.unknown', { field: 'upload' });
    return found;
  }

  async #dropOldest(accountId: number): Promise<void> {
    const own = this.#options.store.all().filter((stored) => stored.accountId === accountId);
    for (const { id } of own.slice(0, -MAX_OF_AN_ACCOUNT)) await this.#remove(id);
  }

  /** Expired uploads are unknown at once; their files are gone when it resolves. */
  #expire(): Promise<unknown> {
    const oldest = this.#options.now() - KEPT_MS;
    const expired = this.#options.store.all().filter(({ at }) => at <= oldest);
    return Promise.all(expired.map(({ id }) => this.#remove(id)));
  }

  #remove(id: string): Promise<void> {
    this.#options.store.remove(id);
    return this.#discard(id);
  }

  /** Off the panel's thread, which serves the API: the system takes a tenth of a second for 256 MB. The next start repeats what fails. */
  async #discard(id: string): Promise<void> {
    await rm(join(this.#options.folder, id), { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

const NOTHING = { edited: [], isManaged: true };
