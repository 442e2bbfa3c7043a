import { PanelError } from '../panel-error.ts';
import { PASSWORD_CHARS, USERNAME } from '../shapes/accounts.ts';
import { isTooLongToRead } from '../typed-text.ts';

/** Normalised user name, or null if the text is no valid name. */
export function usernameOf(name: string): string | null {
  const username = name.toLowerCase();
  return USERNAME.test(username) ? username : null;
}

export function isPassword(password: string): boolean {
  if (isTooLongToRead(password)) return false;
  const length = [...password.normalize('NFC')].length;
  return length >= PASSWORD_CHARS.min && length <= PASSWORD_CHARS.max && password.isWellFormed();
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
