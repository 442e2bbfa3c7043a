import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { StandaloneProcess } from '../e2e/standalone-process.ts';
import { FxServer } from './fx/fx-server.ts';

const DIST = fileURLToPath(new URL('../../dist/db_connector', import.meta.url));
const PATIENCE = { timeout: 30_000, interval: 5 };

/** Where the connector of a test calls to; further fields are those of `database.json`. */
export interface Target {
  readonly url: string;
  readonly secret: string;
  readonly [field: string]: unknown;
}

/** A game server with db_connector from `dist/`, as the host contract suite uses it. */
export interface ScriptHost {
  /** Kind of bytes at this host: the name that `Object.prototype.toString` returns. */
  readonly byteKind: string;
  /**
   * Adds and starts a bundle. Its code sees `db`, `Q`, `say(line)`, `ask(exportName, question)`, `command(name, run)`, where
   * `run` gets the words, and `bytes(array)`, which makes a list of numbers what this host takes for bytes.
   */
  bundle(name: string, code: string): Promise<void>;
  configure(fields: Readonly<Record<string, unknown>> | string): void;
  type(command: string): void;
  /** The text of the first line said that matches, from line number `from` on. */
  line(pattern: RegExp, from?: number): Promise<string>;
  /** Texts of all lines so far, without what the host puts before or into them. */
  lines(): string[];
  close(): Promise<void> | void;
}

function databaseJson({ secret: _, ...fields }: Target): string {
  return JSON.stringify({ keyId: 'local', namespaces: ['game'], slowCallMs: 0, ...fields });
}

async function lineOf(host: Pick<ScriptHost, 'lines'>, pattern: RegExp, from: number): Promise<string> {
  // A polling caller must let sockets and ticks have their turn.
  await new Promise((resolve) => setImmediate(resolve));
  return vi.waitFor(() => {
    const found = host
      .lines()
      .slice(from)
      .find((line) => pattern.test(line));
    if (found === undefined) throw new Error(`no line ${pattern} in:\n${host.lines().slice(from).join('\n')}`);
    return found;
  }, PATIENCE);
}

/** FiveM or RedM, faked. */
export function fxScriptHost(target: Target, config: readonly string[] = []): ScriptHost & { readonly fx: FxServer } {
  const fx = new FxServer();
  cpSync(DIST, fx.folderOf('db_connector'), { recursive: true });
  const file = join(fx.folderOf('db_connector'), 'vfs/database.json');
  writeFileSync(file, databaseJson(target));
  fx.startUp([
    `set db_connector_secret "${target.secret}"`,
    'add_convar_permission db_connector read db_connector_secret',
    'add_ace group.admin command allow',
    ...config,
    'ensure db_connector',
  ]);
  const host: ScriptHost = {
    byteKind: '[object ArrayBuffer]',
    async bundle(name, code) {
      fx.addScript(
        name,
        `const db = DB, say = (line) => console.log(line), ask = (name, question) => exports.db_connector[name](question);
         const command = (name, run) => RegisterCommand(name, (_source, words) => run(words), true);
         const bytes = (list) => new Uint8Array(list).buffer;
         ${code}`,
      );
      fx.exec(`ensure ${name}`);
    },
    configure: (fields) =>
      writeFileSync(file, typeof fields === 'string' ? fields : databaseJson({ ...target, ...fields })),
    type: (command) => fx.exec(command),
    line: (pattern, from = 0) => lineOf(host, pattern, from),
    lines: () => fx.plainLines.map((line) => line.slice(line.indexOf(']') + 2)),
    close: () => fx.close(),
  };
  return { ...host, fx };
}

export async function standaloneScriptHost(target: Target): Promise<ScriptHost> {
  const server = new StandaloneProcess();
  cpSync(DIST, join(server.root, 'bundles/db_connector'), { recursive: true });
  const configure = (text: string) => server.file('vfs/database.json', text);
  const fields = { secretFile: 'local.secret' };
  server.file('vfs/local.secret', target.secret);
  configure(databaseJson({ ...target, ...fields }));
  await server.start();
  const host: ScriptHost = {
    byteKind: '[object Uint8Array]',
    async bundle(name, code) {
      server.bundle(
        name,
        `import { Database, Q } from '../db_connector/helper.js';
         export default (host) => {
           const db = new Database(host), say = host.log;
           const ask = (name, question) => host.exports.call('db_connector', name, question);
           const command = (name, run) => host.commands.register(name, 'of a test', run);
           const bytes = (list) => new Uint8Array(list);
           ${code}
         };`,
      );
      await server.ask(`start ${name}`, new RegExp(`^started ${name}`));
    },
    configure: (given) =>
      configure(typeof given === 'string' ? given : databaseJson({ ...target, ...fields, ...given })),
    type: (command) => server.type(command),
    line: (pattern, from = 0) => lineOf(host, pattern, from),
    lines: () => server.lines.map((line) => line.replace(/^\[[^\]]+\] /, '')),
    close: () => server.remove(),
  };
  return host;
}
