import { afterEach, describe, expect, it } from 'vitest';
import type { WriteBufferHealth } from '#sidecar/data/write-queue.ts';
import type { ApiOptions } from '#sidecar/start-api.ts';
import { IDLE_ENGINE, startTestApi, type TestApi } from '../support/api.ts';

const DATABASE = {
  provider: 'sqlite',
  database: true,
  capabilities: { transactions: true, filterableJson: true },
};

const WELL: WriteBufferHealth = {
  enabled: true,
  pending: 3,
  oldestAgeSeconds: 1,
  halted: false,
  deadLetters: 2,
  available: true,
};
const AWAY: ApiOptions['engine'] = { ...IDLE_ENGINE, ping: () => Promise.reject(new Error('away')) };

const NOW = 1_790_000_000_999;

let api: TestApi | null = null;
afterEach(async () => {
  await api?.stop();
  api = null;
});

async function healthWith(writeBuffer: WriteBufferHealth | undefined, engine = IDLE_ENGINE): Promise<object> {
  api = await startTestApi({ engine, now: () => NOW, writeBuffer: { health: () => writeBuffer, gauges: [] } });
  const { time, ...health } = await api.client.must('health');
  expect(time).toBe(Math.floor(NOW / 1000));
  return health;
}

describe('health with write-behind', () => {
  const rows: readonly (readonly [what: string, changes: Partial<WriteBufferHealth>, status: string])[] = [
    ['what waits is no fault, nor are dead letters', {}, 'ok'],
    ['a halted queue is', { halted: true }, 'degraded'],
    ['a journal that cannot be written is', { available: false }, 'degraded'],
  ];
  it.each(rows)('%s', async (_what, changes, status) => {
    const writeBuffer = { ...WELL, ...changes };
    expect(await healthWith(writeBuffer)).toEqual({ ...DATABASE, status, writeBuffer });
  });

  it('is degraded without its database, and tells what waits', async () => {
    expect(await healthWith(WELL, AWAY)).toMatchObject({ status: 'degraded', database: false, writeBuffer: WELL });
  });

  it('says nothing of it where it is off', async () => {
    expect(await healthWith(undefined)).toEqual({ ...DATABASE, status: 'ok' });
  });

  it('the metrics have its figures', async () => {
    const gauge = { name: 'sidecar_write_buffer_pending', help: 'h', type: 'gauge', read: () => 7 } as const;
    api = await startTestApi({ writeBuffer: { health: () => WELL, gauges: [gauge] } });
    expect(await api.metric('sidecar_write_buffer_pending')).toBe(7);
  });
});
