import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Timers } from '../client/timers.ts';
import { environmentOfChild } from './node-version.ts';

/** A sidecar that is asked to stop says at once that it stops. Less than a host gives a stop: the standalone server 3.5 s at least. */
const HUNG_MS = 3000;
/** A sidecar that has said so still writes out what waits. What it cannot write stays in its journal. */
const LONGEST_STOP_MS = 30_000;
/** Its output is closed within this time, unless a program that it has started holds it open. */
const LAST_LINES_MS = 1000;

/** Orders for a start of the sidecar. */
export interface ChildOrders {
  readonly node: string;
  readonly program: string;
  readonly isCheck: boolean;
  /** Absolute. */
  readonly folder: string;
  readonly kid: string;
  /** Goes through standard input alone, where no other process of the machine can read it. */
  readonly secret: string;
}

export interface ChildEvents {
  /** It serves at that address. */
  onListening(address: string): void;
  /** A line for the owner. */
  onLine(line: string): void;
}

/** A run of the sidecar. It ends when its standard input does, so also when this process is gone, however that ended. */
export class SidecarChild {
  /** Resolves, with how it ended, once all its lines have been handed over. */
  readonly ended: Promise<string>;
  readonly #process: ChildProcess;
  #isListening = false;
  #isStopping = false;

  constructor({ node, program, isCheck, folder, kid, secret }: ChildOrders, events: ChildEvents) {
    const args = [program, '--embedded', ...(isCheck ? ['--check'] : [])];
    const child = spawn(node, args, { stdio: 'pipe', windowsHide: true, env: environmentOfChild() });
    this.#process = child;
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => {
        const end = () => resolve(signal === null ? `code ${code}` : `signal ${signal}`);
        child.once('close', end);
        setTimeout(end, LAST_LINES_MS).unref();
      });
    });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
        this.#read(line, events);
      });
    }
    // A sidecar that is gone already is noticed by its end.
    child.stdin.on('error', () => {});
    child.stdin.write(`${JSON.stringify({ folder, kid, secret })}\n`);
  }

  /**
   * Asks it to finish: what runs is answered, what is queued is written. Resolves when it has; a sidecar that hangs is killed.
   *
   * @param onKill gets the reason
   */
  stop(timers: Timers, onKill: (reason: string) => void): Promise<string> {
    const kill = (reason: string) => {
      onKill(reason);
      this.#process.kill('SIGKILL');
    };
    // After a hitch of the game the answer may wait to be read.
    const cancelHung = timers.after(HUNG_MS, () =>
      timers.afterReads(() => {
        if (!this.#isStopping && this.#process.exitCode === null) kill('does not answer');
      }),
    );
    const cancelLong = timers.after(LONGEST_STOP_MS, () => kill(`has not stopped within ${LONGEST_STOP_MS / 1000} s`));
    this.#process.stdin?.end();
    return this.ended.finally(() => {
      cancelHung();
      cancelLong();
    });
  }

  /**
   * It says its address once; for Node's readline a line ends at U+2028 too, so a later one may be text that a client has
   * sent.
   */
  #read(line: string, events: ChildEvents): void {
    const message = messageOf(line);
    if (message.service === 'api' && message.msg === 'listening' && !this.#isListening) {
      this.#isListening = true;
      events.onListening(String(message.address));
    } else if (message.msg === 'stopping') {
      this.#isStopping = true;
    } else {
      events.onLine(`sidecar: ${line.replace(/^sidecar: /, '')}`);
    }
  }
}

/** `{"msg":"listening","service":"api","address":…}` (contract section 1) and `{"msg":"stopping"}`; empty for any other line. */
function messageOf(line: string): Record<string, unknown> {
  if (!line.startsWith('{')) return {};
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}
