import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { BackupConfig } from '../../config/backup.ts';
import { ConfigError, namingFileLater } from '../../config/config-error.ts';
import { installationId, shortId } from '../../config/installation-id.ts';
import type { SidecarConfig } from '../../config/load-config.ts';
import { needSpace } from '../../moving/free-space.ts';
import { MoveRefused } from '../../moving/report.ts';
import type { KeptBackup } from '../backup-folder.ts';
import { type Manifest, rowsOf, tablesOf } from '../manifest.ts';
import { archiveOf, unpackArchive } from './archive.ts';
import { byTime, type ObjectName, objectName, parseObjectName } from './object-name.ts';
import { openRemote } from './open-remote.ts';
import { RemoteFailure, type RemoteStore } from './remote-store.ts';
import { expiredBackups } from './retention.ts';
import { opened, sealed } from './sealed.ts';
import { type SentBackup, SentIndex } from './sent-index.ts';

/** A backup off the machine. */
export interface RemoteBackup extends ObjectName {
  readonly bytes: number;
  /** Entry of the local index; null if it must be opened first. */
  readonly known: SentBackup | null;
}

type RemoteOptions = Pick<SidecarConfig, 'file' | 'dataFolder'> & { readonly backup: BackupConfig };

/** Backups off this machine: one object each (docs/backup.md). */
export class RemoteBackups {
  readonly store: RemoteStore;
  readonly #configFile: string;
  readonly #backup: BackupConfig;
  /** ID8 of this installation. */
  readonly installation: string;
  readonly #index: SentIndex;

  private constructor({ file, dataFolder, backup }: RemoteOptions, store: RemoteStore) {
    this.store = store;
    this.#configFile = file;
    this.#backup = backup;
    this.installation = shortId(installationId(dataFolder));
    this.#index = new SentIndex(dataFolder);
  }

  /** @throws ConfigError if no place is configured */
  static async open(options: RemoteOptions, environment: NodeJS.ProcessEnv): Promise<RemoteBackups> {
    const { file, backup } = options;
    const { remote } = backup;
    if (remote === null) {
      const advice = 'docs/backup.md shows how to set it';
      throw new ConfigError(`${file}: backup.remote: expected a place for backups, got none: ${advice}`);
    }
    return new RemoteBackups(options, await openRemote(remote, file, environment));
  }

  close(): void {
    this.store.close();
  }

  /** Backups of all installations, oldest first. */
  async list(signal: AbortSignal): Promise<RemoteBackup[]> {
    const known = this.#index.read();
    const objects = await this.store.list(signal);
    return objects
      .flatMap(({ name, bytes }) => {
        const parsed = parseObjectName(name);
        return parsed === null ? [] : [{ ...parsed, bytes, known: known.get(name) ?? null }];
      })
      .toSorted(byTime);
  }

  /** Ends uploads of this installation that were cut off: they cost, and never become a backup. */
  async abortUnfinished(signal: AbortSignal): Promise<void> {
    await this.store.abortUnfinished((name) => parseObjectName(name)?.installation === this.installation, signal);
  }

  /** Sends a local backup, and looks whether it is there as it was sent. @param secrets text of them, for encrypted ones */
  async send(local: KeptBackup, secrets: string | null, signal: AbortSignal): Promise<SentBackup> {
    const { encryptTo } = this.#backup;
    const object = objectName(local.name, this.installation, encryptTo.length > 0);
    const archive = archiveOf(local, encryptTo.length > 0 ? secrets : null);
    const sum = new Sum(await namingFileLater(this.#configFile, () => sealed(archive.content, encryptTo)));
    await this.store.put(object, sum.content(), archive.bytes, signal);
    const { bytes, sha256 } = sum.result();
    await this.#refuseOtherSize(object, bytes, signal);
    const namespaces = local.manifest.namespaces.map(({ name }) => name);
    const tables = tablesOf(local.manifest);
    const sent = { object, rows: rowsOf(local.manifest), namespaces, tables, bytes, sha256 };
    this.#index.add(sent);
    return sent;
  }

  async #refuseOtherSize(object: string, bytes: number, signal: AbortSignal): Promise<void> {
    const found = (await this.store.list(signal)).find(({ name }) => name === object);
    if (found?.bytes === bytes) return;
    if (found !== undefined) await this.store.remove(object, signal);
    throw new RemoteFailure(
      `backup.remote: ${this.store.place} holds ${found?.bytes ?? 'none'} of the ${bytes} bytes of ${object}; it is sent again with the next try`,
    );
  }

  /** Deletes what `backup.remote.keep` does not keep, of this installation alone. Returns the names. */
  async prune(signal: AbortSignal): Promise<string[]> {
    const { remote } = this.#backup;
    if (remote === null) return [];
    const all = await this.list(signal);
    const expired = expiredBackups(all, this.installation, remote.keep);
    for (const { object } of expired) await this.store.remove(object, signal);
    const gone = new Set(expired.map(({ object }) => object));
    this.#index.keepOnly(new Set(all.map(({ object }) => object).filter((object) => !gone.has(object))));
    return [...gone];
  }

  /**
   * Opens a backup into a folder, which appears as a whole or not at all. @param identities needed for encrypted ones
   * @throws MoveRefused if it is not what was sent, or no whole backup
   */
  async fetch(
    backup: RemoteBackup,
    { folder, identities, signal }: { folder: string; identities: readonly string[]; signal: AbortSignal },
  ): Promise<Manifest> {
    if (backup.isEncrypted && identities.length === 0) {
      throw new MoveRefused(`${backup.object} is encrypted: name the file of its identity with --identity`);
    }
    // Unpacked it is larger: its manifest, which comes first, says by how much.
    needSpace(dirname(folder), backup.bytes, `the backup ${backup.object}`);
    const sum = new Sum(this.store.get(backup.object, signal));
    const plain = opened(checked(sum, backup), backup.isEncrypted ? identities : null);
    return unpackArchive(plain, folder);
  }

  /** Whether the bytes are those that were sent. @throws MoveRefused if not, or if nothing is known of them */
  async compareBytes(backup: RemoteBackup, signal: AbortSignal): Promise<void> {
    if (backup.known === null) {
      throw new MoveRefused(`nothing is known of ${backup.object} here; only an identity can open and check it`);
    }
    for await (const _ of checked(new Sum(this.store.get(backup.object, signal)), backup)) signal.throwIfAborted();
  }
}

/** The content, with an error at its end if it is not what was sent. */
async function* checked(sum: Sum, { object, known }: RemoteBackup): AsyncGenerator<Uint8Array> {
  yield* sum.content();
  if (known === null || sum.result().sha256 === known.sha256) return;
  throw new MoveRefused(`${object} is not what this installation has sent: it was changed or replaced there`);
}

class Sum {
  readonly #content: AsyncIterable<Uint8Array>;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#content = content;
  }

  async *content(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#content) {
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
      yield chunk;
    }
  }

  result(): { readonly bytes: number; readonly sha256: string } {
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex') };
  }
}
