import { plainText } from '../../console/line-text.ts';
import type { ConsoleLine } from '../../shapes/console.ts';
import type { ServerStatus } from '../../shapes/server.ts';
import type { News } from '../news.ts';

const LINES = 10;
const MAX_LINE_CHARS = 300;

export interface ServerNewsOptions {
  readonly status: ServerStatus;
  /** Latest lines of the console. */
  readonly lines: (count: number) => readonly ConsoleLine[];
  /** Id of the newest crash record; null: none. */
  readonly newestCrash: () => string | null;
  readonly tell: (news: News) => void;
}

/** Tells news of the game server, out of its states one after another. */
export class ServerNews {
  readonly #options: ServerNewsOptions;
  #before: ServerStatus;
  /** Account that acted last, until its deed is told; empty: the panel. */
  #by = '';
  #isComingBack = false;

  constructor(options: ServerNewsOptions) {
    this.#options = options;
    this.#before = options.status;
  }

  acted(username: string): void {
    this.#by = username;
  }

  follow(status: ServerStatus): void {
    const before = this.#before;
    this.#before = status;
    if (status.hungSince !== null && before.hungSince === null) {
      this.#options.tell({ event: 'server.hung', facts: [status.hungSince], data: { since: status.hungSince } });
    }
    if (status.state !== before.state) this.#followState(status, before);
    if (status.gaveUp !== null && before.gaveUp === null) {
      const facts = [status.failure ?? ''];
      this.#options.tell({ event: 'server.gaveUp', facts, data: { reason: status.gaveUp }, story: facts });
    }
    if (status.plan?.steps.some(({ action }) => action === 'start') === true) this.#isComingBack = true;
  }

  #followState(status: ServerStatus, before: ServerStatus): void {
    switch (status.state) {
      case 'running':
        // A run that outlived the panel before this one did not start now.
        if (before.state === 'starting') this.#tellUp();
        this.#isComingBack = false;
        return;
      case 'stopped':
        if (before.state !== 'crashed') this.#tellOfOne('server.stopped', before.startedAt);
        this.#isComingBack = false;
        return;
      case 'crashed':
        this.#isComingBack = false;
        this.#tellCrash(status, before.startedAt);
        return;
      default:
    }
  }

  #tellUp(): void {
    this.#tellOfOne(this.#isComingBack ? 'server.restarted' : 'server.started', null);
  }

  #tellOfOne(event: News['event'], since: string | null): void {
    const by = this.#by;
    this.#by = '';
    this.#options.tell({ event, facts: [by], data: { by }, since });
  }

  #tellCrash({ exit, failure }: ServerStatus, since: string | null): void {
    this.#by = '';
    const lines = this.#options.lines(LINES).map(({ text }) => cut(plainText(text)));
    const how = exit?.signal ?? (exit?.code == null ? '' : `exit code ${exit.code}`);
    this.#options.tell({
      ...{ event: 'server.crashed', facts: [failure ?? how, ...lines], since },
      data: { crash: this.#options.newestCrash(), exit, lines },
      story: [failure ?? '', ...lines],
    });
  }
}

function cut(text: string): string {
  const clean = text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ').toWellFormed();
  return clean.length <= MAX_LINE_CHARS ? clean : `${clean.slice(0, MAX_LINE_CHARS - 1).toWellFormed()}…`;
}
