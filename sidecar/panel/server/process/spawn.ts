import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Duplex, Readable } from 'node:stream';
import { LineSplitter } from '#panel/console/line-splitter.ts';
import { withGivenUmask } from '#sidecar/owner-only.ts';
import { ChannelMessages } from './channel-messages.ts';
import { type GroupSignal, isGroupAlive, signalGroup } from './group.ts';
import { OutputBrake } from './output-brake.ts';

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The server of this house tells and answers over a channel of its own, at the descriptor `CHANNEL_FD`. */
  readonly hasChannel: boolean;
}

export const CHANNEL_FD = 3;

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not even be started; null where it ran. */
  readonly failure: string | null;
}

export interface ProcessEvents {
  readonly onLine: (stream: 'out' | 'err', text: string) => void;
  readonly onMessage: (message: unknown) => void;
}

/** What may wait for a server that does not read its input. */
const MAX_UNREAD_INPUT_BYTES = 262_144;

/** The process of a game server: its group, its lines, its input. Never throws where it has ended meanwhile. */
export class GameProcess {
  /** null: it could not be started. */
  readonly pid: number | null;
  readonly exited: Promise<ProcessExit>;
  /** All that it, and whoever has inherited its output, has written was read. */
  readonly drained: Promise<void>;
  readonly #child: ChildProcess;
  readonly #channel: Duplex | null;
  readonly #brakes: OutputBrake[] = [];

  constructor(launch: Launch, environment: NodeJS.ProcessEnv, events: ProcessEvents) {
    const options: SpawnOptions = {
      cwd: launch.folder,
      env: environment,
      // Of its own session: keys pressed where the sidecar runs are not its business, and its group is its own.
      detached: process.platform !== 'win32',
      windowsHide: true,
      // No channel of Node.js: its reader keeps a message of any length. On Windows only an overlapped pipe goes both ways.
      stdio: ['pipe', 'pipe', 'pipe', ...(launch.hasChannel ? ['overlapped' as const] : [])],
    };
    const child = withGivenUmask(() => spawn(launch.command, [...launch.args], options));
    this.#child = child;
    this.pid = child.pid ?? null;
    this.exited = exitOf(child, launch.command);
    this.drained = new Promise((resolve) => child.once('close', () => resolve()));
    child.stdin?.on('error', () => {});
    this.#read(child.stdout, 'out', events);
    this.#read(child.stderr, 'err', events);
    this.#channel = (child.stdio[CHANNEL_FD] as Duplex | null | undefined) ?? null;
    if (this.#channel !== null) this.#readChannel(this.#channel, events);
  }

  /** Its group may outlive it. */
  get isOver(): boolean {
    return this.pid === null || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Whether it was taken: false where the server has gone, or has left too much unread. */
  write(line: string): boolean {
    const input = this.#child.stdin;
    if (input === null || !input.writable || input.writableLength > MAX_UNREAD_INPUT_BYTES) return false;
    input.write(`${line}\n`);
    return true;
  }

  send(message: object): void {
    const channel = this.#channel;
    if (channel === null || !channel.writable || channel.writableLength > MAX_UNREAD_INPUT_BYTES) return;
    channel.write(`${JSON.stringify(message)}\n`);
  }

  signal(signal: GroupSignal): void {
    if (this.pid !== null) signalGroup(this.pid, signal);
  }

  isGroupAlive(): boolean {
    return this.pid !== null && isGroupAlive(this.pid);
  }

  /** Lets go of output that somebody outside of the group holds open. */
  abandonOutput(): void {
    for (const brake of this.#brakes) brake.release();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#channel?.destroy();
  }

  #read(stream: Readable | null, name: 'out' | 'err', events: ProcessEvents): void {
    if (stream === null) return;
    let lines = 0;
    const splitter = new LineSplitter((text) => {
      lines += 1;
      events.onLine(name, text);
    });
    this.#readBraked(stream, (bytes) => {
      lines = 0;
      splitter.write(bytes);
      return lines;
    });
    stream.once('close', () => splitter.end());
  }

  #readChannel(channel: Duplex, { onMessage }: ProcessEvents): void {
    const messages = new ChannelMessages(onMessage);
    this.#readBraked(channel, (bytes) => messages.write(bytes));
  }

  /** @param take returns how many lines it has read */
  #readBraked(stream: Readable, take: (bytes: Buffer) => number): void {
    const brake = new OutputBrake([stream]);
    this.#brakes.push(brake);
    stream.on('error', () => {});
    stream.on('data', (bytes: Buffer) => brake.note(take(bytes), bytes.length));
    stream.once('close', () => brake.release());
  }
}

function exitOf(child: ChildProcess, command: string): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, failure: null }));
    // Of a process that lives it only says that a signal or a message has not reached it.
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, failure: launchFault(command, error) });
    });
  });
}

/** Why a program did not start, in words of whoever configured it. */
function launchFault(command: string, error: NodeJS.ErrnoException): string {
  return error.code === 'ENOENT' ? `the program "${command}" was not found` : error.message;
}
