import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { ServerConfig } from '../settings/server-config.ts';
import type { BundleInfo, BundleMetadata } from '../shapes/bundles.ts';
import { readAutostart, writeAutostart } from './autostart-file.ts';
import type { OwnTags } from './own-tags.ts';

const MAX_TAGS = 20;
const MAX_TAG_CHARS = 40;

export interface BundleMarksOptions {
  readonly settings: PanelSettings;
  readonly serverConfig: ServerConfig;
  readonly tags: OwnTags;
  /** Leaves the old file or the new one, also after a crash. */
  readonly replaceFile: (path: string, text: string, mode: number) => void;
}

/** Tags and autostart that the owner chose, above the manifests, which are never written. */
export class BundleMarks {
  readonly #options: BundleMarksOptions;

  constructor(options: BundleMarksOptions) {
    this.#options = options;
  }

  /** The bundles as accounts see them. */
  apply(bundles: readonly BundleInfo[]): BundleInfo[] {
    const metadata = this.metadata(bundles);
    return bundles.map((bundle, index) => {
      const { tags = bundle.tags, autostart = bundle.autostart } = metadata[index] ?? {};
      return { ...bundle, tags, autostart };
    });
  }

  /** @param bundles as their manifests and the server's configuration have them */
  metadata(bundles: readonly BundleInfo[]): BundleMetadata[] {
    const { backend, serverRoot } = this.#options.settings.values;
    const isStandalone = backend === 'standalone';
    const chosen = isStandalone ? readAutostart(serverRoot) : null;
    const own = this.#options.tags;
    return bundles.map(({ name, tags, autostart }) => {
      const ownTags = own.of(name);
      return {
        name,
        tags: [...new Set([...tags, ...ownTags])],
        ownTags,
        autostart: chosen?.get(name) ?? autostart,
        manifestAutostart: isStandalone ? autostart : null,
      };
    });
  }

  /** @throws PanelError `bundleTools.tags` */
  setTags(name: string, given: unknown): readonly string[] {
    const tags = readTags(given);
    this.#options.tags.set(name, tags);
    return tags;
  }

  /**
   * Standalone: an entry of `bundles/.autostart.json`. FXServer: the line `ensure NAME` of `server.cfg`.
   *
   * @param value null: as the manifest says
   * @throws PanelError `bundles.category`, `bundles.unavailable`, `config.unwritable`
   */
  setAutostart({ name, tags }: BundleInfo, value: boolean | null, username: string): void {
    const { settings, serverConfig, replaceFile } = this.#options;
    const { backend, serverRoot } = settings.values;
    if (backend === 'standalone') {
      writeAutostart(serverRoot, name, value, replaceFile);
    } else if (backend === 'fxserver') {
      serverConfig.setEnsured({ name, folders: tags.map((tag) => `[${tag}]`) }, value === true, username);
    } else {
      throw new PanelError('bundles.unavailable', { detail: 'this kind of server has no autostart of bundles' });
    }
  }

  /** Takes back what `setAutostart` has chosen, for a bundle that has gone. */
  forgetAutostart(name: string, username: string): void {
    const { serverConfig, settings, replaceFile } = this.#options;
    if (this.chosenAutostart(name) !== null) writeAutostart(settings.values.serverRoot, name, null, replaceFile);
    if (this.isEnsured(name)) serverConfig.setEnsured({ name, folders: [] }, false, username);
  }

  /** A line `ensure NAME` of `server.cfg` starts it. */
  isEnsured(name: string): boolean {
    const { serverConfig, settings } = this.#options;
    return settings.values.backend === 'fxserver' && serverConfig.isEnsured(name);
  }

  /** Choice of the owner for a bundle of a standalone server; null if there is none, or for another kind of server. */
  chosenAutostart(name: string): boolean | null {
    const { backend, serverRoot } = this.#options.settings.values;
    return backend === 'standalone' ? (readAutostart(serverRoot).get(name) ?? null) : null;
  }
}

function readTags(given: unknown): string[] {
  if (!Array.isArray(given) || given.length > MAX_TAGS) throw refusal(`expected a list of at most ${MAX_TAGS} texts`);
  const tags = given.map((tag: unknown) => {
    const text = typeof tag === 'string' && tag.isWellFormed() ? tag.trim() : '';
    // Control and direction characters could make one tag look like another.
    if (text === '' || [...text].length > MAX_TAG_CHARS || /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text)) {
      throw refusal(`expected texts of 1 to ${MAX_TAG_CHARS} visible characters`);
    }
    return text;
  });
  return [...new Set(tags)];
}

function refusal(detail: string): PanelError {
  return new PanelError('bundleTools.tags', { field: 'tags', detail: `tags: ${detail}` });
}
