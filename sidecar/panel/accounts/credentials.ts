import { PanelError } from '../panel-error.ts';
import { isTooLongToRead } from '../typed-text.ts';

const USERNAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;
const SHORTEST_PASSWORD = 12;
const LONGEST_PASSWORD = 256;

/** As accounts are called; null where none can be called so. */
export function usernameOf(name: string): string | null {
  const username = name.toLowerCase();
  return USERNAME.test(username) ? username : null;
}

export function isPassword(password: string): boolean {
  if (isTooLongToRead(password)) return false;
  const length = [...password.normalize('NFC')].length;
  return length >= SHORTEST_PASSWORD && length <= LONGEST_PASSWORD && password.isWellFormed();
}

/** @throws PanelError users.username */
export function readUsername(name: string): string {
  const username = usernameOf(name);
  if (username === null) throw new PanelError('users.username', { field: 'username' });
  return username;
}

/** @throws PanelError users.password */
export function readPassword(password: string): string {
  if (!isPassword(password)) throw new PanelError('users.password', { field: 'password' });
  return password;
}
