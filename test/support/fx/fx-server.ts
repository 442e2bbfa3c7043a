/**
 * A fake FXServer, as unhelpful as the real one. Each peculiarity names its source: paths are those of citizenfx/fivem, `docs:`
 * is docs.fivem.net. JavaScript resources only: the Lua ones of the tests have a host of their own.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { testFolder } from '../test-folder.ts';
import { createCodec, type Fn } from './codec.ts';
import { readManifest } from './manifest.ts';
import type { ModuleRights } from './modules.ts';
import { Resource, type ResourceServer, type SentEvent, swallow } from './resource.ts';
import { Rights } from './rights.ts';

/** Number of the server build that a manifest may ask for (`/server:12913`). */
const SERVER_BUILD = 12_913;
const TICK_MS = 10;

interface Frame {
  readonly resource: string;
}

export class FxServer implements ResourceServer {
  readonly root: string;
  readonly resources: string;
  /** The console so far, as it shows: `[ script:db_connector] text`, colour codes and all. */
  readonly lines: string[] = [];
  /** Events sent to players. */
  readonly sent: SentEvent[] = [];
  readonly #started = new Map<string, Resource>();
  readonly #rights = new Rights();
  readonly #frames: Frame[] = [];
  readonly #loop: NodeJS.Timeout;
  #hitch: { ms: number; done: () => void } | null = null;
  #hasStarted = false;
  #rcon: string[] | null = null;

  constructor(root = testFolder()) {
    this.root = root;
    this.resources = join(root, 'resources');
    mkdirSync(this.resources, { recursive: true });
    this.#loop = setInterval(() => this.#tick(), TICK_MS);
  }

  get tickCount(): number {
    return Math.floor(performance.now());
  }

  get isInScript(): boolean {
    return this.#frames.length > 0;
  }

  get invokingResource(): string | null {
    return this.#frames.at(-2)?.resource ?? null;
  }

  /** The console without colour codes. */
  get plainLines(): string[] {
    return this.lines.map((line) => line.replace(/\^\d/g, ''));
  }

