import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { gt } from 'semver';
import { VERSION } from '#sidecar/program-folder.ts';
import { flushFolder } from '../flush-folder.ts';
import { receiveUpload } from '../http/receive-upload.ts';
import { PanelError } from '../panel-error.ts';
import { type InboxRelease, MAX_INBOX_FILES, readRelease } from './release-inbox.ts';
import type { ReleaseTrust } from './release-trust.ts';

/** Begins the name of a file that still arrives; the inbox shows names that end with `.zip` alone. */
const ARRIVING = '.upload-';

/** Takes releases into the inbox, one at a time. Only a release that the judge of the inbox accepts gets its name. */
export class ReleaseUpload {
  readonly #folder: string;
  readonly #trust: ReleaseTrust;
  /** Name of the account whose release arrives, or null. */
  #receivingOf: string | null = null;

  /** @param folder `data/updates/inbox` */
  constructor(folder: string, trust: ReleaseTrust) {
    this.#folder = folder;
    this.#trust = trust;
  }

  /** Removes what a crash has cut off. */
  async open(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    const arriving = names.filter((name) => name.startsWith(ARRIVING));
    for (const name of arriving) await rm(join(this.#folder, name), { force: true });
  }

  /**
   * Receives a body and judges it.
   *
   * @param judgeAgain called when the body has arrived: the account may have lost the right
   * @throws PanelError `upload.busy`, `upload.full`, `disk.full`, `update.invalid`, `update.unsigned`, `update.target` if it is not newer, those of
   * `receiveUpload`
   */
  async receive(request: IncomingMessage, username: string, judgeAgain: () => Promise<void>): Promise<InboxRelease> {
    if (this.#receivingOf !== null) throw new PanelError('upload.busy', { detail: `of ${this.#receivingOf}` });
    this.#receivingOf = username;
    const arriving = join(this.#folder, `${ARRIVING}${randomBytes(6).toString('hex')}`);
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const kept = (await readdir(this.#folder)).filter((name) => name.endsWith('.zip'));
      if (kept.length >= MAX_INBOX_FILES) {
        throw new PanelError('upload.full', { detail: `there are ${kept.length} files in data/updates/inbox` });
      }
      await receiveUpload(request, arriving);
      await judgeAgain();
      const release = await readRelease(arriving, this.#trust);
      const { version } = release.manifest;
      if (!gt(version, VERSION)) {
        throw new PanelError('update.target', { detail: `${version}: expected a version after ${VERSION}` });
      }
      const path = join(this.#folder, `sidecar-${version}.zip`);
      await rename(arriving, path);
      await flushFolder(this.#folder);
      return { ...release, path };
    } finally {
      await rm(arriving, { force: true });
      this.#receivingOf = null;
    }
  }
}
