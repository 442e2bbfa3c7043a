import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AuditLog } from '#panel/audit/audit-log.ts';
import { openPanelStore, type PanelStore } from '#panel/store/panel-store.ts';
import { testFolder } from '#support/test-folder.ts';

let folder: string;
let store: PanelStore;
let audit: AuditLog;
const trouble: unknown[] = [];

beforeEach(() => {
  folder = testFolder();
  store = openPanelStore(join(folder, 'panel.sqlite'));
  audit = new AuditLog({
    store,
    now: () => 0,
    bounds: { done: 50, refused: 30, ofOne: 10 },
    onTrouble: (error) => trouble.push(error),
  });
});

afterEach(() => {
  store.close();
});

const note = (action: string, result = 'ok') =>
  audit.write({ username: 'owner', action, subject: 'x', address: '127.0.0.1', result });
const actions = () => audit.page(null, 1000).map(({ action }) => action);

it('keeps values of before and after, bounded, for those who ask for them', () => {
  const long = JSON.stringify('x'.repeat(5000));
  const many = Array.from({ length: 40 }, (_, index) => ({ name: `c${index}`, before: '0', after: long }));
  const row = { username: 'owner', action: 'database.row', subject: 'game.players id=1', address: '127.0.0.1' };
  audit.write({ ...row, result: 'ok', changes: [{ name: 'money', before: '4105.65', after: '5000' }] });
  audit.write({ ...row, result: 'ok', changes: many });
  note('settings');
  const [settings, bounded, row1] = audit.page(null, 10, { hasRowValues: true });
  expect(row1?.changes).toEqual([{ name: 'money', before: '4105.65', after: '5000' }]);
  expect(JSON.stringify(bounded?.changes).length).toBeLessThan(4000);
  expect(settings?.changes).toEqual([]);
  expect(JSON.stringify(audit.page(null, 10))).not.toContain('4105.65');
  // A trimmed row takes its values along.
  for (let index = 0; index < 400; index += 1) audit.write({ ...row, result: 'ok', changes: many });
  const kept = store.prepare('SELECT count(*) AS count FROM audit_changes').get() as { count: number };
  expect(kept.count).toBeLessThan(10 + 250);
});

it('is read by person, page after page, with the names of all persons', () => {
  for (const username of ['anna', '', 'ben', 'anna', 'anna']) {
    audit.write({ username, action: 'server.start', subject: '', address: '127.0.0.1', result: 'ok' });
  }
  const [newest, second] = audit.page(null, 2, { username: 'anna' });
  expect([newest?.username, second?.username]).toEqual(['anna', 'anna']);
  expect(audit.page(second?.id ?? 0, 2, { username: 'anna' })).toHaveLength(1);
  expect(audit.page(null, 10, { username: '' })).toHaveLength(1);
  expect(audit.page(null, 10, { username: 'nobody' })).toEqual([]);
  expect(audit.usernames()).toEqual(['', 'anna', 'ben']);
});

it('is bounded, and refusals push out nothing that was done', () => {
  for (let index = 0; index < 100; index += 1) note(`done ${index}`);
  for (let index = 0; index < 2000; index += 1) {
    note(`refused ${index}`, 'permission.missing');
    if (index % 100 === 99) actions();
  }
  const left = actions();
  const done = left.filter((action) => action.startsWith('done'));
  expect(done).toEqual(Array.from({ length: 50 }, (_, index) => `done ${99 - index}`));
  const refusals = left.filter((action) => action.startsWith('refused'));
  expect(refusals[0]).toBe('refused 1999');
  // Rows beyond the bound go every 200 entries.
  expect(refusals.length).toBeLessThan(30 + 300);
});

it('is not emptied by somebody who does something harmless again and again', () => {
  note('users.save');
  for (let index = 0; index < 1000; index += 1) note('settings');
  for (let index = 0; index < 1000; index += 1) {
    note('login', 'login.failed');
    if (index % 100 === 99) actions();
  }
  note('users.save', 'users.grant');
  for (let index = 0; index < 1000; index += 1) {
    note('login', 'rate.limited');
    if (index % 100 === 99) actions();
  }
  expect(actions().filter((action) => action === 'users.save')).toHaveLength(2);
  expect(actions().length).toBeLessThan(30 + 300);
});

it('is read in pages, newest first', () => {
  for (let index = 0; index < 5; index += 1) note(`done ${index}`);
  const [, second] = audit.page(null, 2);
  expect(audit.page(second?.id ?? 0, 2).map(({ action }) => action)).toEqual(['done 2', 'done 1']);
});

it('keeps a subject on one line, and not without end', () => {
  audit.write({
    username: '',
    action: 'x',
    subject: `a\r\n\u001b[31mb\u2028${'c'.repeat(1000)}`,
    address: '',
    result: 'ok',
  });
  const [entry] = audit.page(null, 1);
  expect(entry?.subject).toMatch(/^a \[31mb c+$/);
  expect(entry?.subject).toHaveLength(500);
});

it('writes refusals together, in their place among what was done', () => {
  const rows = () => (store.prepare('SELECT count(*) AS n FROM audit').get() as { n: number }).n;
  note('refused', 'permission.missing');
  expect(rows()).toBe(0);
  note('done');
  expect(rows()).toBe(2);
  expect(actions()).toEqual(['done', 'refused']);
});

it('tells where the disk takes no refusal, and does not end the sidecar', async () => {
  store.exec('DROP TABLE audit');
  note('refused', 'permission.missing');
  await expect.poll(() => trouble).toHaveLength(1);
  note('again', 'permission.missing');
  await expect.poll(() => trouble).toHaveLength(2);
});
