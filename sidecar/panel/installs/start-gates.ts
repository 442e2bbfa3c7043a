import { setTimeout as delay } from 'node:timers/promises';
import type { ServerControl } from '../server/control.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { ServerStatus } from '../shapes/server.ts';
import type { BundleDesk } from './bundle-desk.ts';
import { Gate, type Verdict } from './gate.ts';
import type { InstallStore } from './install-store.ts';
import type { GateLines } from './line-watch.ts';
import type { SwitchBook } from './switch-book.ts';
import { namesOf, type SwitchRecord } from './switch-record.ts';

export interface StartGatesOptions {
  readonly settings: PanelSettings;
  readonly store: InstallStore;
  readonly book: SwitchBook;
  readonly desk: BundleDesk;
  readonly server: Pick<ServerControl, 'status' | 'start' | 'forceStop' | 'onStatus' | 'watchStarts'>;
  readonly lines: GateLines;
  /** A line of the panel on the console. */
  readonly say: (text: string) => void;
  /** Called after switches were decided without a job. */
  readonly onDecided: (record: SwitchRecord) => void;
  readonly onTrouble: (error: unknown) => void;
}

export type BadVerdict = Extract<Verdict, { type: 'failed' | 'hung' | 'crashed' }>;

const PANEL = 'The panel';
/** Second look: inside a gate this counts as a hang, whatever the settings say. */
const HANG_MS = 10_000;
const LOOK_MS = 50;
const UP_AGAIN_MS = 30_000;

/**
 * The open gate, of a job or of a start of the server: at each start all that is unproven is watched, and goes back together
 * if that start fails.
 */
export class StartGates {
  readonly #options: StartGatesOptions;
  readonly #end = new AbortController();
  #gate: Gate | null = null;
  #records: readonly SwitchRecord[] = [];
  /** A start has begun that is to be watched from its first status on. */
  #isStarting = false;
  /** Work after a verdict without a job. */
  #settling: Promise<void> = Promise.resolve();

  constructor(options: StartGatesOptions) {
    this.#options = options;
    options.server.watchStarts({
      beforeLaunch: () => this.#beforeStart(),
      hangMs: () => this.#hangMs,
      note: () => this.#note,
    });
    options.server.onStatus((status) => this.#take(status));
  }

  /** Seconds that a new version must run. */
  get gateSeconds(): number {
    return this.#options.settings.values.tools.gateSeconds;
  }

  /** Opens the gate of a job, or of a start. */
  open(records: readonly SwitchRecord[], expected: readonly string[]): Gate {
    const { settings, lines, desk, server } = this.#options;
    const { backend, tools } = settings.values;
    this.#gate?.end();
    this.#records = records;
    const gate = new Gate({
      ...{ backend, lines, expected: backend === 'command' ? [] : expected, gateMs: tools.gateSeconds * 1000 },
      list: () => desk.list(),
      onVerdict: (verdict) => this.#takeVerdict(verdict, records),
    });
    this.#gate = gate;
    gate.take(server.status());
    return gate;
  }

  /** Every status of the server, in the step that makes it. */
  #take(status: ServerStatus): void {
    if (this.#isStarting && (status.state === 'starting' || status.state === 'running')) {
      this.#isStarting = false;
      this.#openStart();
    } else this.#gate?.take(status);
  }

