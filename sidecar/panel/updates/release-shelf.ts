import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compare } from 'semver';
import { checkDiskSpace, namingFullDisk } from '../disk-space.ts';
import { flushFolder } from '../flush-folder.ts';
import { invalidRelease, isVersion } from './release-manifest.ts';
import type { ReleaseTrust } from './release-trust.ts';
import type { ReleaseZip } from './release-zip.ts';
import { type VerifiedRelease, verifyRelease } from './verify-release.ts';

const STAGING = '.staging-';
/** A release unpacked: more than four times its ZIP. */
const UNPACKED = { bytes: 150 * 2 ** 20, files: 2000 };

/** Unpacked releases, a folder each below `data/releases`. */
export class ReleaseShelf {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Versions, the newest first. */
  async versions(): Promise<string[]> {
    const entries = await readdir(this.#folder, { withFileTypes: true }).catch(() => []);
    const found = entries.filter((entry) => entry.isDirectory() && isVersion(entry.name)).map(({ name }) => name);
    return found.sort((a, b) => compare(b, a));
  }

  /** Path of a version that `versions` has. */
  pathOf(version: string): string {
    if (!isVersion(version)) throw invalidRelease('expected a version');
    return join(this.#folder, version);
  }

  /** @throws PanelError `update.invalid`, `update.unsigned` */
  async verify(version: string, trust: ReleaseTrust): Promise<VerifiedRelease> {
    const verified = await verifyRelease(this.pathOf(version), trust);
    if (verified.manifest.version !== version) throw invalidRelease(`it is version ${verified.manifest.version}`);
    return verified;
  }

  /**
   * Unpacks a release beside the others; only a whole one that `prove` accepts gets its name.
   *
   * @throws PanelError `update.invalid`, `disk.full`
   */
  async add(zip: ReleaseZip, signal: AbortSignal, parts: UnpackParts): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await checkDiskSpace(this.#folder, UNPACKED);
    const staging = join(this.#folder, `${STAGING}${randomBytes(6).toString('hex')}`);
    try {
      await namingFullDisk(this.#folder, UNPACKED, () => zip.unpack(staging, signal, parts.onFile));
      await parts.prove(staging);
      const target = this.pathOf(zip.manifest.version);
      await rm(target, { recursive: true, force: true });
      await rename(staging, target);
      await flushFolder(this.#folder);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  }

  /** Removes all but these versions, and what a crash has left half unpacked. */
  async keepOnly(kept: (version: string) => boolean): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const isGone = name.startsWith(STAGING) || (isVersion(name) && !kept(name));
      if (isGone) await rm(join(this.#folder, name), { recursive: true, force: true });
    }
  }

  async has(version: string): Promise<boolean> {
    return isVersion(version) && (await stat(this.pathOf(version)).catch(() => null))?.isDirectory() === true;
  }
}

interface UnpackParts {
  readonly onFile: (share: number) => void;
  /** Judges the unpacked folder. @throws PanelError */
  readonly prove: (folder: string) => Promise<void>;
}
