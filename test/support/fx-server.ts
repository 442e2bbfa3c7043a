/**
 * A fake FXServer, as unhelpful as the real one. Each peculiarity names its source: paths are those of citizenfx/fivem, `docs:`
 * is docs.fivem.net. JavaScript resources only: the Lua ones of the tests have a host of their own.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve as resolvePath, sep } from 'node:path';
import { format } from 'node:util';
import { type Context, createContext, Script } from 'node:vm';
import { testFolder } from './test-folder.ts';

/** Number of the server build that a manifest may ask for (`/server:12913`). */
const SERVER_BUILD = 12_913;
const TICK_MS = 10;
const nodeRequire = createRequire(import.meta.url);

type Fn = (...args: never[]) => unknown;
type Anything = (...args: unknown[]) => unknown;

interface Codec {
  pack(value: unknown): Uint8Array;
  unpack(bytes: Uint8Array): unknown;
}

/**
 * The codec of events, exports and references: `uint8array: true, preset: false, binarraybuffer: true`, and functions as
 * references (data/shared/citizen/scripting/v8/main.js, msgpack.js). Evaluated in each resource's own context, so that what
 * arrives there is made of that context's objects; hence it may use nothing from outside.
 */
function createCodec(refOf: (run: Fn) => string, functionOf: (ref: string) => Fn): Codec {
  const FUNCTION = 10;
  /** msgpack-lite puts two units together wherever the first is any half of a pair, so broken text becomes other text. */
  function bytesOf(text: string): Buffer {
    if (text.isWellFormed()) return Buffer.from(text);
    const bytes: number[] = [];
    for (let at = 0; at < text.length; ) {
      let unit = text.charCodeAt(at++);
      if (unit >= 0xd800 && unit <= 0xdfff) {
        unit = 0x10000 + ((unit - 0xd800) << 10) + ((text.charCodeAt(at++) || 0) - 0xdc00);
        bytes.push(
          0xf0 | ((unit >>> 18) & 7),
          0x80 | ((unit >>> 12) & 63),
          0x80 | ((unit >>> 6) & 63),
          0x80 | (unit & 63),
        );
      } else if (unit < 0x80) bytes.push(unit);
      else if (unit < 0x800) bytes.push(0xc0 | (unit >>> 6), 0x80 | (unit & 63));
      else bytes.push(0xe0 | (unit >>> 12), 0x80 | ((unit >>> 6) & 63), 0x80 | (unit & 63));
    }
    return Buffer.from(bytes);
  }

  function pack(value: unknown): Uint8Array {
    const chunks: Buffer[] = [];
    const put = (...bytes: number[]) => chunks.push(Buffer.from(bytes));
    const head = (size: number, small: number | null, limit: number, tags: readonly number[]) => {
      const [tag8 = -1, tag16 = -1, tag32 = -1] = tags;
      if (small !== null && size < limit) put(small | size);
      else if (tag8 >= 0 && size < 0x100) put(tag8, size);
      else if (size < 0x1_0000) put(tag16, size >> 8, size & 255);
      else put(tag32, size >>> 24, (size >>> 16) & 255, (size >>> 8) & 255, size & 255);
    };
    const number = (given: number) => {
      if (Number.isInteger(given) && given >= 0 && given <= 0xffff_ffff) {
        return given < 128 ? put(given) : head(given, null, 0, [0xcc, 0xcd, 0xce]);
      }
      if (Number.isInteger(given) && given < 0 && given >= -0x8000_0000) {
        const bytes = Buffer.alloc(5, 0xd2);
        bytes.writeInt32BE(given, 1);
        return given >= -32 ? put(given & 255) : chunks.push(bytes);
      }
      const bytes = Buffer.alloc(9, 0xcb);
      bytes.writeDoubleBE(given, 1);
      return chunks.push(bytes);
    };
    const binary = (bytes: Buffer) => {
      head(bytes.length, null, 0, [0xc4, 0xc5, 0xc6]);
      chunks.push(bytes);
    };
    const put1 = (given: unknown): unknown => {
      switch (typeof given) {
        case 'boolean':
          return put(given ? 0xc3 : 0xc2);
        case 'number':
          return number(given);
        case 'string': {
          const bytes = bytesOf(given);
          head(bytes.length, 0xa0, 32, [0xd9, 0xda, 0xdb]);
          return chunks.push(bytes);
        }
        case 'function': {
          const ref = Buffer.from(refOf(given as Fn));
          put(0xc7, ref.length, FUNCTION);
          return chunks.push(ref);
        }
        case 'bigint':
          throw new TypeError('encoder.codec.encode is not a function for bigint');
        case 'object':
          return object(given);
        default:
          return put(0xc0);
      }
    };
    const object = (given: object | null) => {
      if (given === null) return put(0xc0);
      if (Buffer.isBuffer(given)) return binary(given);
      if (Object.prototype.toString.call(given) === '[object ArrayBuffer]') {
        return binary(Buffer.from(given as ArrayBuffer));
      }
      if (Array.isArray(given)) {
        head(given.length, 0x90, 16, [-1, 0xdc, 0xdd]);
        return given.forEach(put1);
      }
      // Everything else, a Uint8Array too, is a map of its own keys.
      const keys = Object.keys(given);
      head(keys.length, 0x80, 16, [-1, 0xde, 0xdf]);
      for (const key of keys) {
        put1(key);
        put1(Reflect.get(given, key));
      }
    };
    put1(value);
    return Buffer.concat(chunks);
  }

  function unpack(given: Uint8Array): unknown {
    const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    let at = 0;
    const uint = (width: number): number => {
      at += width;
      return bytes.readUIntBE(at - width, width);
    };
    const slice = (length: number) => {
      at += length;
      return bytes.subarray(at - length, at);
    };
    const array = (length: number) => Array.from({ length }, () => next());
    const map = (length: number) => {
      const object: Record<string, unknown> = {};
      for (let i = 0; i < length; i += 1) {
        const key = String(next());
        object[key] = next();
      }
      return object;
    };
    const binary = (length: number) => {
      const raw = slice(length);
      return raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength);
    };
    const next = (): unknown => {
      const tag = uint(1);
      if (tag < 0x80) return tag;
      if (tag < 0x90) return map(tag & 15);
      if (tag < 0xa0) return array(tag & 15);
      if (tag < 0xc0) return slice(tag & 31).toString();
      if (tag >= 0xe0) return tag - 256;
      switch (tag) {
        case 0xc0:
          return null;
        case 0xc2:
        case 0xc3:
          return tag === 0xc3;
        case 0xc4:
        case 0xc5:
        case 0xc6:
          return binary(uint(2 ** (tag - 0xc4)));
        case 0xc7: {
          const length = uint(1);
          return uint(1) === FUNCTION ? functionOf(slice(length).toString()) : null;
        }
        case 0xcb:
          return slice(8).readDoubleBE();
        case 0xcc:
        case 0xcd:
        case 0xce:
          return uint(2 ** (tag - 0xcc));
        case 0xd2:
          return slice(4).readInt32BE();
        case 0xd9:
        case 0xda:
        case 0xdb:
          return slice(uint(2 ** (tag - 0xd9))).toString();
        case 0xdc:
        case 0xdd:
          return array(uint(tag === 0xdc ? 2 : 4));
        case 0xde:
        case 0xdf:
          return map(uint(tag === 0xde ? 2 : 4));
        default:
          throw new Error(`Invalid type: 0x${tag.toString(16)}`);
      }
    };
    return next();
  }
  return { pack, unpack };
}

