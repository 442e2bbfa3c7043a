import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { gone } from '../e2e/embedded-server.ts';
import { FxServer } from './fx/fx-server.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

/** Calls at once when it starts, as resources do; `mark N` inserts, `marks` lists. */
const SHOP = `
const tell = (what, result) => console.log(what + ' ' + (result.State === 'ok' ? 'ok' : result.Code + ' ' + DB.ErrorMessage(result)));
DB.Sync('game', Q.Schema(Q.Table('marks', [Q.Int64('id')], { primaryKey: ['id'] })), (result) => tell('synced', result));
RegisterCommand('mark', (_source, [id]) => DB.Insert('game', 'marks', { id: Number(id) }, (result) => tell('mark ' + id, result)), true);
RegisterCommand('marks', () => DB.Find('game', 'marks', {}, (result) => console.log('marks ' + DB.Rows(result).map((row) => row.id).join(','))), true);
`;

/** Lines of server.cfg; the last one starts the resource that uses the database. */
const CONFIG = ['add_unsafe_child_process_permission db_connector', 'ensure db_connector', 'ensure shop'];

/** A faked FXServer with the shipped connector and nothing configured. */
export class EmbeddedFx {
  readonly fx = new FxServer();

  readonly #folder: string;

  /** @param install puts the connector into `resources/` */
  constructor(install: (resources: string) => void, folder = 'db_connector_data') {
    this.#folder = folder;
    install(this.fx.resources);
    this.fx.addScript('shop', SHOP);
  }

  /** Beside `resources/`. */
  get data(): string {
    return join(this.fx.root, this.#folder);
  }

  /** Process id of the sidecar. */
  get sidecar(): number {
    return (JSON.parse(readFileSync(join(this.data, 'data/embedded.json'), 'utf8')) as { pid: number }).pid;
  }

  /** Resolves when the sidecar has ended, so that nobody writes any more. */
  async close(): Promise<void> {
    this.fx.exec('stop db_connector');
    if (existsSync(this.data)) await gone(this.sidecar);
    this.fx.close();
  }

  startUp(config: readonly string[] = CONFIG): void {
    this.fx.startUp(config);
  }

  /** The text of the first line that matches, from line number `from` on. */
  line(pattern: RegExp, from = 0): Promise<string> {
    return vi.waitFor(() => {
      const found = this.fx.plainLines.slice(from).find((line) => pattern.test(line));
      if (found === undefined) throw new Error(`no line ${pattern} in:\n${this.fx.plainLines.slice(from).join('\n')}`);
      return found;
    }, PATIENCE);
  }

  ask(command: string, pattern: RegExp): Promise<string> {
    const from = this.fx.lines.length;
    this.fx.exec(command);
    return this.line(pattern, from);
  }
}
