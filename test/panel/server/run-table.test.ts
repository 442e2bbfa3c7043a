import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PanelError } from '#panel/panel-error.ts';
import { ServerControl } from '#panel/server/control.ts';
import type { ProcessExit, ProcessOwner } from '#panel/server/process/game-process.ts';
import { TABLE_SETTINGS } from './run-table-settings.ts';

/**
 * The table (state, event) → (state, effects) of the server control, held in `run-table.jsonl`, a row a line. It was made from the running
 * code: `npx vitest run --project sidecar -u` on this file makes it again.
 */

const fake = { effects: [] as string[], exit: (_: ProcessExit) => {} };

const processes: ProcessOwner = {
  keeping: null,
  start(_launch, _environment, { onExit, onEnd }) {
    fake.effects.push('spawn');
    const exited = new Promise<ProcessExit>((resolve) => {
      fake.exit = resolve;
    });
    // After the event's own turn, as the end of a real process.
    void exited.then((exit) =>
      process.nextTick(() => {
        onExit(exit, false);
        onEnd(false);
      }),
    );
    return {
      pid: 4711,
      write: (line) => fake.effects.push(`write ${line}`) > 0,
      send: () => {},
      signal: (signal) => void fake.effects.push(`signal ${signal}`),
    };
  },
  adopt() {
    throw new Error('no group is left in this table');
  },
};

function newRig() {
  const listeners: ((values: object, before: object) => void)[] = [];
  const settings = {
    values: TABLE_SETTINGS,
    onChange: (listener: (values: object, before: object) => void) => listeners.push(listener),
  };
  const change = (changes: object) => {
    const before = settings.values;
    settings.values = { ...before, ...changes };
    for (const listener of listeners) listener(settings.values, before);
  };
  const say = (stream: string, text: string) => void fake.effects.push(`${stream}: ${text}`);
  const memory = { isEmpty: true, note: async () => {}, forget: () => {}, findLeftGroup: async () => null };
  const control = new ServerControl({
    settings,
    memory,
    processes,
    console: { beginRun: () => {}, append: say },
    crashes: { add: () => void fake.effects.push('crash record') },
    standalone: { program: '', vfs: null },
    environment: {},
    secretVariables: new Set(),
    now: Date.now,
  } as unknown as ConstructorParameters<typeof ServerControl>[0]);
  return { control, change };
}

type Rig = ReturnType<typeof newRig>;
type Act = (rig: Rig) => unknown;

const exits = (exit: Partial<ProcessExit>) => () => fake.exit({ code: null, signal: null, failure: null, ...exit });
const waits = (ms: number) => () => vi.advanceTimersByTimeAsync(ms);
const EVENTS: Readonly<Record<string, Act>> = {
  start: ({ control }) => control.start('anna'),
  stop: ({ control }) => control.stop('anna'),
  restart: ({ control }) => control.restart('anna'),
  forceStop: ({ control }) => control.forceStop('anna'),
  'type a line': ({ control }) => control.sendCommand('say hi', 'anna'),
  'type the stop line': ({ control }) => control.sendCommand('quit', 'anna'),
  'exits with 0': exits({ code: 0 }),
  'exits with 1': exits({ code: 1 }),
  'killed by SIGKILL': exits({ signal: 'SIGKILL' }),
  'could not be started': exits({ failure: 'no such program' }),
  '1 s passes': waits(1000),
  '20 s pass': waits(20_000),
  '30 s pass': waits(30_000),
  'autostart off': ({ change }) => change({ autoStartServer: false }),
  'immediate stops': ({ change }) => change({ shutdownMode: 'immediate' }),
  'hung servers restart': ({ change }) => change({ restartHungServer: true }),
  open: ({ control }) => control.open(),
  close: ({ control }) => void control.close(),
};

const pick = (...names: string[]): Act[] => names.map((name) => EVENTS[name] as Act);
const crash = pick('exits with 1');
const again = pick('20 s pass', '30 s pass', '30 s pass', 'exits with 1');
const STATES: Readonly<Record<string, readonly Act[]>> = {
  stopped: [],
  starting: [({ control }) => control.start('anna')],
  running: pick('start', '1 s passes'),
  asked: pick('start', '1 s passes', 'stop'),
  terminated: pick('start', '1 s passes', 'stop', '20 s pass'),
  killed: pick('start', '1 s passes', 'stop', '30 s pass'),
  'restarting, asked': pick('start', '1 s passes', 'restart'),
  'restarting, killed': pick('start', '1 s passes', 'restart', '30 s pass'),
  'restarting, starting': [...pick('start', '1 s passes', 'restart', 'exits with 0'), waits(0)],
  'stop line typed': pick('start', '1 s passes', 'type the stop line'),
  'stopped after a stop': pick('start', '1 s passes', 'stop', 'exits with 0', '1 s passes'),
  'crashed, to start': [...pick('start', '1 s passes'), ...crash, waits(0)],
  'crashed, stays': [...pick('start', '1 s passes', 'autostart off'), ...crash, waits(0)],
  'crashed too often': [
    ...pick('start', '1 s passes'),
    ...crash,
    ...again,
    ...again,
    ...again,
    ...again,
    ...again,
    waits(0),
  ],
  hung: pick('start', '1 s passes', '30 s pass', '30 s pass', '20 s pass'),
  closing: pick('start', '1 s passes', 'close'),
  closed: pick('close'),
};

beforeEach(() => {
  vi.useFakeTimers({
    now: Date.UTC(2026, 0, 1),
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance', 'Date'],
  });
});

afterEach(() => {
  vi.useRealTimers();
});

async function rowOf(path: readonly Act[], event: Act): Promise<object> {
  vi.setSystemTime(Date.UTC(2026, 0, 1));
  vi.clearAllTimers();
  fake.effects = [];
  const rig = newRig();
  // `starting` is left at once: nothing may run between its start and the event.
  for (const act of path) await act(rig);
  const isSettled = path !== STATES.starting;
  if (isSettled) await vi.advanceTimersByTimeAsync(0);
  const before = rig.control.status();
  fake.effects = [];
  let answer = 'accepted';
  try {
    await event(rig);
  } catch (error) {
    if (!(error instanceof PanelError)) throw error;
    answer = error.key;
  }
  const at = rig.control.status();
  // Timers of this instant and promises; longest look at a group.
  await vi.advanceTimersByTimeAsync(200);
  const after = rig.control.status();
  const isSame = JSON.stringify(at) === JSON.stringify(after);
  return { before, answer, effects: fake.effects, at, ...(!isSame && { after }) };
}

it('goes from each state by each event as the table says', async () => {
  const rows: string[] = [];
  for (const [state, path] of Object.entries(STATES)) {
    for (const [event, act] of Object.entries(EVENTS)) {
      rows.push(JSON.stringify({ state, event, ...(await rowOf(path, act)) }));
    }
  }
  await expect(`${rows.join('\n')}\n`).toMatchFileSnapshot('run-table.jsonl');
});
