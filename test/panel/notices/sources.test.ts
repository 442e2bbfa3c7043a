import { mkdirSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { UpkeepNews } from '#panel/notices/news/upkeep-news.ts';
import type { News } from '#panel/notices/news.ts';
import { whyNoSmallDisk } from '#scripts/servers/small-disk.ts';
import { itIf } from '#support/it-if.ts';
import { testFolder } from '#support/test-folder.ts';
import { openSmallDisk } from '../../faults/small-journal-disk.ts';
import { openAuthenticator } from '../support/authenticator.ts';
import { NoticeReceiver } from '../support/notice-receiver.ts';
import { type PanelClient, startTestPanel } from '../support/panel.ts';
import { newReleaseKey } from '../support/releases.ts';
import { smallRelease } from '../support/small-release.ts';

/** News by their real sources: a disk that fills up, an inbox that releases are put into, accounts that are changed. */

const noDisk = await whyNoSmallDisk();
const key = newReleaseKey();
let receiver: NoticeReceiver;
beforeAll(async () => {
  receiver = await NoticeReceiver.start();
});
afterAll(() => receiver.stop());

/** Fills the disk of the folder until the share is left. */
function leave(folder: string, share: number): void {
  const filler = join(folder, 'filler');
  rmSync(filler, { force: true });
  const { bavail, blocks, bsize } = statfsSync(folder);
  writeFileSync(filler, Buffer.alloc(Math.max(0, Math.ceil(bavail - blocks * share) * bsize)));
}

let ahead = 0;
/** The files of SQLite are beside the data folder: SQLite opens nothing by the way that leads to the small disk. */
const start = (folder = testFolder()) =>
  startTestPanel({
    folder,
    config: {
      database: { file: join(folder, 'database.sqlite') },
      panel: {
        data: join(folder, 'panel.sqlite'),
        notices: { privateHosts: ['127.0.0.1'] },
        updates: { keys: [key.publicKey] },
      },
    },
    ...{ now: () => Date.now() + ahead, monotonicNow: () => performance.now() + ahead },
  });
const follow = async (owner: PanelClient, event: string) => {
  const target = { name: event, kind: 'webhook', url: receiver.url(), ca: receiver.ca, events: [event] };
  expect((await owner.post('/api/notices/save', target)).status).toBe(200);
};
const dataOf = (event: string) => receiver.of(event).map(({ body }) => body.data);

itIf(noDisk, 'a disk that is nearly full is told once, and again only if it had room between', async () => {
  const disk = await openSmallDisk();
  onTestFinished(() => disk.close());
  const told: News[] = [];
  const upkeep = new UpkeepNews({
    ...{ folder: disk.seen, certificate: null, endingKeys: [], deadLetters: () => 0 },
    ...{ tell: (news) => void told.push(news), now: Date.now },
  });
  const toldAt = async (share: number) => {
    leave(disk.seen, share);
    await upkeep.look();
    return told.splice(0).map(({ event }) => event);
  };
  expect(await toldAt(0.11)).toEqual([]);
  leave(disk.seen, 0.09);
  await upkeep.look();
  const { bavail, blocks, bsize } = statfsSync(disk.seen);
  const data = { folder: disk.seen, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  expect(told.splice(0)).toMatchObject([{ event: 'disk.low', data, facts: [disk.seen, '2 MiB (8 %)'] }]);
  expect(await toldAt(0.05)).toEqual([]);
  expect(await toldAt(0.11)).toEqual([]);
  expect(await toldAt(0.09)).toEqual([]);
  expect(await toldAt(0.5)).toEqual([]);
  expect(await toldAt(0)).toEqual(['disk.low']);
});

itIf(noDisk, 'a panel whose disk is nearly full says so when it begins', async () => {
  const disk = await openSmallDisk();
  onTestFinished(() => disk.close());
  const folder = testFolder();
  symlinkSync(disk.seen, join(folder, 'data'));
  let panel = await start(folder);
  await panel.panel.begin();
  await follow(await panel.owner(), 'disk.low');
  await panel.stop();
  leave(disk.seen, 0.07);
  panel = await start(folder);
  onTestFinished(() => panel.stop());
  await panel.panel.begin();
  await expect.poll(() => dataOf('disk.low')).toMatchObject([{ folder: join(folder, 'data') }]);
});

it('a release in the inbox is told once, over restarts too, and so is each newer one', async () => {
  let panel = await start();
  onTestFinished(() => panel.stop());
  await panel.panel.begin();
  let owner = await panel.owner();
  await follow(owner, 'update.available');
  const inbox = join(panel.folder, 'data/updates/inbox');
  mkdirSync(inbox, { recursive: true });
  const check = async (manifest: object | null) => {
    if (manifest !== null) writeFileSync(join(inbox, 'release.zip'), smallRelease(key, { manifest: { ...manifest } }));
    // Windows of earlier notices are over.
    ahead += 60_000;
    await owner.post('/api/updates/check');
    const stateOf = async () => (await owner.get<{ status: { state: string } }>('/api/updates')).body.status.state;
    await expect.poll(stateOf).toBe('succeeded');
  };
  const told = () => expect.poll(() => dataOf('update.available'));
  await check({ version: '0.0.1' });
  await check({ version: '9.3.0-beta.1', channel: 'beta' });
  await check({ version: '9.1.0' });
  await told().toEqual([{ version: '9.1.0' }]);
  await check(null);
  const { folder } = panel;
  await panel.stop();
  panel = await start(folder);
  await panel.panel.begin();
  owner = await panel.owner();
  await check(null);
  await check({ version: '9.2.0' });
  await told().toEqual([{ version: '9.1.0' }, { version: '9.2.0' }]);
});

it('changes of accounts say who made which, once they are made', async () => {
  const panel = await start();
  onTestFinished(() => panel.stop());
  await panel.panel.begin();
  const owner = await panel.owner();
  await follow(owner, 'account.changed');
  const codeAt = await openAuthenticator();
  const { secondFactors, accounts } = panel.services;
  const told: object[] = [];
  const expectTold = async (work: () => unknown, username: string, by: string, changes: readonly string[]) => {
    ahead += 60_000;
    await work();
    told.push({ username, by, changes });
    await expect.poll(() => dataOf('account.changed'), { timeout: 10_000 }).toEqual(told);
  };
  const change = (draft: object) => () => owner.post('/api/users/save', { username: 'kim', ...draft });
  const draft = { create: true, password: 'a long password of kim', permissions: ['logs.read'] };
  await expectTold(change(draft), 'kim', 'owner', ['(new)', '+logs.read']);
  expect((await owner.post('/api/users/save', { username: 'kim', permissions: ['logs.read'] })).status).toBe(200);
  expect((await owner.post('/api/users/save', { username: 'kim', permissions: ['none'] })).status).toBe(400);
  const words = ['(password)', '(disabled)', '+console.read', '-logs.read'];
  const next = { password: 'another password of kim', enabled: false, permissions: ['console.read'] };
  await expectTold(change(next), 'kim', 'owner', words);
  const id = accounts.idOf('kim');
  const setFactor = () => {
    const { secret } = secondFactors.begin({ id, username: 'kim' });
    secondFactors.confirm(id, codeAt(secret, Date.now() + ahead));
  };
  await expectTold(setFactor, 'kim', 'kim', ['+secondFactor']);
  const reset = () => owner.post('/api/users/second-factor/reset', { username: 'kim' });
  await expectTold(reset, 'kim', 'owner', ['-secondFactor']);
  await expectTold(() => owner.post('/api/users/delete', { username: 'kim' }), 'kim', 'owner', ['(deleted)']);
});
