import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, vi } from 'vitest';
import type { BundleInfo } from '#panel/shapes/bundles.ts';
import type { InstallOutcome } from '#panel/shapes/installs.ts';
import type { JobAnswer, JobView } from '#panel/shapes/jobs.ts';
import type { Upload } from '#panel/shapes/uploads.ts';
import { emptyDisk, type HeldDisk, holdSmallDisk } from '#scripts/servers/small-disk.ts';
import type { Filling } from '#support/fill-at-call.ts';
import { testFolder } from '#support/test-folder.ts';
import { bundleOf, type Files, writeFiles } from '../panel/support/install-rig.ts';
import type { PanelClient } from '../panel/support/panel.ts';
import { rawZip } from '../panel/support/raw-zip.ts';
import { type KilledPanel, prepareKilledPanel, startKilledPanel } from './killed-panel.ts';

/** More than the reserve of 64 MiB that installs leave free, and few files. */
const SIZE = { megabytes: 96, files: 400 };
const BOUNDARY = 'z'.repeat(30);
/** More than a block of the disk, in the last file of a bundle. */
export const GOODS = 'goods '.repeat(3000);
/** The owner's own file, which installs carry over. */
export const CONFIG = 'mine '.repeat(3000);
const TOOLS = '/api/bundle-tools';

export type EndedJob = JobView & { readonly outcome: InstallOutcome | null };

/** A sidecar with two bundles and one folder on a small disk, which a test can fill. */
export class FullDiskWorld {
  readonly client: PanelClient;
  /** The folder on the small disk. */
  readonly at: string;
  readonly #folder: string;
  readonly #root: string;
  readonly #disk: HeldDisk;
  readonly #panel: KilledPanel;

  private constructor(folder: string, at: string, root: string, disk: HeldDisk, panel: KilledPanel) {
    this.client = panel.client;
    this.at = at;
    this.#folder = folder;
    this.#root = root;
    this.#disk = disk;
    this.#panel = panel;
  }

  /** @param place folder of the small disk, below that of the sidecar; @param game folder of the game server */
  static async open(place: string, game = 'game', holdDisk = holdSmallDisk): Promise<FullDiskWorld> {
    const folder = testFolder();
    const [at, root] = [join(folder, place), join(folder, game)];
    for (const name of ['shop', 'bank']) {
      writeFiles(join(root, 'bundles', name), { ...bundleOf('1.0.0'), 'config.lua': CONFIG });
    }
    prepareKilledPanel(folder, root);
    mkdirSync(at, { recursive: true });
    const disk = await holdDisk(at, SIZE.megabytes, SIZE.files);
    cpSync(at, disk.outside(at), { recursive: true });
    try {
      const env = ['env', `FILL_FOLDER=${at}`];
      const panel = await startKilledPanel(folder, 'fill-at-call', [...disk.enter, ...env]);
      return new FullDiskWorld(folder, at, root, disk, panel);
    } catch (error) {
      disk.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#panel.stop();
    this.#disk.close();
  }

  /** Path of the small disk for this process. */
  get disk(): string {
    return this.#disk.outside(this.at);
  }

  /** The disk becomes full at this call. */
  fillAt(filling: Filling): void {
    writeFileSync(join(this.#folder, 'kill'), JSON.stringify(filling));
  }

  makeRoom(): void {
    // It is gone if the disk was filled.
    expect(existsSync(join(this.#folder, 'kill'))).toBe(false);
    emptyDisk(this.disk);
  }

  send(version: string) {
    const files = { ...bundleOf(version), 'zones/goods.txt': GOODS };
    const entries = ['shop', 'bank'].flatMap((name) => entriesOf(files, name));
    return this.client.raw<{ upload: Upload; error?: string; detail?: string }>({
      ...{ method: 'POST', path: `${TOOLS}/upload`, ...this.#form(rawZip(entries)) },
    });
  }

  #form(zip: Buffer) {
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.zip"\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), zip, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
    return {
      body,
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'x-csrf': this.client.csrf },
    };
  }

  /** Folders of archives that are kept. */
  uploads(): string[] {
    const folder = this.#disk.outside(join(this.#folder, 'data/bundle-tools/uploads'));
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  /** Sends one half of a large archive, and the other after `work`. */
  async sendWhile(work: () => void) {
    const { headers, body } = this.#form(rawZip([{ name: 'shop/a', data: randomBytes(4 * 2 ** 20), method: 0 }]));
    const half = body.length / 2;
    const sent = new PassThrough();
    const answer = this.client.raw<{ error?: string; detail?: string }>({
      ...{ method: 'POST', path: `${TOOLS}/upload`, body: sent },
      headers: { ...headers, 'content-length': String(body.length) },
    });
    sent.write(body.subarray(0, half));
    await vi.waitFor(() => expect(this.uploads()).toHaveLength(1), { timeout: 30_000, interval: 10 });
    work();
    sent.end(body.subarray(half));
    return await answer;
  }

  /** Id of an upload of both bundles. */
  async upload(version: string): Promise<string> {
    // The panel serves a moment before it takes uploads.
    return await vi.waitFor(async () => (await this.send(version)).body.upload.id, { timeout: 30_000, interval: 20 });
  }

  async act(path: string, body: object): Promise<EndedJob> {
    const answer = await this.client.post<{ status: JobView }>(path, body);
    expect(answer.status, answer.text).toBe(200);
    return await this.ended(answer.body.status.id);
  }

  install(upload: string): Promise<EndedJob> {
    const bundles = ['bank', 'shop'].map((name) => ({ from: name, name, keep: ['config.lua'] }));
    return this.act(`${TOOLS}/upload/install`, { upload, bundles, apply: 'now' });
  }

  async ended(id: string): Promise<EndedJob> {
    const job = async () => (await this.client.get<JobAnswer>(`${TOOLS}/jobs/${id}`)).body.status;
    await expect.poll(async () => (await job()).endedAt, { interval: 10 }).not.toBeNull();
    return (await job()) as EndedJob;
  }

  read(path: string): string | null {
    const file = this.#disk.outside(join(this.#root, path));
    return existsSync(file) ? readFileSync(file, 'utf8') : null;
  }

  /** Versions of the bundles by their files. */
  versions(): string[] {
    return ['shop', 'bank'].map((name) => JSON.parse(this.read(`bundles/${name}/bundle.json`) ?? '{}').version);
  }

  /** Folders of jobs that wait to be put in place. */
  staged(): string[] {
    const folder = this.#disk.outside(join(this.#root, '.panel/staging'));
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  async states(): Promise<Record<string, string>> {
    const { body } = await this.client.get<{ bundles: BundleInfo[] }>('/api/bundles');
    return Object.fromEntries(body.bundles.map(({ name, state, version }) => [name, `${state} ${version}`]));
  }
}

function entriesOf(files: Files, folder: string) {
  return Object.entries(files).map(([path, data]) => ({ name: `${folder}/${path}`, data }));
}
