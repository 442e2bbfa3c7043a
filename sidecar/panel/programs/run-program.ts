import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import { LOWEST, lowerPriority } from '#sidecar/lower-priority.ts';
import { ProcessGroup } from '../server/process/group.ts';

/** A run of a program that the panel starts for its own work: git, npm, a build script. */
export interface ProgramCall {
  /** Absolute path: nothing is looked up along PATH. */
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** An empty folder. */
  readonly home: string;
  /** PATH of the program. */
  readonly path: string;
  /** Beside PATH and HOME; never a secret. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array | ((stdin: Writable) => void);
  /** Reads the output instead of the result; ends when the output does. */
  readonly output?: (stdout: Readable) => Promise<void>;
  /** Descriptor 3 of the program: a socket. */
  readonly channel?: (socket: Duplex) => void;
  /** Each piece of standard error, and of standard output if `isLogged`. */
  readonly onText?: (text: string) => void;
  readonly isLogged?: boolean;
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
  /** From the request to end to the kill. Default: 3 s, in which git removes its temporary files. */
  readonly graceMs?: number;
  /** Longest wait, after its end, for output that a process outside of its group holds open. Default: up to `timeoutMs`. */
  readonly drainMs?: number;
  /** Called each second while it runs; a text ends the run with that reason. */
  readonly watch?: () => Promise<string | null>;
}

export interface ProgramEnd {
  /** null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: Buffer;
  /** The last of it. */
  readonly stderr: string;
  /** Why it was ended, or null if it ended by itself. */
  readonly stopped: string | null;
}

const MOST_OUTPUT_BYTES = 32 * 1024 ** 2;
const MOST_ERROR_CHARS = 16_384;
const WATCH_MS = 1000;
const GRACE_MS = 3000;
/** From the kill to the end of reading: the pipes of the group close by themselves. */
const DRAIN_MS = 1000;

/**
 * Runs it with low priority in a process group of its own, and ends the whole group after it. Its environment is PATH, an empty
 * HOME and `variables`: no secret of the sidecar's environment reaches it.
 *
 * @throws Error if it cannot be started, or if the signal was aborted before
 */
export async function runProgram(call: ProgramCall): Promise<ProgramEnd> {
  call.signal?.throwIfAborted();
  const child = spawn(call.program, call.args, {
    cwd: call.folder,
    env: environmentOf(call),
    stdio: ['pipe', 'pipe', 'pipe', ...(call.channel === undefined ? [] : (['pipe'] as const))],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const run = new Run(child, call);
  return run.end();
}

class Run {
  readonly #child: ChildProcess;
  readonly #call: ProgramCall;
  readonly #group: ProcessGroup | null;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #stderr = '';
  #stopped: string | null = null;
  #kill: NodeJS.Timeout | undefined;
  #drain: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, call: ProgramCall) {
    this.#child = child;
    this.#call = call;
    this.#group = child.pid === undefined ? null : new ProcessGroup(child.pid);
    if (child.pid !== undefined) lowerPriority(child.pid, LOWEST);
    child.stdout?.on('error', () => {});
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#takeError(text));
    this.#feed();
  }

  async end(): Promise<ProgramEnd> {
    const { signal, timeoutMs, watch } = this.#call;
    const onAbort = () => this.#stop('cancelled');
    signal?.addEventListener('abort', onAbort, { once: true });
    const late = setTimeout(() => this.#stop(`ran for longer than ${Math.round(timeoutMs / 1000)} s`), timeoutMs);
    const watching = watch === undefined ? undefined : setInterval(() => this.#look(watch), WATCH_MS);
    try {
      const [code] = await Promise.all([this.#closed(), this.#readOutput()]);
      return { code, stdout: Buffer.concat(this.#chunks), stderr: this.#stderr, stopped: this.#stopped };
    } finally {
      signal?.removeEventListener('abort', onAbort);
      clearTimeout(late);
      clearInterval(watching);
      clearTimeout(this.#kill);
      clearTimeout(this.#drain);
      this.#group?.signal('kill');
      await this.#group?.ended();
    }
  }

  /** The pipes of a process that it left behind would keep `close` waiting. */
  #closed(): Promise<number | null> {
    return new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', () => {
        this.#group?.signal('kill');
        const { drainMs } = this.#call;
        if (drainMs !== undefined) this.#endOutput(drainMs);
      });
      this.#child.once('close', (code) => resolve(code));
    });
  }

  #feed(): void {
    const { input, channel } = this.#call;
    const { stdin, stdio } = this.#child;
    // A program may end before it has read everything.
    stdin?.on('error', () => {});
    if (typeof input === 'function' && stdin !== null) input(stdin);
    else stdin?.end(input);
    const socket = stdio[3] as Duplex | undefined;
    socket?.on('error', () => {});
    if (socket !== undefined && socket !== null) channel?.(socket);
  }

  async #readOutput(): Promise<void> {
    const { output, isLogged, onText } = this.#call;
    const { stdout } = this.#child;
    if (stdout === null) return;
    if (output !== undefined) {
      await output(stdout).catch((error: unknown) => {
        this.#stop('its output was refused');
        stdout.resume();
        throw error;
      });
      return;
    }
    if (isLogged === true) {
      stdout.setEncoding('utf8').on('data', (text: string) => onText?.(text));
      return;
    }
    stdout.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MOST_OUTPUT_BYTES) this.#stop(`wrote more than ${MOST_OUTPUT_BYTES / 1024 ** 2} MiB`);
    else this.#chunks.push(chunk);
  }

  #takeError(text: string): void {
    this.#stderr = (this.#stderr + text).slice(-MOST_ERROR_CHARS);
    this.#call.onText?.(text);
  }

  #look(watch: () => Promise<string | null>): void {
    watch().then(
      (reason) => reason !== null && this.#stop(reason),
      () => {},
    );
  }

  #stop(reason: string): void {
    if (this.#stopped !== null) return;
    this.#stopped = reason;
    this.#group?.signal('terminate');
    this.#kill = setTimeout(() => {
      this.#group?.signal('kill');
      this.#endOutput(DRAIN_MS);
    }, this.#call.graceMs ?? GRACE_MS);
  }

  /** A process that left the group can hold the pipes open for ever. */
  #endOutput(afterMs: number): void {
    this.#drain ??= setTimeout(() => {
      for (const stream of this.#child.stdio) stream?.destroy();
    }, afterMs);
  }
}

function environmentOf({ path, home, variables }: ProgramCall): NodeJS.ProcessEnv {
  const { SystemRoot, COMSPEC, PATHEXT } = process.env;
  // Windows starts no program without these.
  const ofWindows = process.platform === 'win32' ? { SystemRoot, COMSPEC, PATHEXT, USERPROFILE: home } : {};
  return { ...ofWindows, PATH: path, HOME: home, ...variables };
}
