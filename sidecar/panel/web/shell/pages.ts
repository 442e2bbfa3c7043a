import type { ComponentType } from 'preact';
import { TOOL_PERMISSIONS } from '#panel/shapes/bundle-tools.ts';
import type { Permission } from '#panel/shapes/permissions.ts';
import type { Backend } from '#panel/shapes/server.ts';
import type { IconName } from '../components/icon.tsx';
import { type TextKey, useTexts } from '../core/i18n.ts';

export interface PageEntry {
  /** First part of the address. */
  readonly name: string;
  readonly label: TextKey;
  readonly icon: IconName;
  /** Any of these opens the page; empty: every signed-in account. */
  readonly anyOf: readonly Permission[];
  /** Read when it is first opened. */
  readonly load: () => Promise<ComponentType>;
  /** Kinds of servers whose owners need it in the navigation; left out: all. */
  readonly backends?: readonly Backend[];
}

/** All pages, in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  {
    name: 'overview',
    label: 'overview.title',
    icon: 'overview',
    anyOf: [],
    load: async () => (await import('../overview/overview-page.tsx')).OverviewPage,
  },
  {
    name: 'console',
    label: 'console.title',
    icon: 'console',
    anyOf: ['console.read'],
    load: async () => (await import('../console/console-page.tsx')).ConsolePage,
  },
  {
    name: 'players',
    label: 'common.players',
    icon: 'players',
    anyOf: ['console.read'],
    load: async () => {
      await useTexts('tools');
      return (await import('../players/players-page.tsx')).PlayersPage;
    },
    backends: ['fxserver'],
  },
  {
    name: 'bundles',
    label: 'bundles.title',
    icon: 'bundles',
    anyOf: ['bundles.read'],
    load: async () => (await import('../bundles/bundles-page.tsx')).BundlesPage,
  },
  {
    name: 'tools',
    label: 'common.tools',
    icon: 'tools',
    anyOf: TOOL_PERMISSIONS,
    load: async () => {
      await useTexts('tools');
      return (await import('../tools/tools-page.tsx')).ToolsPage;
    },
  },
  {
    name: 'logs',
    label: 'logs.title',
    icon: 'logs',
    anyOf: ['logs.read', 'console.read'],
    load: async () => (await import('../logs/logs-page.tsx')).LogsPage,
  },
  {
    name: 'database',
    label: 'database.title',
    icon: 'database',
    anyOf: ['database.read'],
    load: async () => (await import('../database/database-page.tsx')).DatabasePage,
  },
  {
    name: 'backups',
    label: 'common.backups',
    icon: 'backups',
    anyOf: ['backups.read'],
    load: async () => {
      await useTexts('tools');
      return (await import('../backups/backups-page.tsx')).BackupsPage;
    },
  },
  {
    name: 'settings',
    label: 'settings.title',
    icon: 'settings',
    anyOf: [],
    load: async () => (await import('../settings/settings-page.tsx')).SettingsPage,
  },
  {
    name: 'accounts',
    label: 'accounts.title',
    icon: 'accounts',
    anyOf: ['users.manage'],
    load: async () => (await import('../accounts/accounts-page.tsx')).AccountsPage,
  },
  {
    name: 'updates',
    label: 'common.updates',
    icon: 'download',
    anyOf: ['settings.write'],
    load: async () => {
      await useTexts('tools');
      return (await import('../updates/updates-page.tsx')).UpdatesPage;
    },
  },
];

/** Whether the navigation has it; null: the kind of the server is not known yet. */
export function isListed({ backends }: PageEntry, backend: Backend | null): boolean {
  return backends === undefined || (backend !== null && backends.includes(backend));
}

export function isOpenTo(page: PageEntry, permissions: ReadonlySet<string>): boolean {
  return page.anyOf.length === 0 || page.anyOf.some((permission) => permissions.has(permission));
}
