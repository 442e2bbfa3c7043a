import type { BundleInfo } from '#panel/shapes/bundles.ts';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import type { DatabaseHealth } from '#panel/shapes/database.ts';
import type { JobView } from '#panel/shapes/jobs.ts';
import type { NoticeTarget } from '#panel/shapes/notices.ts';
import type { PlannedRestart } from '#panel/shapes/schedule.ts';
import type { ServerStatus } from '#panel/shapes/server.ts';
import { api } from './api.ts';
import { type EndReason, leave, refreshSession, session, setPermissions } from './session.ts';
import { createStore } from './store.ts';

interface EventShapes {
  status: ServerStatus;
  permissions: { readonly permissions: readonly string[] };
  bundles: readonly BundleInfo[];
  job: JobView;
  health: DatabaseHealth;
  schedule: { readonly next: PlannedRestart | null };
  notices: { readonly targets: readonly NoticeTarget[] };
  /** Lines that the panel no longer has, or could not send fast enough: from and to, both among them. */
  gap: { readonly from: number; readonly to: number };
  bye: { readonly reason: EndReason };
}

type Listener<Name extends keyof EventShapes> = (data: EventShapes[Name]) => void;

/** State of the server and of the connection to it, for the whole page. */
interface Live {
  readonly status: ServerStatus | null;
  readonly connection: 'connecting' | 'open' | 'lost';
  /** Null while the database is well. */
  readonly health: DatabaseHealth | null;
}

export const live = createStore<Live>({ status: null, connection: 'connecting', health: null });

const NAMES = [
  'status',
  'console',
  'permissions',
  'bundles',
  'job',
  'health',
  'schedule',
  'notices',
  'gap',
  'bye',
] as const;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;

const listeners = new Map<string, Set<Listener<never>>>();
let source: EventSource | null = null;
let lastSeq = '';
let waitMs = FIRST_WAIT_MS;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Adds a listener to the page's only stream. Returns a function that stops listening, as an effect wants. */
export function onEvent<Name extends keyof EventShapes>(name: Name, listener: Listener<Name>): () => void {
  const known = listeners.get(name) ?? new Set();
  listeners.set(name, known.add(listener as Listener<never>));
  return () => known.delete(listener as Listener<never>);
}

const LINES_WAIT_MS = 16;
const lineListeners = new Set<(lines: readonly ConsoleLine[]) => void>();
let waitingLines: string[] = [];

/** Lines of the console, some at a time: a flood is a few calls a second, not thousands. */
export function onLines(listener: (lines: readonly ConsoleLine[]) => void): () => void {
  lineListeners.add(listener);
  return () => lineListeners.delete(listener);
}

function receiveLine(data: string): void {
  // Lines that nobody looks at are not worth parsing.
  if (lineListeners.size === 0) return;
  if (waitingLines.length === 0) setTimeout(passLines, LINES_WAIT_MS);
  waitingLines.push(data);
}

function passLines(): void {
  const lines = JSON.parse(`[${waitingLines.join()}]`) as ConsoleLine[];
  waitingLines = [];
  for (const listener of [...lineListeners]) listener(lines);
}

function receive(name: (typeof NAMES)[number], event: MessageEvent<string>): void {
  if (event.lastEventId !== '') lastSeq = event.lastEventId;
  if (name === 'console') {
    receiveLine(event.data);
    return;
  }
  // A gap stands behind the lines that came before it.
  if (name === 'gap' && waitingLines.length > 0) passLines();
  const known = listeners.get(name);
  if (known === undefined || known.size === 0) return;
  const data = JSON.parse(event.data) as never;
  for (const listener of [...known]) (listener as (data: never) => void)(data);
}

let statusEvents = 0;

/** Takes the status out of an answer, unless the stream has told a newer one while the answer was on its way. */
export async function takeStatus(answer: Promise<{ readonly status: ServerStatus }>): Promise<void> {
  const before = statusEvents;
  const { status } = await answer;
  if (statusEvents === before) live.set({ status });
}

/** Reads the state that was missed: the stream itself repeats lines only. */
async function catchUp(): Promise<void> {
  await refreshSession();
  await takeStatus(api.get('/api/status'));
}

function opened(): void {
  const wasLost = live.get().connection === 'lost';
  waitMs = FIRST_WAIT_MS;
  // A new stream tells of trouble alone.
  live.set({ connection: 'open', health: null });
  if (wasLost) catchUp().catch(() => {});
}

/** The browser itself tries again where the stream broke; where it was refused, it is tried here, after asking why. */
function failed(): void {
  live.set({ connection: 'lost' });
  if (source?.readyState === EventSource.CLOSED) openLater();
}

function openLater(): void {
  closeSource();
  clearTimeout(timer);
  timer = setTimeout(() => {
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    refreshSession().then(
      () => openEvents(),
      () => openLater(),
    );
  }, waitMs);
}

function closeSource(): void {
  source?.close();
  source = null;
}

export function openEvents(): void {
  if (session.get().phase !== 'signed-in') return;
  closeSource();
  clearTimeout(timer);
  source = new EventSource(lastSeq === '' ? '/api/events' : `/api/events?after=${lastSeq}`);
  source.onopen = opened;
  source.onerror = failed;
  for (const name of NAMES) source.addEventListener(name, (event) => receive(name, event as MessageEvent<string>));
}

/** At sign-out: what one account saw is not kept for the next. */
export function closeEvents(): void {
  closeSource();
  clearTimeout(timer);
  lastSeq = '';
  waitMs = FIRST_WAIT_MS;
  live.set({ status: null, connection: 'connecting', health: null });
}

onEvent('status', (status) => {
  statusEvents += 1;
  live.set({ status });
});
onEvent('health', (health) => {
  const isWell = health.unreachableSince === null && health.queue === 'ok';
  live.set({ health: isWell ? null : health });
});
onEvent('permissions', ({ permissions }) => setPermissions(permissions));
onEvent('bye', ({ reason }) => {
  closeSource();
  if (reason === 'shutdown') {
    live.set({ connection: 'lost' });
    openLater();
  } else void leave(reason);
});
// A network that is gone breaks no stream by itself.
addEventListener('offline', () => {
  if (source === null) return;
  closeSource();
  live.set({ connection: 'lost' });
});
addEventListener('online', () => {
  if (live.get().connection === 'lost') openEvents();
});