interface GameTimer {
  readonly run: () => void;
  readonly interval: number;
  lastRun: number;
}

/** `fxmanifest.lua`, as far as these tests use it. */
interface Manifest {
  readonly entries: ReadonlyMap<string, readonly string[]>;
  first(key: string): string | undefined;
}

function readManifest(text: string): Manifest {
  const entries = new Map<string, string[]>();
  const plain = text.replace(/--.*$/gm, '');
  for (const [, key = '', single, list] of plain.matchAll(/(\w+)\s*(?:'([^']*)'|\{([^}]*)\})/g)) {
    const values =
      single === undefined ? [...(list ?? '').matchAll(/'([^']*)'/g)].map((match) => match[1] ?? '') : [single];
    const name = key.replace(/^(server_script|dependencie)s?$/, '$1').replace(/^dependency$/, 'dependencie');
    entries.set(name, [...(entries.get(name) ?? []), ...values]);
  }
  return { entries, first: (key) => entries.get(key)?.[0] };
}

/** Error that Node's permission model throws (node: doc/api/permissions.md). */
function accessDenied(permission: string, resource = ''): Error {
  return Object.assign(new Error('Access to this API has been restricted'), {
    code: 'ERR_ACCESS_DENIED',
    permission,
    resource,
  });
}

/** A running resource: its globals, timers, listeners and references. */
class Resource {
  readonly name: string;
  readonly folder: string;
  readonly listeners = new Map<string, Fn[]>();
  readonly commands = new Map<string, { run: Fn; isRestricted: boolean }>();
  readonly timers = new Map<number, GameTimer>();
  readonly refs = new Map<number, Fn>();
  readonly context: Context;
  readonly codec: Codec;
  isAlive = true;
  /** Time of the tick before: new timers count from here. */
  gameTime: number;
  readonly #server: FxServer;
  #lastId = 0;

