import type { GroupSignal, ProcessReader } from '#panel/server/process/game-process.ts';
import { OWN_CHILDREN, type OwnProcess } from '#panel/server/process/spawn.ts';
import type { ServerNews, ToKeeper, ToSidecar } from './channel/messages.ts';
import { NewsBacklog } from './news-backlog.ts';

const RETRY_INPUT_MS = 100;
const MAX_WAITING_LINES = 1000;
/** Kinds of messages of the server whose latest is repeated for the next sidecar. */
const MAX_KINDS = 8;

type Start = Extract<ToKeeper, { type: 'start' }>;
type Send = (message: ToSidecar) => void;

/** The game server with its group and pipes. Outlives the sidecars that drive it, one after another. */
export class HeldServer {
  readonly #backlog = new NewsBacklog();
  readonly #latest = new Map<string, unknown>();
  #process: OwnProcess | null = null;
  /** Until its end is taken. */
  #pid: number | null = null;
  #send: Send | null = null;
  #isIgnored = false;
  #waitingLines: string[] = [];
  #retrying: NodeJS.Timeout | undefined;
  #isHeld = false;

  /** Process id of the server, until its end is stored by a sidecar; null without one. */
  get pid(): number | null {
    return this.#pid;
  }

  /** @param send to the sidecar that asks for the start */
  start({ run, launch, environment }: Start, send: Send): void {
    // News of a start that failed, and that no sidecar took.
    if (this.#pid === null) this.#backlog.clear();
    this.#latest.clear();
    this.#waitingLines = [];
    this.#send = send;
    try {
      this.#process = OWN_CHILDREN.start(launch, environment, this.#reader());
    } catch (error) {
      send({ type: 'refused', run, reason: error instanceof Error ? error.message : String(error) });
      return;
    }
    this.#pid = this.#process.pid;
    if (this.#pid !== null) send({ type: 'started', run, pid: this.#pid });
  }

  /** Begins to send news: first those that no sidecar has taken. */
  attach(send: Send): void {
    this.#isIgnored = false;
    this.#send = send;
    this.#backlog.rewind();
    for (const message of this.#latest.values()) send({ type: 'message', message });
    this.#pump();
  }

  /** The sidecar is gone, or reads nothing more: news wait. */
  detach(): void {
    this.#send = null;
  }

  /** No part of the sidecar reads the server's output, so that it must not fill its pipe. */
  ignore(): void {
    this.#isIgnored = true;
    this.#backlog.dropLines();
    this.#brake();
  }

  take(last: number): void {
    this.#backlog.take(last);
    if (this.#process === null && this.#backlog.isEmpty) this.#pid = null;
    this.#brake();
    this.#pump();
  }

  write(line: string): void {
    if (this.#waitingLines.length > 0 || this.#process?.write(line) === false) this.#keepLine(line);
  }

  send(message: object): void {
    this.#process?.send(message);
  }

  signal(signal: GroupSignal): void {
    this.#process?.signal(signal);
  }

  #reader(): ProcessReader {
    return {
      onStart: () => {},
      onOutput: (stream, text) => this.#add({ type: 'line', time: new Date().toISOString(), stream, text }),
      onMessage: (message) => this.#takeMessage(message),
      onExit: (exit, hasMembers) => {
        this.#add({ type: 'exit', exit, hasMembers });
        // The little that is left in its pipes is read before they close.
        this.#process?.holdOutput(false);
      },
      onEnd: (isLeftOver) => {
        this.#process = null;
        clearTimeout(this.#retrying);
        this.#add({ type: 'end', isLeftOver });
      },
    };
  }

  #add(news: ServerNews): void {
    if (this.#isIgnored && news.type === 'line') return;
    this.#backlog.add(news);
    this.#pump();
    this.#brake();
  }

  #pump(): void {
    const send = this.#send;
    if (send === null) return;
    for (let batch = this.#backlog.nextBatch(); batch !== null; batch = this.#backlog.nextBatch()) {
      send({ type: 'news', ...batch });
    }
  }

  #brake(): void {
    if (this.#backlog.isFull === this.#isHeld) return;
    this.#isHeld = this.#backlog.isFull;
    this.#process?.holdOutput(this.#isHeld);
  }

  #takeMessage(message: unknown): void {
    const kind = (message as { type?: unknown } | null)?.type;
    if (typeof kind === 'string' && (this.#latest.has(kind) || this.#latest.size < MAX_KINDS)) {
      this.#latest.set(kind, message);
    }
    this.#send?.({ type: 'message', message });
  }

  /** The server reads too slowly: the line is tried again, and the sidecar takes no more until then. */
  #keepLine(line: string): void {
    if (this.#waitingLines.length >= MAX_WAITING_LINES) return;
    this.#waitingLines.push(line);
    if (this.#waitingLines.length > 1) return;
    this.#send?.({ type: 'input', isFull: true });
    this.#retry();
  }

  #retry(): void {
    this.#retrying = setTimeout(() => {
      while (this.#waitingLines.length > 0 && this.#process?.write(this.#waitingLines[0] as string) === true) {
        this.#waitingLines.shift();
      }
      if (this.#process === null) this.#waitingLines = [];
      if (this.#waitingLines.length > 0) this.#retry();
      else this.#send?.({ type: 'input', isFull: false });
    }, RETRY_INPUT_MS);
  }
}