  /** Directly before each launch of the server: what waited for it is put in place. Never throws. */
  #beforeStart(): void {
    const { store, book, onTrouble, say } = this.#options;
    this.#gate?.end();
    this.#isStarting = false;
    try {
      for (const record of store.switches()) {
        if (record.phase === 'taking-back') book.takeBack(record);
        if (record.phase === 'renaming') book.undo(record);
        if (record.phase === 'pending') this.#putWaiting(record);
      }
      this.#isStarting = store.switches().some(({ phase }) => phase === 'unproven');
    } catch (error) {
      say('Bundles that waited for this start could not be put in place; see the log of the panel');
      onTrouble(error);
    }
  }

  get isOpen(): boolean {
    return this.#gate !== null && !this.#gate.isOver;
  }

  /** Limit of the server's silence while a gate is open; null: the setting counts. */
  get #hangMs(): number | null {
    return this.isOpen ? HANG_MS : null;
  }

  /** Open gate in words, for the record of a crash; null if there is none. */
  get #note(): string | null {
    return this.#hangMs === null ? null : `${namesOf(...this.#records)} had just been put in place, and goes back`;
  }

  /** Resolves when no gate of a start is open. */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.#hangMs !== null) await delay(LOOK_MS, undefined, { signal });
    await this.#settling;
  }

  /**
   * Ends a bad verdict: old versions are back, and run. The renames of a crash are done already.
   *
   * @param ran names that run again with them, also if they are stopped now
   */
  async takeBack(
    verdict: BadVerdict,
    records: readonly SwitchRecord[],
    signal: AbortSignal,
    ran: readonly string[] = [],
  ): Promise<void> {
    for (const record of records) this.#options.say(`${namesOf(record)}: taken back, ${verdict.reason}`);
    if (verdict.type === 'failed') await this.#takeBackLive(records, signal, ran);
    if (verdict.type === 'hung') await this.#takeBackHung(records, signal);
    this.#startOnce();
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#gate?.end();
    await this.#settling;
  }

  /** A crash takes back at once, before the server can start again. */
  #takeVerdict(verdict: Verdict, records: readonly SwitchRecord[]): void {
    const { book, onTrouble } = this.#options;
    try {
      if (verdict.type === 'crashed') for (const record of [...records].reverse()) book.takeBack(record);
      if (verdict.type === 'hung') for (const record of records) book.intendToTakeBack(record);
    } catch (error) {
      onTrouble(error);
    }
  }

  #openStart(): void {
    const records = this.#options.store.switches().filter(({ phase }) => phase === 'unproven');
    const bundles = records.flatMap((record) => record.bundles);
    const expected = new Set(bundles.filter(({ autostart }) => autostart).map(({ name }) => name));
    const gate = this.open(records, [...expected]);
    this.#settling = gate.verdict
      .then((verdict) => this.#decide(verdict, records))
      .catch((error) => {
        if (!this.#end.signal.aborted) this.#options.onTrouble(error);
      });
  }

  async #decide(verdict: Verdict, records: readonly SwitchRecord[]): Promise<void> {
    const { book, say, onDecided } = this.#options;
    if (verdict.type === 'ended' || this.#end.signal.aborted) return;
    if (verdict.type === 'kept') {
      for (const record of records) {
        book.keep(record, []);
        say(`${namesOf(record)}: kept`);
      }
    } else await this.takeBack(verdict, [...records].reverse(), this.#end.signal);
    for (const record of records) onDecided(record);
  }

  #putWaiting(record: SwitchRecord): void {
    const { store, book, say, onTrouble } = this.#options;
    try {
      store.saveSwitch({ ...record, phase: 'renaming' });
      book.finishPut(record);
      say(`${namesOf(record)}: put in place before this start`);
    } catch (error) {
      say(`${namesOf(record)}: could not be put in place: ${(error as Error).message}`);
      onTrouble(error);
    }
  }

  async #takeBackLive(records: readonly SwitchRecord[], signal: AbortSignal, ran: readonly string[]): Promise<void> {
    const { desk, book } = this.#options;
    for (const record of records) book.intendToTakeBack(record);
    const names = records.flatMap(({ bundles }) => bundles.map(({ name }) => name));
    const active = await desk.activeWith(names);
    const order = active.map(({ name }) => name);
    await desk.stop(order, 'panel', signal);
    for (const record of records) book.takeBack(record);
    // A bundle without an older version is left stopped, and so is what was stopped before.
    const left = records.flatMap(({ bundles }) => bundles.filter(({ old }) => old === null).map(({ name }) => name));
    const again = [...new Set([...ran, ...order.reverse()])].filter((name) => !left.includes(name));
    desk.start(again, 'panel');
    await desk.areUp(again, UP_AGAIN_MS, signal);
  }

  async #takeBackHung(records: readonly SwitchRecord[], signal: AbortSignal): Promise<void> {
    const { server, book } = this.#options;
    server.forceStop(PANEL);
    while (!isDown(server.status())) await delay(LOOK_MS, undefined, { signal });
    for (const record of records) book.takeBack(record);
    if (server.status().state === 'stopped') server.start(PANEL);
  }

  /** After a taking back the server starts once, also if it does not start by itself after a crash. */
  #startOnce(): void {
    const { state, plan } = this.#options.server.status();
    if (state === 'crashed' && plan === null) this.#options.server.start(PANEL);
  }
}

function isDown({ state }: ServerStatus): boolean {
  return state === 'stopped' || state === 'crashed';
}