  constructor(server: FxServer, name: string, folder: string) {
    this.#server = server;
    this.name = name;
    this.folder = folder;
    this.gameTime = server.tickCount;
    this.context = createContext({ ...sharedGlobals() });
    const make = new Script(`(${createCodec})`).runInContext(this.context) as typeof createCodec;
    this.codec = make(
      (run) => this.#makeRef(run),
      (ref) =>
        (...args) =>
          server.invokeRef(this, ref, args),
    );
    Object.assign(this.context, { global: this.context, ...this.#natives(), ...this.#events(), ...this.#node() });
    this.#defineTimers();
  }

  get isIdle(): boolean {
    return this.timers.size === 0;
  }

  /** code/components/citizen-scripting-node/src/NodeScriptRuntime.cpp: `v8::Script::Compile`, so no import and no export. */
  run(path: string): void {
    const [owner, file] = path.startsWith('@')
      ? [path.slice(1, path.indexOf('/')), path.slice(path.indexOf('/') + 1)]
      : [this.name, path];
    const script = readFileSync(join(this.#server.folderOf(owner), file), 'utf8');
    this.#server.inScript(this, () => new Script(script, { filename: `@${owner}/${file}` }).runInContext(this.context));
  }

  /** data/shared/citizen/scripting/v8/timer.js, `onTick`. */
  tick(now: number): void {
    for (const timer of [...this.timers.values()]) {
      if (now - timer.lastRun > timer.interval) {
        // printError is all that becomes of an exception; for scripts it is swallowed.
        swallow(() => timer.run());
        timer.lastRun = now;
      }
    }
    this.gameTime = now;
  }

  /** main.js, `setEventFunction`: asynchronous, so that what a listener throws ends the others and is told to nobody. */
  async hear(event: string, payload: Uint8Array): Promise<void> {
    const args = this.codec.unpack(payload) as never[];
    for (const listener of [...(this.listeners.get(event) ?? [])]) {
      const returned = listener(...args);
      if (returned instanceof Promise) await returned;
    }
  }

  #makeRef(run: Fn): string {
    this.#lastId += 1;
    this.refs.set(this.#lastId, run);
    return `${this.name}:${this.#lastId}`;
  }

  /** Natives answer truth with 1 (include/shared/NativeFunctions.h: an `int32_t` result is an integer). */
  #natives(): Record<string, Fn> {
    const server = this.#server;
    const truth = (is: boolean) => (is ? 1 : false);
    const natives: Record<string, Fn> = {
      GetCurrentResourceName: () => this.name,
      GetResourcePath: (name: string) => server.folderOf(name),
      LoadResourceFile: (name: string, path: string) => server.loadFile(name, path),
      GetConvar: (name: string, otherwise: string) => server.convarFor(this.name, name) ?? otherwise,
      GetConvarInt: (name: string, otherwise: number) => Number(server.convarFor(this.name, name) ?? otherwise),
      GetInvokingResource: () => server.invokingResource,
      GetResourceState: (name: string) => server.stateOf(name),
      IsDuplicityVersion: () => 1,
      IsPrincipalAceAllowed: (principal: string, ace: string) => truth(server.isAllowed(principal, ace)),
      IsPlayerAceAllowed: (player: string | number, ace: string) => truth(server.isAllowed(`player.${player}`, ace)),
      GetGameTimer: () => server.tickCount,
      ScheduleResourceTick: () => null,
      RegisterCommand: (name: string, run: Fn, isRestricted: boolean) => {
        this.commands.set(name.toLowerCase(), { run, isRestricted: Boolean(isRestricted) });
      },
    };
    return Object.fromEntries(
      Object.entries(natives).map(([name, native]) => [
        name,
        // docs: scripting-manual/runtimes/javascript, "Thread affinity"; the text is that of citizen-resources-core ResourceManager.
        (...args: never[]) => {
          if (!server.isInScript || !this.isAlive) throw new Error('No current resource manager.');
          return native(...args);
        },
      ]),
    );
  }

  #events(): Record<string, unknown> {
    const server = this.#server;
    const on = (event: string, listener: Fn) => {
      server.mustBeInScript();
      this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
    };
    const emit = (event: string, ...args: unknown[]) => {
      server.mustBeInScript();
      server.emitPacked(event, this.codec.pack(args));
    };
    const emitNet = (event: string, player: number, ...args: unknown[]) => {
      server.mustBeInScript();
      server.sent.push({ player, event, args: args.map((arg) => structuredClone(arg)) });
    };
    return {
      on,
      addEventListener: on,
      AddEventHandler: on,
      emit,
      TriggerEvent: emit,
      emitNet,
      exports: this.#exports(on, emit),
    };
  }

  /** main.js, `createExports`: an export is asked for by an event, once, and a list of one is taken for its only value. */
  #exports(on: (event: string, listener: Fn) => void, emit: (event: string, ...args: unknown[]) => void): unknown {
    const cache = new Map<string, Anything>();
    this.listeners.set('onServerResourceStop', [
      (stopped: string) => {
        for (const key of cache.keys()) if (key.startsWith(`${stopped}\n`)) cache.delete(key);
      },
    ]);
    const find = (resource: string, name: string): Anything => {
      const key = `${resource}\n${name}`;
      if (!cache.has(key)) {
        emit(`__cfx_export_${resource}_${name}`, (found: Anything) => void cache.set(key, found));
      }
      const found = cache.get(key);
      if (found === undefined) throw new Error(`No such export ${name} in resource ${resource}`);
      return (...args) => {
        let result: unknown;
        try {
          result = found(...args);
        } catch {
          throw new Error(
            `An error happened while calling export ${name} of resource ${resource} - see above for details`,
          );
        }
        return Array.isArray(result) && result.length === 1 ? result[0] : result;
      };
    };
    const register = (name: string, run: Fn) =>
      on(`__cfx_export_${this.name}_${name}`, ((give: (run: Fn) => void) => give(run)) as Fn);
    return new Proxy(register, {
      get: (_target, resource) => new Proxy({}, { get: (_none, name) => find(String(resource), String(name)) }),
    });
  }

  /** timer.js: timers of the game's tick that count from the tick before, and cannot be replaced. */
  #defineTimers(): void {
    const set = (run: Anything, delay: number | undefined, isOnce: boolean, args: unknown[]) => {
      this.#lastId += 1;
      const id = this.#lastId;
      const once = () => {
        try {
          run(...args);
        } finally {
          this.timers.delete(id);
        }
      };
      const interval = Math.max(1, Math.min(2 ** 31 - 1, delay || 1)) | 0;
      this.timers.set(id, { run: isOnce ? once : () => void run(...args), interval, lastRun: this.gameTime });
      const handle = {
        id,
        unref: () => handle,
        ref: () => handle,
        hasRef: () => true,
        refresh: () => {
          const timer = this.timers.get(id);
          if (timer !== undefined) timer.lastRun = this.gameTime;
          return handle;
        },
        [Symbol.toPrimitive]: () => id,
      };
      return handle;
    };
    const clear = (timer: { id?: number } | undefined) => void this.timers.delete(timer?.id ?? -1);
    const timers = {
      setTimeout: (run: Anything, delay?: number, ...args: unknown[]) => set(run, delay, true, args),
      setInterval: (run: Anything, delay?: number, ...args: unknown[]) => set(run, delay, false, args),
      setImmediate: (run: Anything, ...args: unknown[]) => set(run, 0, true, args),
      setTick: (run: Anything) => set(run, 0, false, []).id,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    };
    for (const [name, value] of Object.entries(timers)) {
      Object.defineProperty(this.context, name, { value, writable: false, enumerable: true, configurable: false });
    }
  }

