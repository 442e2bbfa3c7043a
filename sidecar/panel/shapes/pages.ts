import type { Permission } from './permissions.ts';

/** Pages of the panel and what each needs: one of these permissions, or only an account. */
export const PAGES = {
  overview: [],
  console: ['console.read'],
  players: ['console.read'],
  bundles: ['bundles.read'],
  logs: ['logs.read', 'console.read'],
  database: ['database.read'],
  backups: ['backups.read'],
  // Everybody chooses the language there.
  settings: [],
  accounts: ['users.manage'],
  audit: ['users.manage'],
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

export type PageName = keyof typeof PAGES;

export function pagesOf(permissions: ReadonlySet<Permission>): PageName[] {
  const names = Object.keys(PAGES) as PageName[];
  return names.filter((name) => PAGES[name].length === 0 || PAGES[name].some((needed) => permissions.has(needed)));
}
