import { statSync } from 'node:fs';
import { PanelError } from '../panel-error.ts';
import type { Permission } from '../shapes/permissions.ts';
import type { ConfigValues, FileProblem, ServerConfigView } from '../shapes/settings.ts';
import type { PanelStore } from '../store/panel-store.ts';
import {
  configOf,
  differingFrom,
  type FileDraft,
  invalid,
  permissionsFor,
  readConfigChanges,
  readFileDraft,
} from './config-document.ts';
import { canBeEnsured, ensuredBy, withEnsured, withoutEnsured } from './ensure-lines.ts';
import type { PanelSettings } from './panel-settings.ts';
import { hashOf, hostNameOf, LONGEST_FILE, problemsOf, readServerFile, type ServerFile } from './server-cfg.ts';

/** The account that saves, and its permissions. */
export interface Editor {
  readonly username: string;
  readonly permissions: ReadonlySet<Permission>;
}

export interface ServerConfigOptions {
  readonly settings: PanelSettings;
  readonly store: PanelStore;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Leaves the old file or the new one, also after a crash. */
  readonly replaceFile: (path: string, text: string, mode: number) => void;
}

/** The file can run any program. */
const FILE_NEEDS: readonly Permission[] = ['users.manage'];

interface Change {
  readonly config: Partial<ConfigValues>;
  readonly file: FileDraft | null;
}

/** A resource of FXServer, with the `[folders]` it lies in. */
export interface EnsuredResource {
  readonly name: string;
  readonly folders: readonly string[];
}

/** The start settings of the game server, and its configuration file. Each save stores the previous state. */
export class ServerConfig {
  readonly #settings: PanelSettings;
  readonly #history: ConfigHistory;
  readonly #options: ServerConfigOptions;

  constructor(options: ServerConfigOptions) {
    this.#settings = options.settings;
    this.#history = new ConfigHistory(options.store);
    this.#options = options;
  }

