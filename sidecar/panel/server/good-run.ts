import type { PanelSettings } from '../settings/panel-settings.ts';
import type { ServerStatus } from '../shapes/server.ts';
import type { PanelStore } from '../store/panel-store.ts';
import { readContents, type ServerContents } from './server-contents.ts';

/** A server that has run for so long had come up well. */
const GOOD_AFTER_MS = 300_000;

/** Remembers what lay there when the server last ran well, so that a crash record can say what is other since. */
export class GoodRun {
  readonly #store: PanelStore;
  readonly #settings: PanelSettings;
  #wasUp = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(store: PanelStore, settings: PanelSettings) {
    this.#store = store;
    this.#settings = settings;
  }

  /** Takes each status: a run was good when it has lasted, or was up and has ended because it was asked to. */
  follow({ state, exit }: ServerStatus): void {
    if (state === 'running') this.#wasUp = true;
    if (state === 'running' && this.#timer === undefined) this.#timer = setTimeout(() => this.#note(), GOOD_AFTER_MS);
    if (state === 'running' || state === 'stopping') return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#wasUp && exit?.reason === 'asked') this.#note();
    this.#wasUp = false;
  }

  /** Names of what was changed, added or removed since; null where no run was good yet. */
  async changes(): Promise<string[] | null> {
    await this.#writing;
    const row = this.#store.prepare('SELECT contents FROM server_good_run').get() as { contents: string } | undefined;
    const { values } = this.#settings;
    const now = values.serverRoot === '' ? null : await readContents(values);
    return row === undefined || now === null ? null : difference(JSON.parse(row.contents) as ServerContents, now);
  }

  /** The store may be closed then. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
  }

  #note(): void {
    this.#writing = readContents(this.#settings.values)
      .then((contents) => {
        if (contents === null) this.#store.prepare('DELETE FROM server_good_run').run();
        else this.#write(contents);
      })
      .catch(() => {});
  }

  #write(contents: ServerContents): void {
    this.#store
      .prepare('INSERT OR REPLACE INTO server_good_run (id, contents) VALUES (1, ?)')
      .run(JSON.stringify(contents));
  }
}

export function difference(before: ServerContents, now: ServerContents): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return names.flatMap((name) => {
    if (!Object.hasOwn(now, name)) return [`${name} removed`];
    if (!Object.hasOwn(before, name)) return [`${name} added`];
    return before[name] === now[name] ? [] : [`${name} changed`];
  });
}