  get startedNames(): string[] {
    return [...this.#started.keys()];
  }

  mustBeInScript(): void {
    if (!this.isInScript) throw new Error('No current resource manager.');
  }

  folderOf(resource: string): string {
    return join(this.resources, resource);
  }

  /** Writes a resource; a file's text, by its path. */
  addResource(name: string, files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.folderOf(name), path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }

  /** A resource of one script that uses the database helper. */
  addScript(name: string, script: string, dependencies: readonly string[] = ['db_connector']): void {
    const listed = dependencies.map((each) => `'${each}'`).join(', ');
    this.addResource(name, {
      'fxmanifest.lua': `fx_version 'cerulean'\ngame 'common'\nnode_version '22'\ndependencies { ${listed} }\nserver_scripts {\n  '@db_connector/helper.fx.js',\n  'server.js'\n}\n`,
      'server.js': script,
    });
  }

  /** Runs a file of lines as `server.cfg`; afterwards start-up has ended. */
  startUp(config: readonly string[]): void {
    for (const line of config) this.exec(line);
    this.#hasStarted = true;
  }

  /** Runs a line of the console. */
  exec(line: string): void {
    const [command = '', ...words] = wordsOf(line);
    const [first = '', , third = ''] = words;
    if (this.#rights.obey(command.toLowerCase(), words)) return;
    switch (command.toLowerCase()) {
      case '':
        break;
      case 'add_convar_permission':
        this.#restrictConvar(third, first);
        break;
      case 'restart':
        this.stop(first);
        this.start(first);
        break;
      case 'ensure':
      case 'start':
        this.start(first);
        break;
      case 'stop':
        this.stop(first);
        break;
      default:
        this.#runCommand(0, command, words, line);
    }
  }

  /** Output for a remote console: all that is printed until the command returns (code/components/rcon: `PrintListenerContext`). */
  rcon(line: string): string[] {
    this.#rcon = [];
    this.exec(line);
    const said = this.#rcon;
    this.#rcon = null;
    return said;
  }

  /** A player types a command. The server itself refuses a restricted one to whom lacks its ACE. */
  playerTypes(player: number, line: string): void {
    const [command = '', ...words] = wordsOf(line);
    this.#runCommand(player, command, words, line);
  }

  allow(principal: string, ace: string): void {
    this.#rights.allow(principal, ace);
  }

  isAllowed(principal: string, ace: string): boolean {
    return this.#rights.isAllowed(principal, ace);
  }

  convarFor(resource: string, name: string): string | undefined {
    return this.#rights.convarFor(resource, name);
  }

  rightsOf(resource: string): ModuleRights {
    return { folder: this.folderOf(resource), resources: this.resources, ...this.#rights.modulesOf(resource) };
  }

  loadFile(resource: string, path: string): string | null {
    if (path.split(/[\\/]/).includes('..')) return null;
    try {
      return readFileSync(join(this.folderOf(resource), path), 'utf8');
    } catch {
      return null;
    }
  }

  stateOf(resource: string): string {
    return this.#started.has(resource) ? 'started' : 'stopped';
  }

  start(name: string): void {
    if (this.#started.has(name)) return;
    const manifest = readManifest(this.loadFile(name, 'fxmanifest.lua') ?? '');
    for (const dependency of manifest.entries.get('dependencie') ?? []) {
      const build = /^\/server:(\d+)$/.exec(dependency)?.[1];
      if (build === undefined) this.start(dependency);
      else if (Number(build) > SERVER_BUILD) throw new Error(`${name} needs server ${build}`);
    }
    if (manifest.first('fx_version') === undefined) {
      this.print('resources', `^3Couldn't find resource ${name}.^7`);
      return;
    }
    if (manifest.first('node_version') !== '22') throw new Error(`${name}: JavaScript for another Node.js than 22`);
    const resource = new Resource(this, name, this.folderOf(name));
    this.#started.set(name, resource);
    for (const script of manifest.entries.get('server_script') ?? []) {
      try {
        resource.run(script);
      } catch (error) {
        // NodeScriptRuntime.cpp says why, but not of a file that is missing; ResourceScriptingComponent.cpp names no resource.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
          this.print(`script:${name}`, `Error loading script ${script} in resource ${name}: ${String(error)}`);
        }
        this.print('resources', `Failed to load script ${script}.`);
      }
    }
    this.print('resources', `Started resource ${name}`);
    this.emit('onResourceStart', [name]);
  }

  /**
   * The state stays `started` during the event (code/components/citizen-resources-core/src/Resource.cpp, `Stop`).
   *
   * @param by the resource that asks for it
   */
  stop(name: string, by?: string): void {
    const resource = this.#started.get(name);
    if (resource === undefined) return;
    this.emit('onResourceStop', [name], by);
    this.emit('onServerResourceStop', [name], by);
    resource.isAlive = false;
    resource.timers.clear();
    resource.refs.clear();
    this.#started.delete(name);
    this.print('resources', `Stopping resource ${name}`);
  }

  /** An event of the server's own, or of a resource that is not JavaScript, such as txAdmin's `monitor`. */
  emit(event: string, args: readonly unknown[], from?: string): void {
    const pack = createCodec(
      () => '',
      () => () => undefined,
    ).pack;
    const send = () => this.emitPacked(event, pack(args));
    if (from === undefined) send();
    else this.#within({ resource: from }, send);
  }

  emitPacked(event: string, payload: Uint8Array): void {
    for (const resource of [...this.#started.values()]) {
      if (resource.listeners.has(event)) this.inScript(resource, () => swallow(() => resource.hear(event, payload)));
    }
  }

  /** main.js, `setCallRefFunction`: what throws is printed, and the caller gets nothing. */
  invokeRef(from: Resource, ref: string, args: unknown[]): unknown {
    const packed = from.codec.pack(args);
    const [owner = '', id] = ref.split(':');
    const target = this.#started.get(owner);
    const run = target?.refs.get(Number(id));
    if (target === undefined || run === undefined) throw new Error('Error in nested ref call.');
    const answer = this.inScript(target, () => {
      try {
        return target.codec.pack([run(...(target.codec.unpack(packed) as never[]))]);
      } catch {
        return null;
      }
    });
    if (answer === null) throw new Error('Error in nested ref call.');
    return (from.codec.unpack(answer) as unknown[])[0];
  }

  /** Calls a script as the server does: natives may be used until it returns. */
  inScript<T>(resource: Resource, run: () => T): T {
    return this.#within({ resource: resource.name }, run);
  }

  /** Evaluates an expression in a resource, as its own code. */
  evaluate(name: string, code: string): unknown {
    const resource = this.#started.get(name);
    if (resource === undefined) throw new Error(`${name} is not started`);
    return this.inScript(resource, () => new Script(code).runInContext(resource.context));
  }

  /** The whole game stands still for so long, within one tick. */
  hitch(ms: number): Promise<void> {
    return new Promise((done) => {
      this.#hitch = { ms, done };
    });
  }

  print(channel: string, text: string): void {
    for (const line of text.split('\n')) {
      this.lines.push(`[${channel.padStart(20)}] ${line}`);
      this.#rcon?.push(line);
    }
  }

  close(): void {
    for (const name of [...this.#started.keys()].reverse()) this.stop(name);
    clearInterval(this.#loop);
  }

  /** docs: developers/sandbox, "ConVar Permissions"; contract section 9: only before start-up ends. */
  #restrictConvar(name: string, reader: string): void {
    if (this.#hasStarted) {
      this.print('cmd', 'add_convar_permission is only available before start-up ends');
    } else {
      this.#rights.restrictConvar(name, reader);
    }
  }

  #within<T>(frame: Frame, run: () => T): T {
    this.#frames.push(frame);
    try {
      return run();
    } finally {
      this.#frames.pop();
    }
  }

  #tick(): void {
    const hitch = this.#hitch;
    this.#hitch = null;
    const until = performance.now() + (hitch?.ms ?? 0);
    while (performance.now() < until) {
      // The thread is held, as by a resource that computes.
    }
    const now = this.tickCount;
    for (const resource of [...this.#started.values()]) this.inScript(resource, () => resource.tick(now));
    hitch?.done();
  }

  #runCommand(source: number, command: string, words: string[], line: string): void {
    const [owner, found] = this.#findCommand(command);
    if (owner === undefined || found === undefined) {
      if (source === 0) this.print('cmd', `No such command ${command}.`);
      return;
    }
    if (source !== 0 && found.isRestricted && !this.isAllowed(`player.${source}`, `command.${command}`)) {
      this.sent.push({ player: source, event: 'console', args: [`Access denied for command ${command}.`] });
      return;
    }
    const args = owner.codec.unpack(owner.codec.pack([source, words, line])) as never[];
    this.inScript(owner, () => swallow(() => found.run(...args)));
  }

  #findCommand(command: string): [Resource | undefined, { run: Fn; isRestricted: boolean } | undefined] {
    const owner = [...this.#started.values()].find(({ commands }) => commands.has(command.toLowerCase()));
    return [owner, owner?.commands.get(command.toLowerCase())];
  }
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}
