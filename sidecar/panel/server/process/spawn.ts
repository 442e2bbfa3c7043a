import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Duplex, Readable } from 'node:stream';
import { LineSplitter } from '#panel/console/line-splitter.ts';
import { orLate } from '#sidecar/deadline.ts';
import { withGivenUmask } from '#sidecar/owner-only.ts';
import { ChannelMessages } from './channel-messages.ts';
import {
  CHANNEL_FD,
  type GameProcess,
  type GroupSignal,
  type Launch,
  type ProcessExit,
  type ProcessOwner,
  type ProcessReader,
} from './game-process.ts';
import { ProcessGroup } from './group.ts';
import { OutputBrake } from './output-brake.ts';

/** Bound of unread input: the server may not read it. */
const MAX_UNREAD_INPUT_BYTES = 262_144;

/** Longest wait for output that a process outside of the group holds open. */
const DRAIN_MS = 1000;

/** A child whose output can be left unread. */
export interface OwnProcess extends GameProcess {
  /** While it is held nothing of its output is read, and at last the server waits. */
  holdOutput(isHeld: boolean): void;
}

interface OwnChildren extends ProcessOwner {
  start(launch: Launch, environment: NodeJS.ProcessEnv, reader: ProcessReader): OwnProcess;
}

/** Game processes as children of this one. */
export const OWN_CHILDREN: OwnChildren = {
  start: (launch, environment, reader) => new ChildServer(launch, environment, reader),
  adopt(pid, reader) {
    const group = new ProcessGroup(pid);
    void reportEnd(Promise.resolve({ code: null, signal: null, failure: null }), group, reader);
    return { pid, write: () => false, send: () => {}, signal: (signal) => group.signal(signal) };
  },
  keeping: null,
};

class ChildServer implements OwnProcess {
  readonly pid: number | null;
  readonly #group: ProcessGroup | null;
  readonly #child: ChildProcess;
  readonly #channel: Duplex | null;
  readonly #brakes: OutputBrake[] = [];

  constructor(launch: Launch, environment: NodeJS.ProcessEnv, reader: ProcessReader) {
    const options: SpawnOptions = {
      cwd: launch.folder,
      env: environment,
      // Own session and own group: keys pressed in the sidecar's terminal do not reach the server.
      detached: process.platform !== 'win32',
      windowsHide: true,
      // Not Node.js's own channel: its reader keeps a message of any length. On Windows only an overlapped pipe works both ways.
      stdio: ['pipe', 'pipe', 'pipe', ...(launch.hasChannel ? ['overlapped' as const] : [])],
    };
    const child = withGivenUmask(() => spawn(launch.command, [...launch.args], options));
    this.#child = child;
    this.pid = child.pid ?? null;
    this.#group = this.pid === null ? null : new ProcessGroup(this.pid);
    const drained = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.stdin?.on('error', () => {});
    this.#read(child.stdout, 'out', reader);
    this.#read(child.stderr, 'err', reader);
    this.#channel = (child.stdio[CHANNEL_FD] as Duplex | null | undefined) ?? null;
    if (this.#channel !== null) this.#readChannel(this.#channel, reader);
    void reportEnd(exitOf(child, launch.command), this.#group, reader, async () => {
      await orLate(drained, DRAIN_MS, undefined);
      this.#abandonOutput();
    });
  }

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
    this.#group?.signal(signal);
  }

  holdOutput(isHeld: boolean): void {
    for (const brake of this.#brakes) brake.hold(isHeld);
  }

  #abandonOutput(): void {
    for (const brake of this.#brakes) {
      brake.hold(false);
      brake.release();
    }
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#channel?.destroy();
  }

  #read(stream: Readable | null, name: 'out' | 'err', reader: ProcessReader): void {
    if (stream === null) return;
    let lines = 0;
    const splitter = new LineSplitter((text) => {
      lines += 1;
      reader.onOutput(name, text);
    });
    this.#readBraked(stream, (bytes) => {
      lines = 0;
      splitter.write(bytes);
      return lines;
    });
    stream.once('close', () => splitter.end());
  }

  #readChannel(channel: Duplex, { onMessage }: ProcessReader): void {
    const messages = new ChannelMessages(onMessage);
    this.#readBraked(channel, (bytes) => messages.write(bytes));
  }

  /** @param take returns the number of lines read */
  #readBraked(stream: Readable, take: (bytes: Buffer) => number): void {
    const brake = new OutputBrake([stream]);
    this.#brakes.push(brake);
    stream.on('error', () => {});
    stream.on('data', (bytes: Buffer) => brake.note(take(bytes), bytes.length));
    stream.once('close', () => brake.release());
  }
}

/** @param drain ends the reading of output, once nothing of the group writes any more */
async function reportEnd(
  exited: Promise<ProcessExit>,
  group: ProcessGroup | null,
  { onExit, onEnd }: ProcessReader,
  drain: () => Promise<void> = async () => {},
): Promise<void> {
  const exit = await exited;
  onExit(exit, group?.isAlive() ?? false);
  const hasEnded = (await group?.ended()) ?? true;
  await drain();
  onEnd(!hasEnded);
}

function exitOf(child: ChildProcess, command: string): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, failure: null }));
    // For a process that lives, an error only says that a signal or a message has not reached it.
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, failure: launchFault(command, error) });
    });
  });
}

/** Why a program did not start, in words of its configuration. */
function launchFault(command: string, error: NodeJS.ErrnoException): string {
  return error.code === 'ENOENT' ? `the program "${command}" was not found` : error.message;
}
