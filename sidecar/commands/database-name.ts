import type { DatabaseConfig } from '../config/database.ts';

/** A database for the owner's eyes: where it is, without account and password. */
export function databaseName(database: DatabaseConfig): string {
  if (database.provider === 'sqlite') return `sqlite ${database.file}`;
  return `${database.provider} ${placeOfUrl(database.url)}`;
}

/** Hosts and path of a URL that may name several hosts, as those of MongoDB do. */
export function placeOfUrl(url: string): string {
  const rest = url.replace(/^[a-z+]+:\/\//i, '').replace(/[?#].*$/s, '');
  const path = rest.indexOf('/');
  const authority = path === -1 ? rest : rest.slice(0, path);
  // A password may hold an @ that nobody has escaped.
  return `${authority.slice(authority.lastIndexOf('@') + 1)}${path === -1 ? '' : rest.slice(path)}`;
}