  /** include/JavaScriptEnvironmentCode.h gives `require`; console.js the console. */
  #node(): Record<string, unknown> {
    const print =
      (before = '', after = '') =>
      (...args: unknown[]) =>
        this.#server.print(`script:${this.name}`, `${before}${format(...args)}${after}`);
    const warn = print('^3Warning: ', '^7');
    const error = print('^1Error: ', '^7');
    const console = { log: print(), debug: print('Debug: '), info: print('Info: '), warn, error, trace: warn };
    return { console, print: print(), require: (id: string) => this.#require(id) };
  }

  #require(id: string): unknown {
    if (id.startsWith('.') || isAbsolute(id)) throw new Error(`Cannot find module '${id}'`);
    const real = nodeRequire(id.startsWith('node:') ? id : `node:${id}`) as Record<string, unknown>;
    switch (id.replace(/^node:/, '')) {
      case 'fs':
        return { ...this.#guardFiles(real), promises: this.#guardFiles(real.promises as Record<string, unknown>) };
      case 'fs/promises':
        return this.#guardFiles(real);
      case 'child_process':
        return this.#server.mayStartPrograms(this.name) ? real : refuseAll(real, 'ChildProcess');
      case 'worker_threads':
        return this.#server.mayStartThreads(this.name)
          ? real
          : { ...real, Worker: refuseAll({ Worker: real.Worker }, 'WorkerThreads').Worker };
      case 'net':
        return this.#server.mayConnect(this.name) ? real : { ...real, connect: refuseConnections(real) };
      default:
        return real;
    }
  }

