import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AuditLog } from '../../../sidecar/panel/audit/audit-log.ts';
import { openPanelStore, type PanelStore } from '../../../sidecar/panel/store/panel-store.ts';
import { newFolder } from '../../support/config-folder.ts';

let folder: string;
let store: PanelStore;
let audit: AuditLog;

beforeEach(() => {
  folder = newFolder();
  store = openPanelStore(join(folder, 'panel.sqlite'));
  audit = new AuditLog(store, () => 0, { done: 5, refused: 3 });
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const note = (action: string, result = 'ok') =>
  audit.write({ username: 'owner', action, subject: 'x', address: '127.0.0.1', result });
const actions = () => audit.page(null, 1000).map(({ action }) => action);

it('is bounded, and refusals push out nothing that was done', () => {
  for (let index = 0; index < 10; index += 1) note(`done ${index}`);
  for (let index = 0; index < 990; index += 1) note(`refused ${index}`, 'permission.missing');
  expect(actions()).toEqual([
    ...['refused 989', 'refused 988', 'refused 987'],
    ...['done 9', 'done 8', 'done 7', 'done 6', 'done 5'],
  ]);
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
