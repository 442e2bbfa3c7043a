import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { MessageChannel } from './channel/message-channel.ts';
import { KEEPER_FD, KEEPER_VARIABLE, type ToKeeper, type ToSidecar } from './channel/messages.ts';
import { DescriptorStream } from './descriptor-stream.ts';
import { OutputTail } from './output-tail.ts';

export interface ChildReader {
  readonly onMessage: (message: ToKeeper) => void;
  readonly onExit: (code: number | null, signal: string | null) => void;
}

const [OUT, ERR] = [new DescriptorStream(1), new DescriptorStream(2)];

/** A running sidecar, the child of the keeper. Its input is the keeper's own; its output passes through. */
export class SidecarChild {
  readonly tail = new OutputTail();
  readonly #child: ChildProcess;
  readonly #channel: MessageChannel<ToKeeper, ToSidecar>;

  constructor(program: string, args: readonly string[], { onMessage, onExit }: ChildReader) {
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, [KEEPER_VARIABLE]: String(KEEPER_FD) },
      stdio: ['inherit', 'pipe', 'pipe', 'overlapped'],
      windowsHide: true,
    });
    this.#child = child;
    this.#channel = new MessageChannel(child.stdio[KEEPER_FD] as Duplex, { onMessage, onClose: () => {} });
    for (const [from, to] of [[child.stdout, OUT] as const, [child.stderr, ERR] as const]) {
      from?.on('data', (bytes: Buffer) => this.tail.add(bytes));
      from?.pipe(to, { end: false });
    }
    child.once('error', () => onExit(null, null));
    // Not `exit`: its last lines belong to its end.
    child.once('close', onExit);
  }

  send(message: ToSidecar): void {
    this.#channel.send(message);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/** A line of the keeper's own, among those of the sidecar. */
export function writeLine(line: string): void {
  OUT.write(`${line}\n`);
}

/** Resolves when all output has been written, or its reader takes too long. */
export async function drainOutput(waitMs: number): Promise<void> {
  const giveUpAt = performance.now() + waitMs;
  while ((OUT.writableLength > 0 || ERR.writableLength > 0) && performance.now() < giveUpAt) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
