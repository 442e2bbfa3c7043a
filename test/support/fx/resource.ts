import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'node:util';
import { type Context, createContext, Script } from 'node:vm';
import { type Codec, createCodec, type Fn } from './codec.ts';
import { type ModuleRights, requireFor } from './modules.ts';

type Anything = (...args: unknown[]) => unknown;

/** An event sent to a player. */
export interface SentEvent {
  readonly player: number;
  readonly event: string;
  readonly args: readonly unknown[];
}

/** The server as its resources see it. */
export interface ResourceServer {
  readonly tickCount: number;
  readonly isInScript: boolean;
  readonly invokingResource: string | null;
  readonly sent: SentEvent[];
  mustBeInScript(): void;
  folderOf(resource: string): string;
  loadFile(resource: string, path: string): string | null;
  convarFor(resource: string, name: string): string | undefined;
  stateOf(resource: string): string;
  isAllowed(principal: string, ace: string): boolean;
  rightsOf(resource: string): ModuleRights;
  emitPacked(event: string, payload: Uint8Array): void;
  invokeRef(from: Resource, ref: string, args: unknown[]): unknown;
  inScript<T>(resource: Resource, run: () => T): T;
  print(channel: string, text: string): void;
}

interface GameTimer {
  readonly run: () => void;
  readonly interval: number;
  lastRun: number;
}

/** A running resource: its globals, timers, listeners and references. */
export class Resource {
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
  readonly #server: ResourceServer;
  #lastId = 0;

  constructor(server: ResourceServer, name: string, folder: string) {
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
    return { console, print: print(), require: (id: string) => requireFor(id, this.#server.rightsOf(this.name)) };
  }
}

export function swallow(run: () => unknown): void {
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