  view(): ServerConfigView {
    const file = this.#file();
    const undo = this.#history.latest();
    return {
      config: configOf(this.#settings.values),
      file: isFile(file) ? { name: file.name, text: file.text, hash: file.hash } : null,
      fileProblem: typeof file === 'string' ? file : null,
      undo: undo === null ? null : { savedAt: undo.savedAt, username: undo.username, fields: undo.fields },
    };
  }

  /** Name that players see if `server.cfg` sets one, else the dashboard name. */
  get serverName(): string {
    const file = this.#file();
    const told = isFile(file) ? hostNameOf(file.text) : null;
    return told ?? this.#settings.values.dashboardName;
  }

  /**
   * Saves all of the changes or none.
   *
   * @returns names of what has changed
   * @throws PanelError `config.invalid`, `permission.missing`, `config.conflict`, `config.unwritable`
   */
  save(given: { readonly config?: unknown; readonly file?: unknown }, editor: Editor): readonly string[] {
    const config = differingFrom(configOf(this.#settings.values), readConfigChanges(given.config));
    return this.#apply({ config, file: readFileDraft(given.file) }, editor, true);
  }

  /** Saves the state before the last save; a second undo reverts the first. */
  undo(editor: Editor): readonly string[] {
    const last = this.#history.latest();
    if (last === null) throw new PanelError('config.noUndo');
    const config = differingFrom(configOf(this.#settings.values), last.config);
    const file = last.fileBefore === null ? null : { text: last.fileBefore, hash: last.hashAfter };
    return this.#apply({ config, file }, editor, false);
  }

  isEnsured(name: string): boolean {
    const file = this.#file();
    return isFile(file) && ensuredBy(file.text).has(name);
  }

  /**
   * Writes or removes the line `ensure NAME` of `server.cfg`; no other line changes. `undo` brings the text before it back.
   *
   * @throws PanelError `bundles.category` if one of the folders is started whole, `bundles.unavailable`, `config.unwritable`
   */
  setEnsured({ name, folders }: EnsuredResource, isOn: boolean, username: string): void {
    const file = this.#file();
    if (!isFile(file) || !canBeEnsured(name)) {
      throw new PanelError('bundles.unavailable', { detail: 'no line of server.cfg can be written for it' });
    }
    const ensured = ensuredBy(file.text);
    const category = folders.find((folder) => ensured.has(folder));
    if (category !== undefined && !isOn) {
      throw new PanelError('bundles.category', { detail: `server.cfg starts all of ${category}` });
    }
    if (category !== undefined) return;
    const text = isOn ? withEnsured(file.text, name) : withoutEnsured(file.text, name);
    if (text === file.text) return;
    if (Buffer.byteLength(text) > LONGEST_FILE) throw invalid('file', `expected at most ${LONGEST_FILE} bytes`);
    this.#write(file, text);
    this.#history.keep({
      ...{ savedAt: new Date(this.#options.now()).toISOString(), username, fields: ['file'], config: {} },
      ...{ fileBefore: file.text, hashAfter: hashOf(Buffer.from(text)) },
    });
  }

  #apply({ config, file: draft }: Change, editor: Editor, isChecked: boolean): readonly string[] {
    const file = draft === null ? null : this.#file();
    const isNewText = draft !== null && !(isFile(file) && file.text === draft.text);
    const needed = [...permissionsFor(config), ...(isNewText ? FILE_NEEDS : [])];
    if (!needed.every((name) => editor.permissions.has(name))) throw new PanelError('permission.missing');
    const replaced = isNewText ? checkDraft(draft, file, isChecked) : null;
    const fields = [...Object.keys(config), ...(isNewText ? ['file'] : [])];
    if (fields.length === 0) return fields;
    if (replaced !== null && draft !== null) this.#write(replaced, draft.text);
    this.#history.keep({
      ...{ savedAt: new Date(this.#options.now()).toISOString(), username: editor.username, fields },
      config: pick(configOf(this.#settings.values), Object.keys(config)),
      fileBefore: replaced?.text ?? null,
      hashAfter: draft === null ? '' : hashOf(Buffer.from(draft.text)),
    });
    this.#settings.update(config);
    return fields;
  }

  /** null if this kind of server has none. */
  #file(): ServerFile | FileProblem | null {
    const { backend, serverRoot } = this.#settings.values;
    return backend === 'fxserver' && serverRoot !== '' ? readServerFile(serverRoot) : null;
  }

  #write({ path }: ServerFile, text: string): void {
    try {
      this.#options.replaceFile(path, text, statSync(path).mode & 0o777);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new PanelError('config.unwritable', { field: 'file', detail: `${path} cannot be written: ${code}` });
    }
  }
}

/** The current file, if the draft was edited from it. @throws PanelError */
function checkDraft(draft: FileDraft, current: ServerFile | FileProblem | null, isChecked: boolean): ServerFile {
  if (current === null) throw invalid('file', 'this kind of server has none');
  if (typeof current === 'string') throw new PanelError('config.conflict', { field: 'file' });
  if (Buffer.byteLength(draft.text) > LONGEST_FILE) throw invalid('file', `expected at most ${LONGEST_FILE} bytes`);
  const problems = isChecked ? problemsOf(draft.text, current.text) : [];
  if (problems.length > 0) throw invalid('file', problems.join('; '));
  if (draft.hash !== current.hash) throw new PanelError('config.conflict', { field: 'file' });
  return current;
}

function isFile(file: ServerFile | FileProblem | null): file is ServerFile {
  return typeof file === 'object' && file !== null;
}

function pick(values: ConfigValues, names: readonly string[]): Partial<ConfigValues> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

/** State before the last save of the server's configuration. */
interface Undo {
  /** ISO 8601 UTC with milliseconds. */
  readonly savedAt: string;
  readonly username: string;
  /** Names of the changed settings. */
  readonly fields: readonly string[];
  /** Values before the save. */
  readonly config: Partial<ConfigValues>;
  /** Text before the save; null if the file was not changed. */
  readonly fileBefore: string | null;
  /** Hash of the saved file: if it differs now, the file was changed outside of the panel. */
  readonly hashAfter: string;
}

/** Single row with the last undo. In the panel's store, which only its owner can read: a `server.cfg` holds passwords. */
class ConfigHistory {
  readonly #store: PanelStore;

  constructor(store: PanelStore) {
    this.#store = store;
  }

  latest(): Undo | null {
    const row = this.#store.prepare('SELECT undo FROM config_undo').get() as { undo: string } | undefined;
    return row === undefined ? null : (JSON.parse(row.undo) as Undo);
  }

  keep(undo: Undo): void {
    this.#store.prepare('INSERT OR REPLACE INTO config_undo (id, undo) VALUES (1, ?)').run(JSON.stringify(undo));
  }
}
