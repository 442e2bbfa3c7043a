import type { DatabaseConfig } from '../config/database.ts';

/** A database for the owner's eyes: where it is, without account and password. */
export function databaseName(database: DatabaseConfig): string {
  if (database.provider === 'sqlite') return `sqlite ${database.file}`;
  return `${database.provider} ${placeOfUrl(database.url)}`;
}

/** Hosts and path of a URL that may name several hosts, as those of MongoDB do. */
export function placeOfUrl(url: string): string {
  // A password may hold any of @ / ? # that nobody has escaped.
  const rest = url.replace(/^[a-z+]+:\/\//i, '').replace(/^.*@/s, '');
  return rest.replace(/[?#].*$/s, '');
}
