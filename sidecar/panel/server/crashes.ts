import { PanelError } from '../panel-error.ts';
import type { BundleInfo } from '../shapes/bundles.ts';
import type { ConsoleLine } from '../shapes/console.ts';
import type { CrashAction, CrashRecord, CrashSummary } from '../shapes/crashes.ts';
import type { PanelStore } from '../store/panel-store.ts';
import { describeExit } from './run-end.ts';
import type { CrashFacts } from './state.ts';

/** Older records are deleted. */
const MAX_RECORDS = 50;
const MAX_LINES = 500;
const MAX_LINE_CHARS = 4000;
const MAX_LINES_CHARS = 500_000;
const MAX_ACTIONS = 20;
/** Matches `Starting resource shop`, and FXServer's own line for it. */
const STARTING_LINE = /^(?:\S+\s+)?Starting resource ([\w.-]+)/;
const STARTED_LINE = /^(?:\S+\s+)?Started resource ([\w.-]+)/;

export interface Crash extends CrashFacts {
  readonly bundles: readonly BundleInfo[] | null;
  /** As `StartWatch.note` returned it. */
  readonly note: string | null;
}

export interface CrashSources {
  readonly now: () => number;
  readonly latestLines: (count: number) => readonly ConsoleLine[];
  /** The last actions of accounts, the newest first. */
  readonly latestActions: (count: number) => readonly CrashAction[];
  /** Changes since the last good run; null if unknown. */
  readonly changes: () => Promise<readonly string[] | null>;
}

/** Records of crashes. Their lines are the server's output, which any script may have forged. */
export class CrashRecords {
  readonly #store: PanelStore;
  readonly #sources: CrashSources;
  #adding: Promise<unknown> = Promise.resolve();
  #count = 0;

  constructor(store: PanelStore, sources: CrashSources) {
    this.#store = store;
    this.#sources = sources;
  }

  /** Crashes since the panel began. */
  get count(): number {
    return this.#count;
  }

  /** Writes the record at once, and adds the changes since the last good run when they are known. */
  add(crash: Crash): void {
    this.#count += 1;
    const { now, latestLines, latestActions, changes } = this.#sources;
    const at = now();
    const { exit, failure, startedAt, isUp } = crash;
    const summary: Summary = { startedAt, exit, failure, wasUp: isUp };
    const lines = latestLines(MAX_LINES);
    const details: Details = {
      lines: bounded(lines),
      starting: startingOf(crash.bundles, lines),
      actions: latestActions(MAX_ACTIONS),
      changes: null,
      note: crash.note,
    };
    const id = this.#insert(at, summary, details);
    this.#adding = changes()
      .then((found) => found === null || this.#update(id, { ...details, changes: found }))
      .catch(() => {});
  }

  /** null: none. */
  newestId(): string | null {
    const row = this.#store.prepare('SELECT max(id) AS id FROM crashes').get() as { id: number | null };
    return row.id === null ? null : String(row.id);
  }

  /** The newest first. */
  list(): CrashSummary[] {
    const rows = this.#store.prepare('SELECT id, at, summary FROM crashes ORDER BY id DESC').all() as Row[];
    return rows.map(summaryOf);
  }

  /** @throws PanelError `crashes.unknown` */
  get(id: string): CrashRecord {
    if (!/^\d{1,15}$/.test(id)) throw new PanelError('crashes.unknown');
    const row = this.#store.prepare('SELECT id, at, summary, record FROM crashes WHERE id = ?').get(Number(id));
    if (row === undefined) throw new PanelError('crashes.unknown');
    return { ...summaryOf(row as Row), ...(JSON.parse((row as Row).record) as Details) };
  }

  /** Resolves when all is written; the store may be closed then. */
  async settled(): Promise<void> {
    await this.#adding;
  }

  #insert(at: number, summary: Summary, details: Details): number {
    return this.#store.transaction(() => {
      const { lastInsertRowid } = this.#store
        .prepare('INSERT INTO crashes (at, summary, record) VALUES (?, ?, ?)')
        .run(at, JSON.stringify(summary), JSON.stringify(details));
      this.#store
        .prepare('DELETE FROM crashes WHERE id NOT IN (SELECT id FROM crashes ORDER BY id DESC LIMIT ?)')
        .run(MAX_RECORDS);
      return Number(lastInsertRowid);
    })();
  }

  #update(id: number, details: Details): void {
    this.#store.prepare('UPDATE crashes SET record = ? WHERE id = ?').run(JSON.stringify(details), id);
  }
}

type Summary = Omit<CrashSummary, 'id' | 'time'>;
type Details = Omit<CrashRecord, keyof CrashSummary>;

interface Row {
  readonly id: number;
  readonly at: number;
  readonly summary: string;
  readonly record: string;
}

function summaryOf({ id, at, summary }: Row): CrashSummary {
  return { id, time: new Date(at).toISOString(), ...(JSON.parse(summary) as Summary) };
}

/** A server that prints megabytes before it dies must not fill the disk with it again and again. */
function bounded(lines: readonly ConsoleLine[]): ConsoleLine[] {
  const kept: ConsoleLine[] = [];
  let chars = 0;
  for (const line of lines.toReversed()) {
    const text = line.text.slice(0, MAX_LINE_CHARS);
    chars += text.length;
    if (chars > MAX_LINES_CHARS) break;
    kept.push({ ...line, text });
  }
  return kept.reverse();
}

/** Bundles that were starting: as the server reports them, else as its lines say. */
function startingOf(bundles: readonly BundleInfo[] | null, lines: readonly ConsoleLine[]): string[] {
  if (bundles !== null) return bundles.filter(({ state }) => state === 'starting').map(({ name }) => name);
  const starting = new Set<string>();
  for (const { text } of lines) {
    const [, begun] = STARTING_LINE.exec(text) ?? [];
    const [, done] = STARTED_LINE.exec(text) ?? [];
    if (begun !== undefined) starting.add(begun);
    if (done !== undefined) starting.delete(done);
  }
  return [...starting];
}

/** A record as text, for an owner to send to a developer. */
export function describeCrash(crash: CrashRecord): string {
  const { exit, failure, lines, actions, changes, starting, note } = crash;
  return [
    `Crash ${crash.id} of the game server, ${crash.time}`,
    describeExit({ ...exit, failure, isAsked: false }),
    `Started: ${crash.startedAt ?? 'not known'}${crash.wasUp ? '' : '; it had not come up yet'}`,
    ...(note === null || note === undefined ? [] : [`New versions: ${note}`]),
    `Bundles that were starting: ${starting.join(', ') || 'none'}`,
    ...section('Changed since the last good run', changes === null ? ['not known'] : changes),
    ...section(
      'Last actions of accounts (newest first)',
      actions.map(({ time, username, action, subject, result }) => [time, username, action, subject, result].join(' ')),
    ),
    ...section(
      'Last lines of the console',
      lines.map(({ seq, time, stream, text }) => `${seq} ${time} ${stream} ${text}`),
    ),
    '',
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', `${title}:`, ...(lines.length === 0 ? ['none'] : lines).map((line) => `  ${line}`)];
}
