import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '#sidecar/config/new-file.ts';
import type { HostPolicy } from '../network/host-policy.ts';
import { httpsGet } from '../network/https-request.ts';
import { PanelError } from '../panel-error.ts';
import type { LockedPackage } from './lock-check.ts';
import type { NpmSettings } from './npm.ts';

export interface ReleaseAgesParts {
  readonly hosts: HostPolicy;
  readonly authorities: string | null;
  /** `data/bundle-tools/npm` */
  readonly folder: string;
  readonly now: () => number;
}

const DAY_MS = 86_400_000;
const MAX_KNOWN = 20_000;
/** The description of a package names all of its versions. */
const MAX_DESCRIPTION_BYTES = 64 * 1024 ** 2;
const ANSWER_MS = 60_000;
const AT_ONCE = 6;
const OWNER_ONLY = 0o600;

const description = z.object({ time: z.record(z.string(), z.unknown()).optional() });

/**
 * Publication of packages, from the registry. `npm ci` takes any version that the lock names, however young; a version is known
 * for good once it was asked for.
 */
export class ReleaseAges {
  readonly #parts: ReleaseAgesParts;
  /** `name@version` → epoch milliseconds. */
  #known: Map<string, number> | null = null;

  constructor(parts: ReleaseAgesParts) {
    this.#parts = parts;
  }

  /** @throws PanelError `packages.lock` for a package that is too young, or whose age the registry does not say */
  async check(
    locked: readonly LockedPackage[],
    { registry, minReleaseAgeDays }: NpmSettings,
    signal: AbortSignal,
  ): Promise<void> {
    if (registry === '' || minReleaseAgeDays === 0) return;
    const known = this.#load();
    const unknown = locked.filter(({ name, version }) => !known.has(`${name}@${version}`));
    const names = [...new Set(unknown.map(({ name }) => name))];
    const ask = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        const times = await this.#times(name, registry, signal);
        for (const each of unknown.filter((one) => one.name === name)) {
          const time = Date.parse(String(times[each.version]));
          if (!Number.isNaN(time)) known.set(`${name}@${each.version}`, time);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    this.#save(known);
    const latest = this.#parts.now() - minReleaseAgeDays * DAY_MS;
    for (const { name, version } of locked) refuseYoung(name, version, known.get(`${name}@${version}`), latest);
  }

  async #times(name: string, registry: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const { hosts, authorities } = this.#parts;
    const url = new URL(name.replace('/', '%2f'), `${registry.replace(/\/+$/, '')}/`);
    const answer = await httpsGet({
      ...{ url, authorities, signal, pinned: await hosts.pinChosen(url), headers: { accept: 'application/json' } },
      ...{ mostBytes: MAX_DESCRIPTION_BYTES, timeoutMs: ANSWER_MS },
    });
    if (answer.status !== 200) {
      throw new PanelError('bundleTools.network', { detail: `${url.host} answered ${answer.status} for ${name}` });
    }
    const read = description.safeParse(JSON.parse(answer.body.toString('utf8')));
    return read.success ? (read.data.time ?? {}) : {};
  }

  get #file(): string {
    return join(this.#parts.folder, 'ages.json');
  }

  #load(): Map<string, number> {
    if (this.#known === null) {
      const text = existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : '[]';
      this.#known = new Map(JSON.parse(text) as [string, number][]);
    }
    return this.#known;
  }

  #save(known: Map<string, number>): void {
    const kept = [...known].slice(-MAX_KNOWN);
    replaceFile(this.#file, JSON.stringify(kept), OWNER_ONLY);
  }
}

function refuseYoung(name: string, version: string, publishedAt: number | undefined, latest: number): void {
  if (publishedAt === undefined) {
    throw new PanelError('packages.lock', {
      detail: `the registry does not say when ${name} ${version} was published`,
    });
  }
  if (publishedAt <= latest) return;
  const day = new Date(publishedAt).toISOString().slice(0, 10);
  throw new PanelError('packages.lock', {
    detail: `${name} ${version} was published on ${day}: younger than minReleaseAgeDays allows`,
  });
}
