import { expect, onTestFinished } from 'vitest';
import { type ConfigChanges, secretOf } from '../support/config-folder.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { type Answer, SignedClient } from '../support/signed-client.ts';
import { testFolder } from '../support/test-folder.ts';
import { OwnTime } from './own-time.ts';

const COUNTS = 20;
const COUNT_BOUND_MS = 300;
const STOP_BOUND_MS = 15_000;

export interface AttackedSidecar extends SidecarProcess {
  /** Base URL of the panel; empty if the panel is off. */
  readonly panelAddress: string;
}

async function listening(sidecar: SidecarProcess, service: string): Promise<string> {
  const find = () => sidecar.log.find((line) => line.msg === 'listening' && line.service === service);
  await expect.poll(find).toBeDefined();
  return String(find()?.address);
}

/**
 * A real sidecar process with one empty table, `game.things`; ended and removed after the test.
 *
 * @param changes of the configuration; `panel: { enabled: true }` adds the panel
 * @param wrapper a command that becomes the process, such as one that lowers its limits
 */
export async function attackedSidecar(
  changes: ConfigChanges = {},
  wrapper: readonly string[] = [],
): Promise<AttackedSidecar> {
  const folder = testFolder();
  const sidecar = await spawnSidecar(folder, changes, {}, undefined, wrapper);
  onTestFinished(async () => {
    await sidecar.kill();
  });
  const columns = [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'string' },
  ];
  const schema = { tables: [{ name: 'things', primaryKey: ['id'], columns }] };
  await sidecar.client.must('schema.sync', { namespace: 'game', schema });
  const isPanelOn = (changes.panel as { enabled?: boolean } | undefined)?.enabled === true;
  return { ...sidecar, panelAddress: isPanelOn ? await listening(sidecar, 'panel') : '' };
}

/**
 * Asks until the sidecar has had the time: on a busy machine a call may be refused because its time was over. Waits of the
 * sidecar itself count, over all attempts.
 */
export async function askUntilAnswered(client: SignedClient, operation: string, payload: object): Promise<Answer> {
  for (;;) {
    const answer = await client.call(operation, payload);
    if (answer.code !== 'database_timeout') return answer;
  }
}

/** The slow ones of 20 counts, one after the other: as the client saw them, and what of it was the sidecar's own time. */
async function slowCounts(client: SignedClient, time: OwnTime): Promise<{ seenMs: number; ownMs: number }[]> {
  const times: { seenMs: number; ownMs: number }[] = [];
  for (let sent = 0; sent < COUNTS; sent += 1) {
    times.push(
      await time.of(async () => {
        const { status } = await askUntilAnswered(client, 'count', { namespace: 'game', table: 'things' });
        expect(status).toBe(200);
      }),
    );
  }
  return times.filter(({ ownMs }) => ownMs >= COUNT_BOUND_MS);
}

/** While `attack` runs, none of 20 signed counts over one connection takes 300 ms of the sidecar's own time. */
export async function expectServed(
  { address, pid }: Pick<AttackedSidecar, 'address' | 'pid'>,
  attack: () => Promise<unknown>,
): Promise<void> {
  const client = new SignedClient({ address, secret: secretOf('local'), connections: 1 });
  const time = new OwnTime(pid);
  try {
    await slowCounts(client, time);
    const attacked = attack();
    attacked.catch(() => {});
    const slow = await slowCounts(client, time);
    await attacked;
    expect(slow).toEqual([]);
  } finally {
    time.stop();
    await client.close();
  }
}

/**
 * The rule of every attack: while it runs others are served (`expectServed`), and afterwards SIGTERM ends the process with
 * code 0 (`expectEnd`).
 *
 * @param attack sends the attack; its own answers are the caller's to judge
 */
export async function expectUnharmed(sidecar: AttackedSidecar, attack: () => Promise<unknown>): Promise<void> {
  await expectServed(sidecar, attack);
  await expectEnd(sidecar, async () => expect(await sidecar.kill('SIGTERM')).toBe(0));
}

/** The stop takes less than 15 s of the sidecar's own time. */
export async function expectEnd({ pid }: Pick<AttackedSidecar, 'pid'>, stop: () => Promise<unknown>): Promise<void> {
  const time = new OwnTime(pid);
  try {
    const { ownMs } = await time.ofEnd(stop);
    expect(ownMs).toBeLessThan(STOP_BOUND_MS);
  } finally {
    time.stop();
  }
}
