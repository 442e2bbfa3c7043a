import type { KeeperLink } from '#sidecar/keeper/channel/keeper-link.ts';
import type { ServerNews } from '#sidecar/keeper/channel/messages.ts';
import type { GameProcess, GroupSignal, Launch, ProcessKeeping, ProcessOwner, ProcessReader } from './game-process.ts';
import { OWN_CHILDREN } from './spawn.ts';

/** Console of the panel, as far as lines must not get lost between two sidecars. */
export interface LineStore {
  /** Resolves when the lines so far are in the file. */
  drain(): Promise<void>;
  /** Whether an earlier sidecar stored this line; each stored line counts once. */
  wasStored(line: Extract<ServerNews, { type: 'line' }>): boolean;
}

/** Game processes of the keeper, which outlive this sidecar. */
export class KeptProcesses implements ProcessOwner {
  readonly keeping: ProcessKeeping;
  readonly #link: KeeperLink;
  readonly #lines: LineStore;
  #current: KeptServer | null = null;
  #runs = 0;
  #storing: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(link: KeeperLink, lines: LineStore) {
    this.#link = link;
    this.#lines = lines;
    const { isResumed, note, serverPid } = link.hello;
    this.keeping = {
      ...{ isResumed, note, heldPid: serverPid },
      resume: (pid, reader) => this.#resume(pid, reader),
      keep: (text) => link.send({ type: 'note', text }),
      letGo: async () => {
        this.#isOver = true;
        await this.#storing;
      },
    };
    link.on('started', ({ run, pid }) => this.#of(run)?.begin(pid));
    link.on('refused', ({ run, reason }) => this.#of(run)?.refuse(reason));
    link.on('news', ({ news, isAgain, last }) => this.#take(news, isAgain, last));
    link.on('message', ({ message }) => this.#current?.reader.onMessage(message));
    link.on('input', ({ isFull }) => this.#current?.setFull(isFull));
  }

  start(launch: Launch, environment: NodeJS.ProcessEnv, reader: ProcessReader): GameProcess {
    this.#runs += 1;
    this.#current = new KeptServer(this.#link, this.#runs, null, reader);
    this.#link.send({ type: 'start', run: this.#runs, launch, environment });
    return this.#current;
  }

  /** A group that a killed keeper has left is no child of this one. */
  adopt(pid: number, reader: ProcessReader): GameProcess {
    return OWN_CHILDREN.adopt(pid, reader);
  }

  #resume(pid: number, reader: ProcessReader): GameProcess {
    this.#runs += 1;
    this.#current = new KeptServer(this.#link, this.#runs, pid, reader);
    // Not before the caller has what this returns.
    setImmediate(() => this.#link.send({ type: 'attach' }));
    return this.#current;
  }

  #of(run: number): KeptServer | null {
    return this.#current?.run === run ? this.#current : null;
  }

  #take(news: readonly ServerNews[], isAgain: boolean, last: number): void {
    if (this.#isOver) return;
    for (const entry of news) {
      if (entry.type === 'line' && isAgain && this.#lines.wasStored(entry)) continue;
      this.#current?.take(entry);
    }
    this.#storing = this.#storing.then(() => this.#lines.drain()).then(() => this.#link.send({ type: 'taken', last }));
  }
}

class KeptServer implements GameProcess {
  pid: number | null;
  readonly run: number;
  readonly reader: ProcessReader;
  readonly #link: KeeperLink;
  #hasEnded = false;
  #isFull = false;

  constructor(link: KeeperLink, run: number, pid: number | null, reader: ProcessReader) {
    this.#link = link;
    this.run = run;
    this.pid = pid;
    this.reader = reader;
  }

  write(line: string): boolean {
    if (this.#hasEnded || this.#isFull) return false;
    this.#link.send({ type: 'write', line });
    return true;
  }

  send(message: object): void {
    if (!this.#hasEnded) this.#link.send({ type: 'send', message });
  }

  signal(signal: GroupSignal): void {
    this.#link.send({ type: 'signal', signal });
  }

  begin(pid: number): void {
    this.pid = pid;
    this.reader.onStart(pid);
  }

  refuse(reason: string): void {
    this.#hasEnded = true;
    this.reader.onExit({ code: null, signal: null, failure: reason }, false);
    this.reader.onEnd(false);
  }

  setFull(isFull: boolean): void {
    this.#isFull = isFull;
  }

  take(news: ServerNews): void {
    switch (news.type) {
      case 'line':
        this.reader.onOutput(news.stream, news.text, news.time);
        break;
      case 'exit':
        this.#hasEnded = true;
        this.reader.onExit(news.exit, news.hasMembers);
        break;
      case 'end':
        this.reader.onEnd(news.isLeftOver);
        break;
      default:
        news satisfies never;
    }
  }
}
