import { existsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readJsonManifest } from '../bundles/bundle-manifests.ts';
import { UNKNOWN_SIZE } from '../disk-space.ts';
import { needs } from '../http/route.ts';
import type { JobKind, JobOutcome, RunningJob } from '../jobs/job-kind.ts';
import { PanelError } from '../panel-error.ts';
import type { ConnectorVersions } from '../shapes/updates.ts';
import { copyFolder } from './copy-folder.ts';
import type { Installs } from './installs.ts';

/** Input of the job `updates.connector`. */
export interface ConnectorInput {
  readonly apply: 'now' | 'later';
  /** Replace files that were edited by hand since the install; the older version keeps them. */
  readonly overwrite: boolean;
}

export interface ConnectorOfferParts {
  readonly installs: Pick<Installs, 'places' | 'staging' | 'put' | 'resume'>;
  /** The folder `db_connector` of this release; null if it comes without one. */
  readonly shipped: string | null;
  /** Version of this release. */
  readonly version: string;
}

export const CONNECTOR_ACCESS = needs('settings.write', 'users.manage');
const NAME = 'db_connector';
/** Configuration and secrets of the owner, which no release has. */
const OWN_FOLDER = 'vfs';
const MAX_OWN_FILES = 1000;

/** The `db_connector` of this release for a server that has another one, which an update of the panel leaves alone. */
export class ConnectorOffer {
  readonly #parts: ConnectorOfferParts;
  readonly job: JobKind<ConnectorInput>;

  constructor(parts: ConnectorOfferParts) {
    this.#parts = parts;
    this.job = {
      ...{ kind: 'updates.connector', lane: 'switch', access: CONNECTOR_ACCESS, withoutSwitch: true },
      subjects: () => [`bundle:${NAME}`],
      run: (job) => this.#run(job),
      resume: async (job) => ({ ...(await parts.installs.resume(job)) }),
    };
  }

  /** null if the server has none, or the same, or if this release comes without one. */
  async read(): Promise<ConnectorVersions | null> {
    const { shipped } = this.#parts;
    const installed = this.#installed();
    if (shipped === null || installed === null) return null;
    const [there, here] = [await readJsonManifest(NAME, installed), await readJsonManifest(NAME, shipped)];
    if (here === null || here.version === '' || here.version === there?.version) return null;
    return { installed: there?.version ?? '', shipped: here.version };
  }

  /** @throws PanelError `update.target` if there is nothing to offer */
  async check(): Promise<void> {
    if ((await this.read()) === null)
      throw new PanelError('update.target', { detail: 'the server has this db_connector' });
  }

  async #run(job: RunningJob<ConnectorInput>): Promise<JobOutcome> {
    await this.check();
    const { installs, shipped, version } = this.#parts;
    const { apply, overwrite } = job.input;
    const outcome = await installs.staging(job, UNKNOWN_SIZE, async (staging) => {
      const stagedFolder = join(staging, NAME);
      job.log(`copying ${NAME} of release ${version}`);
      await copyFolder(shipped ?? '', stagedFolder);
      const own = await filesBelow(this.#installed() ?? '', OWN_FOLDER);
      const keep = own.filter((path) => !existsSync(join(stagedFolder, path)));
      const bundle = { name: NAME, origin: `release ${version}`, stagedFolder, keep };
      return await installs.put(job, { bundles: [bundle], apply, overwrite });
    });
    return { ...outcome };
  }

  #installed(): string | null {
    const { places } = this.#parts.installs;
    try {
      return places.find(places.root(), NAME)?.path ?? null;
    } catch (error) {
      // No server of this panel, or a folder that is not switched: behind a link, or twice.
      if (error instanceof PanelError) return null;
      throw error;
    }
  }
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const stat = await lstat(join(root, folder)).catch(() => null);
  if (stat?.isDirectory() !== true) return [];
  const found: string[] = [];
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await filesBelow(root, path)));
    else if (entry.isFile()) found.push(path);
  }
  return found.slice(0, MAX_OWN_FILES);
}
