import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import semver from 'semver';
import { extract, type ReadEntry } from 'tar';
import { EntryRefused, EntryRules } from '../installs/entry-rules.ts';
import { PanelError } from '../panel-error.ts';

/** Older versions ignore `--allow-git` and its like silently. */
export const NPM_MINIMUM = '11.19.1';

export interface FoundNpm {
  readonly version: string;
  /** `npm-cli.js`, which our own Node.js runs. */
  readonly script: string;
  /** `node`: beside our Node.js; `tools`: in the folder of the bundle tools. */
  readonly origin: 'node' | 'tools';
}

const NAME = /^npm-(\d+\.\d+\.\d+)(?:\.tgz)?$/;

/** npm: the one beside our Node.js if it is new enough, else the newest that was installed here. */
export class NpmTool {
  readonly #tools: string;
  readonly #inbox: string;

  /** @param folder `data/bundle-tools` */
  constructor(folder: string) {
    this.#tools = join(folder, 'tools');
    this.#inbox = join(folder, 'inbox');
  }

  find(): FoundNpm | null {
    const beside = besideNode();
    if (beside !== null && semver.gte(beside.version, NPM_MINIMUM)) return beside;
    return this.#installed()[0] ?? null;
  }

  /** @throws PanelError `bundleTools.tool` */
  need(): FoundNpm {
    const found = this.find();
    if (found !== null) return found;
    throw new PanelError('bundleTools.tool', {
      field: 'npm',
      detail: `npm ${NPM_MINIMUM} or newer is needed: put npm-VERSION.tgz into ${this.#inbox}, then install it`,
    });
  }

  /** Versions that wait in the inbox, the newest first. */
  inbox(): string[] {
    return versionsIn(this.#inbox, '.tgz');
  }

  /** Path of the archive in the inbox. @throws PanelError `bundleTools.unknown` */
  inboxFile(version: string): string {
    if (!this.inbox().includes(version)) throw new PanelError('bundleTools.unknown', { field: 'version' });
    return join(this.#inbox, `npm-${version}.tgz`);
  }

  /**
   * Unpacks an archive of npm: files and folders alone, judged by the rules of entries.
   *
   * @param commit called before the first change that stays
   * @returns its SHA-512 as npm writes it
   */
  async install(archive: string, version: string, signal: AbortSignal, commit: () => void): Promise<string> {
    const staged = join(this.#tools, `making-${version}`);
    rmSync(staged, { recursive: true, force: true });
    mkdirSync(staged, { recursive: true, mode: 0o700 });
    try {
      const integrity = await unpack(archive, staged, signal);
      const found = readNpm(join(staged, 'package'), 'tools');
      if (found?.version !== version)
        throw new PanelError('bundleTools.version', {
          field: 'version',
          detail: 'the archive holds another program or version',
        });
      commit();
      const target = join(this.#tools, `npm-${version}`);
      rmSync(target, { recursive: true, force: true });
      renameSync(staged, target);
      return integrity;
    } finally {
      rmSync(staged, { recursive: true, force: true });
    }
  }

  /** @throws PanelError `bundleTools.unknown`, `tools.system` */
  remove(): void {
    const installed = this.#installed();
    if (installed.length === 0)
      throw new PanelError(besideNode() === null ? 'bundleTools.unknown' : 'tools.system', { field: 'name' });
    for (const { version } of installed) rmSync(join(this.#tools, `npm-${version}`), { recursive: true, force: true });
  }

  /** Removes archives and folders that a crash has left half-made. */
  removeLeftovers(): void {
    if (!existsSync(this.#tools)) return;
    const names = readdirSync(this.#tools).filter((name) => /^(making|download)-/.test(name));
    for (const name of names) rmSync(join(this.#tools, name), { recursive: true, force: true });
  }

  #installed(): FoundNpm[] {
    return versionsIn(this.#tools, '').flatMap(
      (version) => readNpm(join(this.#tools, `npm-${version}`, 'package'), 'tools') ?? [],
    );
  }
}

function versionsIn(folder: string, ending: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter(
    (name) => name.endsWith(ending) && name.endsWith('.tgz') === (ending === '.tgz'),
  );
  return names.flatMap((name) => NAME.exec(name)?.[1] ?? []).toSorted(semver.rcompare);
}

function besideNode(): FoundNpm | null {
  const folder = dirname(realpathSync(process.execPath));
  const places = [join(folder, '../lib/node_modules/npm'), join(folder, 'node_modules/npm')];
  return places.map((place) => readNpm(place, 'node')).find((found) => found !== null) ?? null;
}

function readNpm(folder: string, origin: FoundNpm['origin']): FoundNpm | null {
  const [file, script] = [join(folder, 'package.json'), join(folder, 'bin/npm-cli.js')];
  if (!existsSync(file) || !existsSync(script) || !statSync(script).isFile()) return null;
  const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly name?: unknown;
    readonly version?: unknown;
  };
  return name === 'npm' && typeof version === 'string' && semver.valid(version) !== null
    ? { version, script, origin }
    : null;
}

/** @throws EntryRefused. @returns the SHA-512 of the archive as npm writes it */
async function unpack(archive: string, target: string, signal: AbortSignal): Promise<string> {
  const rules = new EntryRules();
  let refusal: Error | null = null;
  const isTaken = (path: string, { type, size }: ReadEntry): boolean => {
    try {
      if (type !== 'File' && type !== 'Directory') throw new EntryRefused(path, 'is neither a file nor a folder');
      rules.count(path, size);
      return rules.add(path, type === 'File' ? 'file' : 'folder') !== null;
    } catch (error) {
      refusal ??= error as Error;
      return false;
    }
  };
  await extract({
    ...{ file: archive, cwd: target, strict: true, preserveOwner: false, noMtime: true, dmode: 0o755, fmode: 0o644 },
    filter: (path, entry) => refusal === null && !signal.aborted && isTaken(path, entry as ReadEntry),
  });
  signal.throwIfAborted();
  if (refusal !== null) throw refusal;
  const hash = createHash('sha512');
  await pipeline(createReadStream(archive), hash);
  return `sha512-${hash.digest('base64')}`;
}
