/** Permissions of an account (panel contract, "Values"). The browser shows them in this order. */
export const PERMISSIONS = [
  'server.start',
  'server.stop',
  'server.restart',
  'server.force-stop',
  'console.read',
  'console.write',
  'logs.read',
  'players.kick',
  'settings.write',
  'users.manage',
  'database.read',
  'database.write',
  'backups.read',
  'backups.make',
  'backups.restore',
  'bundles.read',
  'bundles.start',
  'bundles.stop',
  'bundles.restart',
  'bundles.delete',
  'bundles.tags',
  'bundles.autostart',
  'bundles.settings',
  'bundles.upload',
  'bundles.tools',
  'bundles.build',
  'bundles.sources.delete',
  'bundles.accounts.manage',
  'bundles.accounts.use',
  'bundles.git-write',
  'bundles.merge',
  'bundles.review',
  'bundles.packages',
  'schedule.write',
] as const;

export type Permission = (typeof PERMISSIONS)[number];

export function isPermission(name: unknown): name is Permission {
  return (PERMISSIONS as readonly unknown[]).includes(name);
}

const WATCH = ['console.read', 'logs.read', 'bundles.read'] as const;
const RUN = ['server.start', 'server.stop', 'server.restart', ...WATCH] as const;
const BUNDLES = ['bundles.start', 'bundles.stop', 'bundles.restart'] as const;

/** Starting points for an account. What an account has is its list of permissions, never the name of a preset. */
export const PRESETS = {
  owner: PERMISSIONS,
  admin: PERMISSIONS.filter((name) => name !== 'users.manage' && name !== 'bundles.accounts.manage'),
  moderator: [...RUN, 'console.write', 'players.kick'],
  developer: [...RUN, 'console.write', ...BUNDLES, 'database.read'],
  viewer: WATCH,
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

export type PresetName = keyof typeof PRESETS;
