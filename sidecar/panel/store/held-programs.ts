import type { PanelStore } from './panel-store.ts';

/** A record or a value of a table, as the panel reads it. */
type Fields = Readonly<Record<string, unknown>>;

/**
 * Turns off all that would run a program without a click: everyone with the right to write where the backups are could have
 * chosen it. Returns a line for each.
 */
export function holdPrograms(store: PanelStore): string[] {
  return store.transaction(() => [...holdStartLine(store), ...holdNotices(store), ...holdStarts(store)])();
}

function holdStartLine(store: PanelStore): string[] {
  const read = store.prepare('SELECT value FROM settings WHERE name = ?').pluck();
  const value = (name: string): unknown => JSON.parse(String(read.get(name) ?? 'null'));
  const [line, isAutomatic] = [value('startLine'), value('autoStartServer') === true];
  const write = store.prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)');
  write.run('startLine', JSON.stringify(''));
  // Also if it was not set: the start of the program may bring another default.
  write.run('autoStartServer', JSON.stringify(false));
  const isSet = typeof line === 'string' && line !== '';
  if (!isSet && !isAutomatic) return [];
  const was = isSet ? `its start line was ${JSON.stringify(line)}` : 'it was started by itself';
  return [
    `held back: the panel does not start the game server; ${was}. If that is right, set it in the panel under Settings (or restore with --keep-start-line)`,
  ];
}

function holdNotices(store: PanelStore): string[] {
  return turnOff(store, 'notice_targets', ({ kind }) => kind === 'command').map(
    ({ name, line }) =>
      `held back: the notice ${JSON.stringify(name)} is off; its program was ${JSON.stringify(line)}. If that is right, turn it on in the panel`,
  );
}

function holdStarts(store: PanelStore): string[] {
  return turnOff(store, 'schedule_entries', ({ action }) => action === 'start').map(
    ({ name }) => `held back: the planned start ${JSON.stringify(name)} is off; turn it on in the panel`,
  );
}

/** Disables the enabled records that match, and returns them. */
function turnOff(store: PanelStore, table: string, matches: (record: Fields) => boolean): Fields[] {
  const rows = store.prepare(`SELECT id, record FROM ${table}`).all() as { id: string; record: string }[];
  const update = store.prepare(`UPDATE ${table} SET record = ? WHERE id = ?`);
  return rows.flatMap(({ id, record }) => {
    const fields = JSON.parse(record) as Fields;
    if (!matches(fields) || fields.enabled === false) return [];
    update.run(JSON.stringify({ ...fields, enabled: false }), id);
    return [fields];
  });
}