  /** docs: developers/sandbox, and `NodePermissionCallback` of NodeScriptRuntime.cpp: inside of resources, no `..`, writes at home. */
  #guardFiles(real: Record<string, unknown>): Record<string, unknown> {
    const isWriting = (name: string, args: unknown[]) =>
      /write|append|mkdir|rm|unlink|rename|copy|truncate|chmod|link|utimes|mkdtemp|cp/i.test(name) ||
      (/^open/.test(name) && /[wa+]/.test(String(args[1] ?? 'r')));
    const guard = (name: string, run: Anything) =>
      function guarded(this: unknown, ...args: unknown[]): unknown {
        const [path] = args;
        if (typeof path === 'string' || path instanceof URL || Buffer.isBuffer(path))
          check(String(path), isWriting(name, args));
        return run.apply(this, args);
      };
    const check = (path: string, writes: boolean) => {
      const permission = writes ? 'FileSystemWrite' : 'FileSystemRead';
      const root = writes ? this.folder : this.#server.resources;
      const whole = resolvePath(path);
      if (path.split(/[\\/]/).includes('..') || !`${whole}${sep}`.startsWith(`${root}${sep}`)) {
        throw accessDenied(permission, path);
      }
    };
    return Object.fromEntries(
      Object.entries(real).map(([name, value]) => [
        name,
        typeof value === 'function' && /^[a-z]/.test(name) ? guard(name, value as Anything) : value,
      ]),
    );
  }
}

function refuseAll(real: Record<string, unknown>, permission: string): Record<string, unknown> {
  // Called with `new` as well.
  const refuse = function refuse() {
    throw accessDenied(permission);
  };
  return Object.fromEntries(
    Object.entries(real).map(([name, value]) => [name, typeof value === 'function' ? refuse : value]),
  );
}

/**
 * cfx-server of GTA V Enhanced runs Node.js 26, which asks for the permission `net` at each connection; its console says so
 * ("permission check from … for permission net on resource …"). Code and message are those of Node.js 26 itself.
 */
