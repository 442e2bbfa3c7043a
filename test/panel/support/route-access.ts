import type { Permission } from '#panel/shapes/permissions.ts';

/** Access to a route: public, any account, all of these permissions, or one of them. */
export type Expected =
  | 'public'
  | 'account'
  | { readonly all: readonly Permission[] }
  | { readonly any: readonly Permission[] };

const all = (...permissions: Permission[]): Expected => ({ all: permissions });
const any = (...permissions: Permission[]): Expected => ({ any: permissions });

/** Permissions that show the overview of the bundle tools and their jobs; each job has its own beside. */
const TOOLS: readonly Permission[] = [
  ...(['bundles.settings', 'bundles.upload', 'bundles.tools', 'bundles.build', 'bundles.delete'] as const),
  ...(['bundles.tags', 'bundles.autostart', 'bundles.sources.delete', 'bundles.accounts.manage'] as const),
  ...(['bundles.accounts.use', 'bundles.git-write', 'bundles.merge', 'bundles.review', 'bundles.packages'] as const),
];

/**
 * The permission column of the panel's contract, written down once more by hand: the routes' own data is judged by it. A new
 * route is a new line here.
 */
export const ROUTE_ACCESS: Readonly<Record<string, Expected>> = {
  'GET /api/session': 'public',
  'GET /api/bootstrap': 'public',
  'POST /api/login': 'public',
  'POST /api/logout': 'account',

  'POST /api/login/second-factor': 'public',
  'GET /api/second-factor': 'account',
  'POST /api/second-factor/totp/begin': 'account',
  'POST /api/second-factor/totp/confirm': 'account',
  'POST /api/second-factor/totp/remove': 'account',
  'POST /api/second-factor/recovery': 'account',
  'POST /api/users/second-factor/reset': all('users.manage'),

  'GET /api/tokens': 'account',
  'POST /api/tokens/create': 'account',
  'POST /api/tokens/revoke': 'account',

  'GET /api/status': 'account',
  'POST /api/server/start': all('server.start'),
  'POST /api/server/stop': all('server.stop'),
  'POST /api/server/restart': all('server.restart'),
  'POST /api/server/force-stop': all('server.force-stop'),
  'POST /api/command': all('console.write'),
  'GET /api/players': all('console.read'),
  'POST /api/players/kick': all('players.kick'),

  'GET /api/cluster': 'account',

  'GET /api/schedule': 'account',
  'POST /api/schedule/save': all('schedule.write'),
  'POST /api/schedule/delete': all('schedule.write'),
  'POST /api/schedule/preview': all('schedule.write'),
  'POST /api/schedule/skip': all('server.restart'),
  'POST /api/schedule/now': all('server.restart'),
  'POST /api/schedule/delay': all('server.restart'),

  'GET /api/notices': all('settings.write'),
  'POST /api/notices/save': all('settings.write'),
  'POST /api/notices/delete': all('settings.write'),
  'POST /api/notices/test': all('settings.write'),

  'GET /api/bundles': all('bundles.read'),
  'GET /api/bundles/metadata': all('bundles.read'),
  'POST /api/bundles/tags': all('bundles.read', 'bundles.tags'),
  'POST /api/bundles/autostart': all('bundles.read', 'bundles.autostart'),
  'POST /api/bundle-tools/projects/compare': all('bundles.build', 'bundles.accounts.use'),
  'GET /api/bundle-tools/projects/reviews': all('bundles.build'),
  'POST /api/bundle-tools/projects/workflow': all('bundles.settings'),
  'POST /api/bundle-tools/projects/merge': all(
    ...(['bundles.build', 'bundles.git-write', 'bundles.accounts.use', 'bundles.merge'] as const),
  ),
  'POST /api/bundle-tools/projects/review': all(
    ...(['bundles.build', 'bundles.git-write', 'bundles.accounts.use', 'bundles.review'] as const),
  ),
  'POST /api/bundles/delete-info': all('bundles.read', 'bundles.delete'),
  'POST /api/bundles/delete': all('bundles.read', 'bundles.delete', 'bundles.stop'),
  'GET /api/bundles/trash': all('bundles.delete'),
  'POST /api/bundles/restore': all('bundles.delete'),
  'POST /api/bundles/purge': all('bundles.delete'),
  'POST /api/bundles/:name/start': all('bundles.read', 'bundles.start'),
  'POST /api/bundles/:name/stop': all('bundles.read', 'bundles.stop'),
  'POST /api/bundles/:name/restart': all('bundles.read', 'bundles.restart'),

  'POST /api/bundle-tools/upload': all('bundles.upload'),
  'POST /api/bundle-tools/upload/exists': all('bundles.upload'),
  'POST /api/bundle-tools/upload/install': all('bundles.upload'),
  'GET /api/bundles/versions': any('bundles.upload', 'bundles.build'),
  'GET /api/bundles/edited': any('bundles.upload', 'bundles.build'),
  'GET /api/bundles/data': all('bundles.read', 'database.read'),
  'POST /api/bundles/rollback': any('bundles.upload', 'bundles.build'),

  'GET /api/bundle-tools': any(...TOOLS),
  'POST /api/bundle-tools/settings': all('bundles.settings'),
  'GET /api/bundle-tools/jobs/:id': any(...TOOLS),
  'POST /api/bundle-tools/jobs/:id/cancel': any(...TOOLS),
  'POST /api/bundle-tools/projects/delivery': all('bundles.settings'),
  'POST /api/bundle-tools/packages/set': all('bundles.packages'),

  'GET /api/console': all('console.read'),
  'GET /api/logs': all('logs.read'),
  'GET /api/log-files': all('logs.read'),
  'GET /api/log-files-current': all('logs.read'),
  'GET /api/log-files/:name': all('logs.read'),
  'GET /api/log-files.zip': all('logs.read'),
  'GET /api/diagnostics': any('console.read', 'logs.read'),
  'GET /api/crashes': all('logs.read'),
  'GET /api/crashes/:id': all('logs.read'),
  'GET /api/events': 'account',

  'GET /api/settings': 'account',
  'POST /api/settings': 'account',
  'GET /api/server-name': 'account',
  'GET /api/server-config': all('settings.write'),
  'POST /api/server-config': all('settings.write'),
  'POST /api/server-config/undo': all('settings.write'),
  'POST /api/server-path': all('settings.write', 'users.manage'),

  'GET /api/bridge': 'account',
  'POST /api/bridge/settings': all('settings.write'),
  'GET /api/bridge/tokens': all('settings.write'),
  'POST /api/bridge/tokens/create': all('settings.write'),
  'POST /api/bridge/tokens/revoke': all('settings.write'),

  'GET /api/users': all('users.manage'),
  'GET /api/users/:username/access': all('users.manage'),
  'POST /api/users/save': all('users.manage'),
  'POST /api/users/delete': all('users.manage'),
  'GET /api/audit': all('users.manage'),

  'GET /api/charts': 'account',
  'GET /api/database/namespaces': all('database.read'),
  'POST /api/database/rows': all('database.read'),
  'POST /api/database/count': all('database.read'),
  'POST /api/database/row': all('database.write'),
  'GET /api/database/queue': all('database.read'),
  'POST /api/database/dead-letters/retry': all('database.write'),
  'POST /api/database/dead-letters/discard': all('database.write'),
  'GET /api/database/quarantine': all('database.read'),
  'POST /api/database/quarantine/restore': all('database.write'),
  'POST /api/database/quarantine/purge': all('database.write'),
  'GET /api/database/slow': all('database.read'),
  'GET /api/database/keys': all('database.read'),

  'POST /api/bundle-tools/accounts/save': all('bundles.accounts.manage'),
  'POST /api/bundle-tools/accounts/delete': all('bundles.accounts.manage'),
  'POST /api/bundle-tools/accounts/test': all('bundles.accounts.manage'),
  'POST /api/bundle-tools/remote/owners': all('bundles.accounts.use'),
  'POST /api/bundle-tools/remote/repositories': all('bundles.accounts.use'),

  'GET /api/bundle-tools/projects': all('bundles.build'),
  'POST /api/bundle-tools/projects/refs': all('bundles.build'),
  'POST /api/bundle-tools/projects/checkout': all('bundles.build'),
  'POST /api/bundle-tools/projects/create': all('bundles.build'),
  'POST /api/bundle-tools/projects/import': all('bundles.build'),
  'POST /api/bundle-tools/projects/pull': all('bundles.build'),
  'POST /api/bundle-tools/projects/check': all('bundles.build'),
  'POST /api/bundle-tools/projects/build': all('bundles.build'),
  'POST /api/bundle-tools/projects/rollback': all('bundles.build'),
  'POST /api/bundle-tools/projects/remove': all('bundles.build', 'bundles.sources.delete'),
  'POST /api/bundle-tools/projects/restore': all('bundles.build', 'bundles.sources.delete'),
  'POST /api/bundle-tools/packages/info': all('bundles.build'),
  'POST /api/bundle-tools/packages/review': all(
    'bundles.build',
    'bundles.git-write',
    'bundles.accounts.use',
    'bundles.packages',
    'bundles.review',
  ),
  'GET /api/bundle-tools/tools/latest': all('bundles.tools'),
  'POST /api/bundle-tools/tools/install': all('bundles.tools'),
  'POST /api/bundle-tools/tools/remove': all('bundles.tools'),
  'POST /api/database/export': all('database.read'),
  'GET /api/database/export/:download': all('database.read'),
  'POST /api/database/import': all('database.write'),
  'GET /api/backups': all('backups.read'),
  'POST /api/backups/make': all('backups.make'),
  'POST /api/backups/drill': all('backups.make'),
  'POST /api/backups/preview': all('backups.restore'),
  'POST /api/backups/restore': all('backups.restore', 'users.manage'),
  'GET /api/server-updates': all('settings.write'),
  'POST /api/server-updates/check': all('settings.write'),
  'POST /api/server-updates/download': all('settings.write', 'users.manage'),
  'POST /api/server-updates/apply': all('settings.write', 'users.manage'),
  'POST /api/server-updates/cancel': all('settings.write'),
  'GET /api/updates': all('settings.write'),
  'GET /api/updates/connector': all('settings.write'),
  'POST /api/updates/connector': all('settings.write', 'users.manage'),
  'POST /api/updates/check': all('settings.write'),
  'POST /api/updates/download': all('settings.write', 'users.manage'),
  'POST /api/updates/upload': all('settings.write', 'users.manage'),
  'POST /api/updates/cancel': all('settings.write'),
  'POST /api/updates/apply': all('settings.write', 'users.manage'),
  'POST /api/updates/rollback': all('settings.write', 'users.manage'),

  'POST /api/setup/validate': 'public',
  'POST /api/setup/install': 'public',
  'POST /api/setup/finish': 'public',
  'POST /api/setup/pick': 'public',
  'POST /api/setup/pick-status': 'public',
  'POST /api/setup/job': 'public',
  'POST /api/setup/cancel': 'public',
  'GET /api/setup/console': 'public',
};
