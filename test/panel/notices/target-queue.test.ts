import { describe, expect, it } from 'vitest';
import type { Delivery } from '#panel/notices/delivery/delivery.ts';
import type { UnsentNotice } from '#panel/notices/notice.ts';
import { TargetQueue } from '#panel/notices/target-queue.ts';
import type { QuietHours } from '#panel/shapes/notices.ts';

/** A queue whose two clocks the test moves, and a target that answers as it is told. */

const OK: Delivery = { delivered: true, status: 200, ms: 1, answer: '', error: null, retryAfterMs: null };
const START = Date.parse('2031-06-01T12:00:00.000Z');

function failing(status: number, retryAfterMs: number | null = null): Delivery {
  return { ...OK, delivered: false, status, error: 'status', retryAfterMs };
}

function rig({ quiet = null }: { readonly quiet?: QuietHours | null } = {}) {
  const time = { ms: 0 };
  const sent: { readonly at: number; readonly notice: UnsentNotice }[] = [];
  const dropped: string[] = [];
  const days: number[] = [];
  const answers: Delivery[] = [];
  let always: Delivery = OK;
  const queue = new TargetQueue({
    quiet,
    deliver: async (notice) => {
      sent.push({ at: time.ms, notice });
      return answers.shift() ?? always;
    },
    digestOf: (events) => notice('digest', { data: { events } }),
    onDropped: ({ event, count }, cause) => dropped.push(`${event} ${count} ${cause}`),
    onFailingDay: () => days.push(time.ms),
    now: () => START + time.ms,
    monotonicNow: () => time.ms,
  });
  function notice(event: string, changes: Partial<UnsentNotice> = {}): UnsentNotice {
    const at = new Date(START + time.ms).toISOString();
    const who = { panel: 'Town', server: 'Town RP', title: event, text: '' };
    return {
      version: 1,
      id: `${event} ${time.ms}`,
      event,
      level: 'info',
      time: at,
      firstTime: at,
      count: 1,
      ...who,
      data: {},
      story: [],
      since: null,
      ...changes,
    };
  }
  /** Moves both clocks by seconds, and looks each half second, as the panel does. */
  const pass = async (seconds: number) => {
    for (let step = 0; step < seconds * 2; step += 1) {
      time.ms += 500;
      queue.look();
      await Promise.resolve();
      await Promise.resolve();
    }
  };
  const always_ = (answer: Delivery) => {
    always = answer;
  };
  return {
    queue,
    time,
    sent,
    dropped,
    days,
    answers,
    notice,
    pass,
    always: always_,
    tell: (event: string, changes?: Partial<UnsentNotice>) => queue.tell(notice(event, changes)),
  };
}

describe('a series of one event', () => {
  it('is one notice at once, and one of all that follows within 30 seconds at their end', async () => {
    const { tell, pass, sent } = rig();
    tell('server.crashed');
    await pass(2);
    expect(sent.map(({ notice }) => notice.count)).toEqual([1]);
    for (let crash = 0; crash < 5; crash += 1) {
      tell('server.crashed', { text: `crash ${crash}` });
      await pass(2);
    }
    expect(sent).toHaveLength(1);
    await pass(20);
    const [, rest] = sent;
    expect(sent).toHaveLength(2);
    expect(rest?.notice).toMatchObject({
      count: 5,
      text: 'crash 4',
      firstTime: '2031-06-01T12:00:02.000Z',
      time: '2031-06-01T12:00:10.000Z',
    });
    expect(rest?.at).toBe(30_000 + 0);
  });

  it('of another event goes its own way', async () => {
    const { tell, pass, sent } = rig();
    tell('server.crashed');
    tell('backup.failed');
    await pass(2);
    expect(sent.map(({ notice }) => notice.event)).toEqual(['server.crashed', 'backup.failed']);
  });
});

