import { PERMISSIONS, type Permission, PRESETS, type PresetName } from '#panel/shapes/permissions.ts';

/** How the matrix shows permissions. Each stands in one group; a test holds that. */
export const PERMISSION_GROUPS = {
  server: ['server.start', 'server.stop', 'server.restart', 'server.force-stop', 'schedule.write'],
  console: ['console.read', 'console.write', 'logs.read', 'players.kick'],
  bundles: ['bundles.read', 'bundles.start', 'bundles.stop', 'bundles.restart'],
  database: ['database.read', 'database.write', 'backups.read', 'backups.make', 'backups.restore'],
  panel: ['settings.write', 'users.manage'],
  tools: [
    'bundles.tags',
    'bundles.autostart',
    'bundles.delete',
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
  ],
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

export type GroupName = keyof typeof PERMISSION_GROUPS;

export const GROUP_NAMES = Object.keys(PERMISSION_GROUPS) as readonly GroupName[];
/** From the least to the most. */
export const PRESET_NAMES: readonly PresetName[] = ['viewer', 'moderator', 'developer', 'admin', 'owner'];

/** Permissions that can do lasting harm, or open the way to all others: the matrix warns of them. */
export const POWERFUL: readonly Permission[] = [
  'users.manage',
  'settings.write',
  'console.write',
  'database.write',
  'backups.restore',
];

/** The preset whose permissions are exactly these. */
export function presetOf(permissions: ReadonlySet<string>): PresetName | null {
  const fits = (name: PresetName) =>
    PRESETS[name].length === permissions.size && PRESETS[name].every((one) => permissions.has(one));
  return PRESET_NAMES.find(fits) ?? null;
}

/** A manager grants only permissions that they hold: the part of a preset that the manager has. */
export function grantable(preset: PresetName, own: ReadonlySet<string>): ReadonlySet<Permission> {
  return new Set(PRESETS[preset].filter((name) => own.has(name)));
}

/** Permissions that the account holds and the manager lacks: with any, the manager may not change the account. */
export function beyond(permissions: Iterable<string>, own: ReadonlySet<string>): readonly string[] {
  return [...permissions].filter((name) => !own.has(name));
}

/** In the order in which they are listed everywhere. */
export function listed(permissions: ReadonlySet<string>): readonly Permission[] {
  return PERMISSIONS.filter((name) => permissions.has(name));
}

/** Share of a group that is granted: none, some or all. */
export function shareOf(group: GroupName, permissions: ReadonlySet<string>): 'none' | 'some' | 'all' {
  const names: readonly Permission[] = PERMISSION_GROUPS[group];
  const held = names.filter((name) => permissions.has(name)).length;
  if (held === 0) return 'none';
  return held === names.length ? 'all' : 'some';
}
