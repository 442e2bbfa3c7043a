import type { ToKeeper, UpdateEnd, UpdateOrder } from './channel/messages.ts';
import { HeldServer } from './held-server.ts';
import type { KeeperTimes } from './keeper-times.ts';
import type { Choice, Release, ReleaseChoice, Trial } from './release-choice.ts';
import { SidecarChild } from './sidecar-child.ts';
import { TrialWatch } from './trial-watch.ts';

export interface KeeperOptions {
  readonly choice: ReleaseChoice;
  /** Arguments of each sidecar. */
  readonly args: readonly string[];
  /** Number of the channel. */
  readonly channel: number;
  readonly times: KeeperTimes;
  /** Writes a line of the keeper's own. */
  readonly say: (level: 'info' | 'warn' | 'error', text: string, fields?: object) => void;
}

/** Reason of a trial that an earlier keeper did not finish. */
const KEEPER_ENDED = 'the keeper ended before it was proven';

/**
 * Starts the sidecar of the chosen release, starts it again if it ends, and holds the game server meanwhile. A change of the
 * release is a trial first: written down, proven, then committed, or else taken back.
 */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly #server = new HeldServer();
  readonly #ended = Promise.withResolvers<number>();
  #child: SidecarChild | null = null;
  #watch: TrialWatch | null = null;
  #note: string | null = null;
  #startedAt = 0;
  #pauseMs: number;
  #wasReady = false;
  /** Why the running sidecar is about to end. */
  #ending: 'stop' | 'update' | string | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** Ends of the sidecar by itself since the last commit, on the monotonic clock. */
  #ends: number[] = [];

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#pauseMs = options.times.pauseMs.first;
  }

  /** Runs until it is stopped, or until a sidecar cannot be started. Resolves with the exit code. */
  run(): Promise<number> {
    const { trial } = this.#options.choice.choice;
    if (trial !== null) this.#takeBack(trial, KEEPER_ENDED, []);
    this.#start();
    return this.#ended.promise;
  }

  /** The first call ends in order, the second at once. */
  stop(): void {
    if (this.#ending === 'stop') this.#endAtOnce();
    else this.#beginStop();
  }

  #beginStop(): void {
    if (this.#ending === 'stop') return;
    this.#ending = 'stop';
    clearTimeout(this.#timer);
    this.#watch?.stop();
    if (this.#child === null) this.#end(0);
    else this.#child.send({ type: 'stop' });
  }

  #endAtOnce(): void {
    this.#child?.kill();
    this.#end(1);
  }

  #end(code: number): void {
    // A sidecar that stops in order has ended its server; after any other end nothing may be left of it.
    this.#server.signal('kill');
    this.#ended.resolve(code);
  }

  get #release(): Release {
    const { trial, chosen } = this.#options.choice.choice;
    return trial === null ? chosen : trial.to;
  }

  #start(): void {
    const { choice, args } = this.#options;
    const child: SidecarChild = new SidecarChild(choice.programOf(this.#release), args, {
      onMessage: (message) => {
        if (this.#child === child) this.#take(child, message);
      },
      onExit: (code, signal) => {
        if (this.#child === child) this.#takeExit(child, code, signal);
      },
    });
    this.#child = child;
    this.#startedAt = performance.now();
    const { program, trial, last, previous } = choice.choice;
    child.send({
      ...{
        type: 'hello',
        channel: this.#options.channel,
        program,
        release: this.#release,
        trial: trial?.id ?? null,
        last,
      },
      ...(previous === undefined ? {} : { previous }),
      ...{ isResumed: this.#wasReady, note: this.#note, serverPid: this.#server.pid },
    });
    if (trial !== null) this.#watch = this.#newWatch(child, trial);
  }

  #newWatch(child: SidecarChild, trial: Trial): TrialWatch {
    return new TrialWatch(this.#options.times, {
      ask: (id) => child.send({ type: 'ask', id }),
      onProven: () => this.#commit(child, trial),
      onFailed: (reason) => {
        this.#ending = reason;
        child.kill();
      },
    });
  }

  #take(child: SidecarChild, message: ToKeeper): void {
    switch (message.type) {
      case 'start':
        this.#server.start(message, (answer) => child.send(answer));
        break;
      case 'attach':
        this.#server.attach((news) => child.send(news));
        break;
      case 'ignore':
        // A release on trial that cannot read them is taken back, and the one before it wants them.
        if (this.#watch === null) this.#server.ignore();
        break;
      case 'taken':
        this.#server.take(message.last);
        break;
      case 'write':
        this.#server.write(message.line);
        break;
      case 'send':
        this.#server.send(message.message);
        break;
      case 'signal':
        this.#server.signal(message.signal);
        break;
      case 'note':
        this.#note = message.text;
        break;
      case 'ready':
        this.#wasReady = true;
        this.#watch?.noteReady();
        break;
      case 'answer':
        this.#watch?.noteAnswer(message.id, message.isWell);
        break;
      case 'apply':
        this.#apply(child, message.update);
        break;
      case 'stop':
        this.#beginStop();
        break;
      default:
        message satisfies never;
    }
  }

  #apply(child: SidecarChild, update: UpdateOrder): void {
    const { choice, times, say } = this.#options;
    if (this.#ending !== null || choice.choice.trial !== null) return;
    try {
      choice.change({ trial: { ...update, from: choice.choice.chosen } });
    } catch (error) {
      child.send({ type: 'notApplied', reason: error instanceof Error ? error.message : String(error) });
      return;
    }
    this.#ending = 'update';
    say('info', 'another release is tried', { release: update.to });
    this.#timer = setTimeout(() => child.kill(), times.letGoMs);
    child.send({ type: 'go' });
  }

  #commit(child: SidecarChild, trial: Trial): void {
    const { id, from, to, raises } = trial;
    const last: UpdateEnd = { id, from, to, outcome: 'committed', reason: '', lines: [], at: new Date().toISOString() };
    this.#keep({ ...this.#options.choice.choice, chosen: to, previous: from, raises, trial: null, last });
    this.#watch = null;
    this.#ends = [];
    this.#options.say('info', 'the release is committed', { release: to });
    child.send({ type: 'committed', end: last });
  }

  #takeBack({ id, from, to }: Pick<Trial, 'id' | 'from' | 'to'>, reason: string, lines: readonly string[]): void {
    const at = new Date().toISOString();
    const last: UpdateEnd = { id, from, to, outcome: 'takenBack', reason, lines, at };
    const { previous: _, ...kept } = this.#options.choice.choice;
    this.#keep({ ...kept, chosen: from, raises: false, trial: null, last });
    this.#options.say('error', 'the release did not come up; the one before it runs again', { release: to, reason });
  }

  /** A disk that is full must not end the keeper, and the server with it. */
  #keep(choice: Choice): void {
    try {
      this.#options.choice.replace(choice);
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      this.#options.say('error', 'the choice of the release could not be written', { cause });
    }
  }

  #takeExit(child: SidecarChild, code: number | null, signal: string | null): void {
    const ending = this.#ending;
    this.#child = null;
    this.#server.detach();
    clearTimeout(this.#timer);
    this.#watch?.stop();
    this.#watch = null;
    if (ending === 'stop') {
      this.#end(code ?? 1);
      return;
    }
    this.#ending = null;
    const how = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
    const { trial } = this.#options.choice.choice;
    if (ending === 'update') this.#start();
    else if (trial !== null) {
      this.#takeBack(trial, ending ?? how, child.tail.lines());
      this.#start();
    } else this.#takeOwnEnd(child, code, how);
  }

  /** A sidecar that no order has ended. */
  #takeOwnEnd(child: SidecarChild, code: number | null, how: string): void {
    // As `main.js` alone: a configuration with a fault is told, and not tried again.
    if (!this.#wasReady) this.#end(code ?? 1);
    else if (this.#isToGoBack()) {
      const { last, previous = null, chosen } = this.#options.choice.choice;
      const { count, withinMs } = this.#options.times.ends;
      const reason = `${how}, ${count} times within ${Math.round(withinMs / 60_000)} minutes`;
      this.#takeBack({ id: last?.id ?? '', from: previous, to: chosen }, reason, child.tail.lines());
      this.#start();
    } else this.#startAgain(how);
  }

  #startAgain(how: string): void {
    const { first, longest, steady } = this.#options.times.pauseMs;
    if (performance.now() - this.#startedAt > steady) this.#pauseMs = first;
    this.#options.say('error', 'the sidecar ended; it starts again', { how, pauseMs: this.#pauseMs });
    this.#timer = setTimeout(() => this.#start(), this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, longest);
  }

  /** Whether the committed release has ended by itself too often. */
  #isToGoBack(): boolean {
    const { count, withinMs } = this.#options.times.ends;
    const now = performance.now();
    this.#ends = [...this.#ends.filter((at) => at > now - withinMs), now];
    const { previous, raises, last } = this.#options.choice.choice;
    const isRecent = last?.outcome === 'committed' && Date.now() - Date.parse(last.at) < withinMs;
    return this.#ends.length >= count && isRecent && previous !== undefined && !raises;
  }
}
