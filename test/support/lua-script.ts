import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { decode, encode } from '@msgpack/msgpack';
import { provideLua } from '#scripts/servers/debian-program.ts';

const NATIVES = fileURLToPath(new URL('lua/fx-natives.lua', import.meta.url));
const TICK_MS = 10;
/** Time limit of `run`, however busy the machine is. */
const PATIENCE_MS = 60_000;

/** null if Lua 5.4 is available here, else the reason why not. */
export async function whyNoLua(): Promise<string | null> {
  try {
    await provideLua(() => {});
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Exports of another resource. Arguments and results are copied through MessagePack. */
export type LuaExports = Readonly<Record<string, Readonly<Record<string, (...args: never[]) => unknown>>>>;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Lua's integers have 64 bits; here those past 2^53 alone are a BigInt. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint')
    return value === BigInt(Number(value)) && Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

/** A resource in Lua on a faked FXServer: a Lua 5.4 of its own, whose ticks, events and exports come from here. */
export class LuaScript {
  readonly lines: string[] = [];
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #exports: LuaExports;
  readonly #frames: unknown[][] = [];
  readonly #waiting = new Map<number, Waiting>();
  #wake: () => void = () => {};
  #pending = Buffer.alloc(0);
  #now = 0;
  #lastRun = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #failure: Error | null = null;

  private constructor(argv: readonly string[], exports: LuaExports) {
    this.#exports = exports;
    const [program, ...args] = argv;
    this.#child = spawn(`${program}`, [...args, NATIVES], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#child.stderr.on('data', (chunk: Buffer) => this.#fail(new Error(chunk.toString())));
    this.#child.once('exit', (code) => this.#fail(new Error(`Lua ended with ${code}`)));
    this.#child.stdin.on('error', () => {});
  }

  /** @param files run one after the other, as `server_scripts` are */
  static async start(files: readonly string[], exports: LuaExports = {}): Promise<LuaScript> {
    const script = new LuaScript(await provideLua(() => {}), exports);
    for (const file of files) await script.run(readFileSync(file, 'utf8'), undefined, file);
    return script;
  }

  /** Runs Lua in a thread, `...` being the argument, and ticks until it returns; its value. */
  async run<T = unknown>(code: string, argument: unknown = null, name = 'test'): Promise<T> {
    this.#lastRun += 1;
    const id = this.#lastRun;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject });
    await this.#exchange(['run', id, name, code, argument]);
    await this.until(() => !this.#waiting.has(id));
    return (await promise) as T;
  }

  /** Ticks until it is so. */
  async until(isSo: () => boolean): Promise<void> {
    const endsAt = performance.now() + PATIENCE_MS;
    while (!isSo()) {
      if (performance.now() > endsAt)
        throw new Error(`Lua does not come to an end; it said:\n${this.lines.join('\n')}`);
      await this.tick();
    }
  }

  /** The game's next tick. Its time does not go faster than the machine's. */
  async tick(): Promise<void> {
    await sleep(1);
    this.#now += TICK_MS;
    await this.#exchange(['tick', this.#now]);
  }

  async event(name: string, ...args: unknown[]): Promise<void> {
    await this.#exchange(['event', name, ...args]);
  }

  /** Another resource stops. */
  async stop(resource: string): Promise<void> {
    await this.#exchange(['stop', resource]);
  }

  async command(name: string, ...words: string[]): Promise<void> {
    await this.#exchange(['command', name, words]);
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.stdin.end();
    await gone;
  }

  /** Sends a frame and serves Lua until it has done with it. Callers take turns. */
  #exchange(frame: readonly unknown[]): Promise<void> {
    const turn = this.#turn.then(() => this.#serve(frame));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #serve(frame: readonly unknown[]): Promise<void> {
    this.#send(frame);
    for (;;) {
      const [kind, ...rest] = await this.#next();
      if (kind === 'done') return;
      if (kind === 'line') this.lines.push(String(rest[0]));
      else if (kind === 'call') this.#answer(rest as [string, string, unknown[]]);
      else this.#settle(rest as [number, boolean, unknown]);
    }
  }

  #answer([resource, name, args]: [string, string, unknown[]]): void {
    const called = this.#exports[resource]?.[name];
    try {
      if (called === undefined) throw new Error(`No such export ${name} in resource ${resource}`);
      this.#send(['return', called(...(args as never[]))]);
    } catch (error) {
      this.#send(['throw', String(error)]);
    }
  }

  #settle([id, isFine, value]: [number, boolean, unknown]): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (isFine) waiting?.resolve(value);
    else waiting?.reject(new Error(String(value)));
  }

  #send(frame: readonly unknown[]): void {
    const bytes = encode(frame, { useBigInt64: true });
    const head = Buffer.alloc(4);
    head.writeUInt32BE(bytes.length);
    this.#child.stdin.write(Buffer.concat([head, bytes]));
  }

  async #next(): Promise<unknown[]> {
    while (this.#frames.length === 0) {
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#frames.shift() as unknown[];
  }

  #read(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    while (this.#pending.length >= 4 && this.#pending.length >= 4 + this.#pending.readUInt32BE()) {
      const end = 4 + this.#pending.readUInt32BE();
      this.#frames.push(plain(decode(this.#pending.subarray(4, end), { useBigInt64: true })) as unknown[]);
      this.#pending = this.#pending.subarray(end);
    }
    this.#wake();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}