describe('a target that does not take a notice', () => {
  it('is asked again after 5, 15, 60, 300 and each 900 seconds, for an hour, with the same notice', async () => {
    const { tell, pass, sent, always, dropped } = rig();
    always(failing(503));
    tell('server.crashed');
    await pass(2 * 3600);
    const waits = sent.map(({ at }, index) => (at - (sent[index - 1]?.at ?? 0)) / 1000).slice(1);
    expect(waits).toEqual([5, 15, 60, 300, 900, 900, 900, 900]);
    expect(new Set(sent.map(({ notice }) => notice.id)).size).toBe(1);
    expect(dropped).toEqual(['server.crashed 1 status 503']);
  });

  it.each([400, 401, 403, 404, 410])('is not asked again after %i', async (status) => {
    const { tell, pass, sent, always, dropped } = rig();
    always(failing(status));
    tell('server.crashed');
    await pass(600);
    expect(sent).toHaveLength(1);
    expect(dropped).toHaveLength(1);
  });

  it.each([408, 425, 429, 500, 502])('is asked again after %i', async (status) => {
    const { tell, pass, sent, answers, queue } = rig();
    answers.push(failing(status));
    tell('server.crashed');
    await pass(10);
    expect(sent).toHaveLength(2);
    expect(queue.state).toMatchObject({
      waiting: 0,
      dropped: 0,
      lastError: null,
      lastOkAt: '2031-06-01T12:00:05.500Z',
    });
  });

  it('decides how long to wait', async () => {
    const { tell, pass, sent, answers } = rig();
    answers.push(failing(429, 42_000));
    tell('server.crashed');
    await pass(60);
    expect(sent.map(({ at }) => at)).toEqual([500, 42_500]);
  });

  it('is told of once a day', async () => {
    const { tell, pass, always, days } = rig();
    always(failing(500));
    for (let hour = 0; hour < 50; hour += 1) {
      tell('server.crashed');
      await pass(3600);
    }
    expect(days).toHaveLength(2);
  });
});

describe('many notices', () => {
  it('go one at a time, 20 a minute', async () => {
    const { tell, pass, sent } = rig();
    for (let event = 0; event < 50; event += 1) tell(`event ${event}`);
    await pass(59);
    expect(sent).toHaveLength(20);
    await pass(121);
    expect(sent.map(({ notice }) => notice.event)).toEqual(Array.from({ length: 50 }, (_, event) => `event ${event}`));
  });

  it('wait up to 200, and the oldest are dropped', async () => {
    const { tell, pass, always, dropped, queue } = rig();
    always(failing(503));
    for (let event = 0; event < 230; event += 1) tell(`event ${event}`);
    await pass(1);
    expect(queue.state.waiting).toBe(200);
    expect(dropped).toHaveLength(30);
    expect(dropped[0]).toBe('event 0 1 more than 200 wait');
  });
});

describe('quiet hours', () => {
  const quiet: QuietHours = { from: '14:30', to: '16:00', timeZone: 'Europe/Berlin', errors: true };

  it('let errors through, and tell the rest at their end in one notice', async () => {
    const { tell, pass, sent } = rig({ quiet });
    await pass(1800);
    tell('backup.made');
    await pass(60);
    tell('backup.made');
    tell('server.crashed', { level: 'error' });
    await pass(60);
    expect(sent.map(({ notice }) => notice.event)).toEqual(['server.crashed']);
    await pass(5280);
    expect(sent).toHaveLength(2);
    expect(sent[1]?.notice).toMatchObject({
      event: 'digest',
      data: {
        events: [
          { event: 'backup.made', count: 2, firstTime: '2031-06-01T12:30:00.000Z', time: '2031-06-01T12:31:00.000Z' },
        ],
      },
    });
    expect(sent[1]?.at).toBe(Date.parse('2031-06-01T14:00:00Z') - START);
  });

  it('hold errors too if the owner wants that', async () => {
    const { tell, pass, sent } = rig({ quiet: { ...quiet, from: '22:00', to: '14:30', errors: false } });
    tell('server.crashed', { level: 'error' });
    await pass(1799);
    expect(sent).toEqual([]);
    await pass(1);
    expect(sent.map(({ notice }) => notice.event)).toEqual(['digest']);
  });
});