function refuseConnections(real: Record<string, unknown>): Anything {
  const { Socket } = real as typeof import('node:net');
  return () => {
    const message = 'Access to this API has been restricted. Use --allow-net to manage permissions.';
    const socket = new Socket();
    process.nextTick(() =>
      socket.destroy(Object.assign(new Error(`connect ERR_ACCESS_DENIED ${message}`), { code: 'ERR_ACCESS_DENIED' })),
    );
    return socket;
  };
}

function swallow(run: () => unknown): void {
  try {
    const returned = run();
    if (returned instanceof Promise) returned.catch(() => undefined);
  } catch {
    // The peculiarity itself.
  }
}

/**
 * Node's globals, and the constructors of bytes: a real resource has one realm, so a `Buffer` is a `Uint8Array` there. The
 * language's other constructors are the context's own, but for the error that a DataView throws.
 */
function sharedGlobals(): Record<string, unknown> {
  const names = `Buffer process performance queueMicrotask structuredClone crypto fetch atob btoa
    URL URLSearchParams TextEncoder TextDecoder AbortController AbortSignal Event EventTarget CustomEvent DOMException
    Blob File FormData Headers Request Response MessageChannel MessagePort MessageEvent BroadcastChannel
    ReadableStream WritableStream TransformStream
    ArrayBuffer SharedArrayBuffer DataView Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array
    Float32Array Float64Array BigInt64Array BigUint64Array Uint8ClampedArray RangeError`.split(/\s+/);
  return Object.fromEntries(names.map((name) => [name, Reflect.get(globalThis, name)]));
}

interface Frame {
  readonly resource: string;
}

export interface SentEvent {
  readonly player: number;
  readonly event: string;
  readonly args: readonly unknown[];
}

export class FxServer {
  readonly root = testFolder();
  readonly resources = join(this.root, 'resources');
  /** The console so far, as it shows: `[ script:db_connector] text`, colour codes and all. */
  readonly lines: string[] = [];
  /** Events sent to players. */
  readonly sent: SentEvent[] = [];
  readonly #started = new Map<string, Resource>();
  readonly #convars = new Map<string, string>();
  readonly #readers = new Map<string, Set<string>>();
  readonly #aces = new Map<string, Set<string>>();
  readonly #programStarters = new Set<string>();
  readonly #threadStarters = new Set<string>();
  readonly #withoutNetwork = new Set<string>();
  readonly #frames: Frame[] = [];
  readonly #loop: NodeJS.Timeout;
  #hitch: { ms: number; done: () => void } | null = null;
  #hasStarted = false;
  #rcon: string[] | null = null;

  constructor() {
    mkdirSync(this.resources);
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
    const [first = '', second = '', third = ''] = words;
    switch (command.toLowerCase()) {
      case '':
        break;
      case 'set':
        this.#convars.set(first, second);
        break;
      case 'add_convar_permission':
        this.#restrictConvar(third, first);
        break;
      case 'add_unsafe_child_process_permission':
        this.#programStarters.add(first);
        break;
      case 'add_unsafe_worker_permission':
        this.#threadStarters.add(first);
        break;
      case 'forbid_network':
        // A command of this fake alone.
        this.#withoutNetwork.add(first);
        break;
      case 'add_ace':
        this.allow(first, second);
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
    this.#aces.set(principal, (this.#aces.get(principal) ?? new Set()).add(ace));
  }

  isAllowed(principal: string, ace: string): boolean {
    const held = this.#aces.get(principal) ?? new Set();
    return ace.split('.').some((_part, index, parts) => held.has(parts.slice(0, index + 1).join('.')));
  }

  convarFor(resource: string, name: string): string | undefined {
    const readers = this.#readers.get(name);
    return readers === undefined || readers.has(resource) ? this.#convars.get(name) : undefined;
  }

  mayStartPrograms(resource: string): boolean {
    return this.#programStarters.has(resource);
  }

  mayStartThreads(resource: string): boolean {
    return this.#threadStarters.has(resource);
  }

  mayConnect(resource: string): boolean {
    return !this.#withoutNetwork.has(resource);
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
        this.print(`script:${name}`, `Error loading script ${script} in resource ${name}: ${String(error)}`);
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
      this.#readers.set(name, (this.#readers.get(name) ?? new Set()).add(reader));
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
