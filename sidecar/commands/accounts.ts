import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { ConfigError } from '../config/config-error.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import { type Account, AccountStore, inOrder } from '../panel/accounts/account-store.ts';
import { usernameOf } from '../panel/accounts/credentials.ts';
import { PasswordHasher } from '../panel/accounts/password-hasher.ts';
import { Sessions } from '../panel/accounts/sessions.ts';
import { AuditLog } from '../panel/audit/audit-log.ts';
import { FactorStore } from '../panel/second-factor/factor-store.ts';
import { openPanelStore, type PanelStore } from '../panel/store/panel-store.ts';
import { Tokens } from '../panel/tokens/tokens.ts';
import { UsageError } from './arguments.ts';
import type { CommandIo } from './command-process.ts';
import { alignedLines } from './lines.ts';

const USAGE = 'expected: accounts list, accounts new-password NAME, or accounts reset-second-factor NAME';

/**
 * `accounts list|new-password NAME|reset-second-factor NAME`: for the owner who is locked out of the panel, beside a running sidecar. A user who
 * may read `panel.sqlite` could change it anyway.
 */
export async function runAccounts(
  words: readonly string[],
  { panel }: Pick<SidecarConfig, 'panel'>,
  io: CommandIo,
): Promise<boolean> {
  const [action, name, ...rest] = words;
  const isList = action === 'list' && name === undefined;
  const isPassword = action === 'new-password' && name !== undefined && rest.length === 0;
  const isFactor = action === 'reset-second-factor' && name !== undefined && rest.length === 0;
  if (!isList && !isPassword && !isFactor) throw new UsageError(USAGE);
  if (!existsSync(panel.data)) throw new ConfigError(`the panel has no accounts yet: there is no ${panel.data}`);
  const store = openPanelStore(panel.data);
  try {
    const rows = new AccountStore(store);
    if (isList) return list(rows.all(), io);
    if (isFactor) return resetFactor(store, rows, name ?? '', io);
    return await givePassword(store, rows, name ?? '', io);
  } finally {
    store.close();
  }
}

function list(accounts: readonly Account[], io: CommandIo): boolean {
  const shown = accounts.map(({ username, enabled, permissions }) => ({
    ...{ username, enabled },
    permissions: inOrder(permissions),
  }));
  if (!io.isForPeople) for (const account of shown) io.print(JSON.stringify(account));
  else {
    const cells = shown.map(({ username, enabled, permissions }) => [
      ...[username, enabled ? 'yes' : 'no', permissions.includes('users.manage') ? 'yes' : 'no'],
      String(permissions.length),
    ]);
    const header = ['name', 'enabled', 'manages accounts', 'permissions'];
    for (const line of alignedLines(header, cells, ['permissions'])) io.print(line);
  }
  return true;
}

/** Shown once; it ends the account's sessions and lets it in again if it was disabled. */
async function givePassword(store: PanelStore, rows: AccountStore, name: string, io: CommandIo): Promise<boolean> {
  const username = usernameOf(name);
  if (username === null || rows.byName(username) === null) {
    io.printError(`there is no account ${name}; accounts list shows them`);
    return false;
  }
  const password = randomBytes(15).toString('base64url');
  const hash = await new PasswordHasher().hash(password, 'command line');
  const audit = new AuditLog({ store, now: Date.now, onTrouble: () => {} });
  const sessions = new Sessions(store, Date.now, (work) => work());
  const tokens = new Tokens({
    store,
    accounts: rows,
    now: Date.now,
    monotonicNow: Date.now,
    attempt: (work) => work(),
  });
  rows.atomically(() => {
    const account = rows.byName(username);
    if (account === null) return;
    rows.update({ ...account, password: hash, enabled: true });
    sessions.endOfAccount(account.id);
    tokens.endOfAccount(account.id);
    const subject = `${username} (password)${account.enabled ? '' : ' (enabled)'}`;
    audit.write({ username: '', action: 'users.save', subject, address: 'command line', result: 'ok' });
  });
  sessions.close();
  tokens.close();
  io.print(io.isForPeople ? `new password of ${username}: ${password}` : JSON.stringify({ username, password }));
  return true;
}

/** For the owner whose phone is lost, and the recovery codes with it. Ends the account's sessions. */
function resetFactor(store: PanelStore, rows: AccountStore, name: string, io: CommandIo): boolean {
  const username = usernameOf(name);
  const account = username === null ? null : rows.byName(username);
  if (account === null) {
    io.printError(`there is no account ${name}; accounts list shows them`);
    return false;
  }
  const audit = new AuditLog({ store, now: Date.now, onTrouble: () => {} });
  const sessions = new Sessions(store, Date.now, (work) => work());
  const isRemoved = rows.atomically(() => {
    if (!new FactorStore(store).remove(account.id)) return false;
    sessions.endOfAccount(account.id);
    audit.write({
      ...{ username: '', action: 'users.second-factor.reset', subject: account.username },
      ...{ address: 'command line', result: 'ok' },
    });
    return true;
  });
  sessions.close();
  if (!isRemoved) io.printError(`${account.username} has no second factor`);
  else if (io.isForPeople)
    io.print(`${account.username} signs in with the password alone, until it sets a second factor`);
  else io.print(JSON.stringify({ username: account.username, secondFactor: false }));
  return isRemoved;
}
