/**
 * Allowed imports by zone (ARCHITECTURE.md). A file belongs to the first zone whose path begins its own. `zones` are the other
 * zones that it may import from, `packages` the packages of npm; Node's own modules are free unless `node` narrows them.
 */
export interface Zone {
  readonly path: string;
  readonly zones: readonly string[];
  readonly packages: readonly string[];
  readonly node?: readonly string[];
}

const PROTOCOL = 'db_connector/protocol/';
const CONNECTOR = [
  PROTOCOL,
  'db_connector/config/',
  'db_connector/client/',
  'db_connector/calls/',
  'db_connector/commands/',
];
/** Zones that every engine may import. */
const ENGINE = [
  'sidecar/engine/',
  'sidecar/columns/',
  'sidecar/deadline.ts',
  'sidecar/full-disk.ts',
  'sidecar/log-event.ts',
  'sidecar/lower-priority.ts',
  'sidecar/make-folder.ts',
  'sidecar/server-url.ts',
  'sidecar/turns.ts',
  PROTOCOL,
];
/** Zones that every part of the panel may import. */
const PANEL = [
  'sidecar/panel/',
  'sidecar/panel/shapes/',
  'sidecar/panel/store/',
  'sidecar/full-disk.ts',
  'sidecar/lower-priority.ts',
  'sidecar/make-folder.ts',
];
const PANEL_PARTS = [
  ...PANEL,
  ...[
    ...[
      'accounts',
      'audit',
      'backups',
      'bridge',
      'bundles',
      'charts',
      'console',
      'database',
      'events',
      'forges',
      'http',
      'installs',
      'jobs',
      'network',
      'packages',
      'programs',
      'routes',
      'server',
      'uploads',
      'work',
    ],
    ...['schedule', 'settings', 'setup', 'sources', 'sources/git', 'tools', 'trash'],
    ...['merging', 'notices', 'second-factor', 'server-updates', 'tokens', 'updates'],
  ].map((name) => `sidecar/panel/${name}/`),
];
const SIDECAR_PARTS = [
  'sidecar/api/',
  'sidecar/stream/',
  'sidecar/http/',
  'sidecar/operations/',
  'sidecar/data/',
  'sidecar/schema/',
  'sidecar/write-behind/',
  'sidecar/write-behind/journal/',
  'sidecar/security/',
  'sidecar/config/',
  'sidecar/moving/',
  'sidecar/importing/',
  'sidecar/exchange/',
  'sidecar/backup/',
  'sidecar/backup/continuous/',
  'sidecar/backup/remote/',
  'sidecar/commands/',
  'sidecar/cluster/',
  'sidecar/embedded/',
  'sidecar/panel/',
];

export const ZONES: readonly Zone[] = [
  // The wire contract: no I/O and no clock.
  { path: PROTOCOL, zones: [], packages: ['zod'], node: ['node:crypto', 'node:buffer'] },

  { path: 'db_connector/config/', zones: CONNECTOR.slice(0, 1), packages: ['zod'] },
  { path: 'db_connector/client/', zones: CONNECTOR.slice(0, 2), packages: ['undici', 'ws', 'opossum'] },
  { path: 'db_connector/calls/', zones: CONNECTOR.slice(0, 3), packages: ['p-queue', '@msgpack/msgpack'] },
  { path: 'db_connector/commands/', zones: CONNECTOR.slice(0, 4), packages: [] },
  {
    path: 'db_connector/embedded/',
    zones: CONNECTOR.slice(0, 4),
    packages: [],
  },
  { path: 'db_connector/worker/', zones: CONNECTOR.slice(0, 3), packages: [] },
  { path: 'db_connector/host/', zones: [...CONNECTOR, 'db_connector/embedded/', 'db_connector/worker/'], packages: [] },
  { path: 'db_connector/helper/', zones: [PROTOCOL], packages: ['@msgpack/msgpack'] },

  { path: 'sidecar/columns/', zones: [PROTOCOL], packages: [] },
  { path: 'sidecar/engine/sqlite/', zones: [...ENGINE, 'sidecar/engine/sql/'], packages: ['better-sqlite3'] },
  { path: 'sidecar/engine/sql/', zones: ENGINE, packages: ['knex'] },
  { path: 'sidecar/engine/pending/', zones: ENGINE, packages: [] },
  {
    path: 'sidecar/engine/postgres/',
    zones: [...ENGINE, 'sidecar/engine/sql/'],
    packages: ['pg', 'knex'],
  },
  {
    path: 'sidecar/engine/mysql/',
    zones: [...ENGINE, 'sidecar/engine/sql/', 'sidecar/engine/pending/'],
    packages: ['mysql2'],
  },
  { path: 'sidecar/engine/mongo/', zones: [...ENGINE, 'sidecar/engine/pending/'], packages: ['mongodb'] },
  {
    path: 'sidecar/engine/',
    zones: [...ENGINE.slice(1), ...['sqlite', 'postgres', 'mysql', 'mongo'].map((name) => `sidecar/engine/${name}/`)],
    packages: [],
  },
  {
    path: 'sidecar/security/',
    zones: ['sidecar/file-owner.ts', 'sidecar/make-folder.ts', PROTOCOL],
    packages: ['ipaddr.js'],
  },
  {
    path: 'sidecar/cluster/',
    zones: ['sidecar/engine/', 'sidecar/security/', 'sidecar/log-event.ts', PROTOCOL],
    packages: [],
  },
  { path: 'sidecar/schema/', zones: ['sidecar/engine/', 'sidecar/columns/', PROTOCOL], packages: [] },
  {
    path: 'sidecar/moving/',
    zones: ['sidecar/full-disk.ts', 'sidecar/schema/', 'sidecar/engine/', 'sidecar/columns/', PROTOCOL],
    packages: [],
  },
  {
    path: 'sidecar/importing/',
    zones: ['sidecar/moving/', 'sidecar/schema/', 'sidecar/engine/', 'sidecar/columns/', PROTOCOL],
    packages: ['mysql2'],
  },
  {
    path: 'sidecar/backup/continuous/',
    zones: [
      ...['sidecar/backup/remote/', 'sidecar/moving/', 'sidecar/write-behind/journal/'],
      ...['sidecar/config/', 'sidecar/engine/', 'sidecar/file-owner.ts', 'sidecar/make-folder.ts'],
    ],
    packages: ['better-sqlite3'],
  },
  // Places off the machine, and what goes there.
  {
    path: 'sidecar/backup/remote/',
    zones: [
      ...['sidecar/backup/', 'sidecar/moving/', 'sidecar/write-behind/journal/'],
      ...['sidecar/config/', 'sidecar/engine/', 'sidecar/make-folder.ts'],
    ],
    packages: ['@aws-sdk/client-s3', '@aws-sdk/lib-storage', 'age-encryption', 'better-sqlite3', 'tar', 'zod'],
  },
  {
    path: 'sidecar/backup/',
    zones: [
      'sidecar/backup/remote/',
      'sidecar/cluster/',
      'sidecar/moving/',
      'sidecar/write-behind/',
      'sidecar/write-behind/journal/',
      'sidecar/schema/',
      'sidecar/security/',
      'sidecar/file-owner.ts',
      'sidecar/full-disk.ts',
      'sidecar/log-event.ts',
      'sidecar/make-folder.ts',
      'sidecar/config/',
      'sidecar/engine/',
      PROTOCOL,
    ],
    packages: ['better-sqlite3', 'zod'],
  },
  {
    path: 'sidecar/data/',
    zones: ['sidecar/deadline.ts', 'sidecar/schema/', 'sidecar/engine/', 'sidecar/columns/', PROTOCOL],
    packages: [],
  },
  // Rows into a file and out of it: for the command and the panel.
  {
    path: 'sidecar/exchange/',
    zones: ['sidecar/moving/', 'sidecar/data/', 'sidecar/schema/', 'sidecar/engine/', PROTOCOL],
    packages: ['csv-parse', 'csv-stringify'],
  },
  // The log on the disk knows nothing of what is written in it.
  {
    path: 'sidecar/write-behind/journal/',
    zones: [
      ...['sidecar/file-owner.ts', 'sidecar/folder-lock.ts', 'sidecar/full-disk.ts', 'sidecar/log-event.ts'],
      ...['sidecar/make-folder.ts', 'sidecar/engine/', PROTOCOL],
    ],
    packages: [],
  },
  {
    path: 'sidecar/write-behind/',
    zones: [
      'sidecar/log-event.ts',
      'sidecar/write-behind/journal/',
      'sidecar/data/',
      'sidecar/schema/',
      'sidecar/engine/',
      'sidecar/columns/',
      'sidecar/config/',
      PROTOCOL,
    ],
    packages: [],
  },
  // HTTP for API and panel alike: bodies, listening, log lines of requests.
  {
    path: 'sidecar/http/',
    zones: ['sidecar/security/', 'sidecar/config/', 'sidecar/log.ts', 'sidecar/log-event.ts'],
    packages: ['fastify'],
  },
  // Envelope in, signed answer out: no transport.
  {
    path: 'sidecar/operations/',
    zones: ['sidecar/data/', 'sidecar/security/', 'sidecar/log.ts', 'sidecar/turns.ts', PROTOCOL],
    packages: [],
    node: ['node:perf_hooks'],
  },
  {
    path: 'sidecar/stream/',
    zones: ['sidecar/http/', 'sidecar/operations/', 'sidecar/security/', PROTOCOL],
    packages: ['ws'],
  },
  {
    path: 'sidecar/api/',
    zones: [
      'sidecar/cluster/',
      'sidecar/http/',
      'sidecar/operations/',
      'sidecar/data/',
      'sidecar/schema/',
      'sidecar/security/',
      'sidecar/config/',
      'sidecar/log.ts',
      'sidecar/log-event.ts',
      'sidecar/engine/',
      PROTOCOL,
    ],
    packages: ['fastify', 'ipaddr.js'],
  },
  // Shared by server and browser.
  { path: 'sidecar/panel/shapes/', zones: [], packages: [] },
  { path: 'sidecar/panel/web/', zones: ['sidecar/panel/shapes/'], packages: ['preact', 'uplot'], node: [] },
  {
    path: 'sidecar/panel/store/',
    zones: ['sidecar/folder-lock.ts', 'sidecar/full-disk.ts', 'sidecar/make-folder.ts'],
    packages: ['better-sqlite3'],
  },
  { path: 'sidecar/panel/accounts/', zones: PANEL, packages: [] },
  {
    path: 'sidecar/panel/second-factor/',
    zones: [...PANEL, 'sidecar/panel/accounts/'],
    packages: ['otpauth', 'qrcode-generator'],
  },
  {
    path: 'sidecar/panel/tokens/',
    zones: [...PANEL, 'sidecar/panel/accounts/', 'sidecar/security/'],
    packages: [],
  },
  { path: 'sidecar/panel/audit/', zones: PANEL, packages: [] },
  { path: 'sidecar/panel/settings/', zones: PANEL, packages: ['zod', 'string-argv'] },
  { path: 'sidecar/panel/console/', zones: [...PANEL, 'sidecar/log.ts', 'sidecar/log-event.ts'], packages: ['yazl'] },
  {
    path: 'sidecar/panel/server/process/',
    zones: [
      ...PANEL,
      'sidecar/panel/console/',
      'sidecar/panel/settings/',
      'sidecar/keeper/channel/',
      'sidecar/deadline.ts',
      'sidecar/owner-only.ts',
    ],
    packages: ['string-argv'],
  },
  {
    path: 'sidecar/panel/server/',
    zones: [
      ...PANEL,
      'sidecar/panel/console/',
      'sidecar/panel/settings/',
      'sidecar/panel/server/process/',
      'sidecar/keeper/channel/',
      'sidecar/deadline.ts',
    ],
    packages: [],
  },
  {
    path: 'sidecar/panel/bundles/',
    zones: [...PANEL, 'sidecar/panel/server/', 'sidecar/panel/settings/', 'sidecar/log.ts', 'sidecar/log-event.ts'],
    packages: ['zod'],
  },
  {
    path: 'sidecar/panel/merging/',
    zones: [...PANEL, ...['http', 'jobs', 'sources', 'sources/git'].map((name) => `sidecar/panel/${name}/`)],
    packages: [],
  },
  {
    path: 'sidecar/panel/schedule/',
    zones: [...PANEL, ...['server', 'settings'].map((name) => `sidecar/panel/${name}/`)],
    packages: [],
  },
  {
    path: 'sidecar/panel/notices/delivery/',
    zones: [
      ...PANEL,
      ...['network', 'notices', 'programs', 'server/process'].map((name) => `sidecar/panel/${name}/`),
      ...['sidecar/security/', 'sidecar/deadline.ts'],
    ],
    packages: [],
  },
  {
    path: 'sidecar/panel/notices/',
    zones: [
      ...PANEL,
      ...['accounts', 'audit', 'console', 'notices/delivery', 'schedule', 'server'].map(
        (name) => `sidecar/panel/${name}/`,
      ),
      ...['sidecar/security/', 'sidecar/log-event.ts'],
    ],
    packages: [],
  },
  {
    path: 'sidecar/panel/trash/',
    zones: [...PANEL, ...['bundles', 'jobs', 'settings'].map((name) => `sidecar/panel/${name}/`)],
    packages: [],
  },
  {
    path: 'sidecar/panel/charts/',
    zones: [...PANEL, 'sidecar/panel/server/', 'sidecar/log.ts', 'sidecar/log-event.ts'],
    packages: ['pidusage'],
  },
  {
    path: 'sidecar/panel/database/',
    zones: [
      ...PANEL,
      ...['sidecar/data/', 'sidecar/schema/', 'sidecar/write-behind/', 'sidecar/engine/', 'sidecar/columns/'],
      ...['sidecar/config/', 'sidecar/exchange/', 'sidecar/moving/', 'sidecar/panel/http/', PROTOCOL],
    ],
    packages: ['zod'],
  },
  // Uploads, trees and folders have one judge of paths.
  {
    path: 'sidecar/panel/work/',
    zones: [...PANEL, 'sidecar/panel/installs/'],
    packages: ['tar', 'xz-decompress', 'yauzl'],
  },
  {
    path: 'sidecar/panel/uploads/',
    zones: [...PANEL, ...['bundles', 'http', 'installs', 'jobs', 'work'].map((name) => `sidecar/panel/${name}/`)],
    packages: [],
  },
  {
    path: 'sidecar/panel/installs/',
    zones: [
      ...PANEL,
      ...['bundles', 'console', 'http', 'jobs', 'server', 'settings', 'work'].map((name) => `sidecar/panel/${name}/`),
    ],
    packages: [],
  },
  { path: 'sidecar/panel/network/', zones: PANEL, packages: ['ipaddr.js'] },
  { path: 'sidecar/panel/programs/', zones: [...PANEL, 'sidecar/panel/server/process/'], packages: [] },
  {
    path: 'sidecar/panel/sources/git/',
    zones: [...PANEL, ...['installs', 'jobs', 'network', 'programs'].map((name) => `sidecar/panel/${name}/`)],
    packages: [],
  },
  {
    path: 'sidecar/panel/sources/',
    zones: [
      ...PANEL,
      ...['http', 'installs', 'jobs', 'network', 'programs', 'sources/git'].map((name) => `sidecar/panel/${name}/`),
      'sidecar/config/',
    ],
    packages: [],
  },
  {
    path: 'sidecar/panel/packages/',
    zones: [
      ...PANEL,
      ...['http', 'installs', 'jobs', 'network', 'programs', 'sources', 'sources/git', 'tools'].map(
        (name) => `sidecar/panel/${name}/`,
      ),
      'sidecar/config/',
    ],
    packages: ['zod', 'semver'],
  },
  {
    path: 'sidecar/panel/tools/',
    zones: [
      ...PANEL,
      ...['http', 'installs', 'jobs', 'network', 'sources/git'].map((name) => `sidecar/panel/${name}/`),
    ],
    packages: ['zod', 'semver', 'tar'],
  },
  {
    path: 'sidecar/panel/forges/',
    zones: [...PANEL, 'sidecar/panel/network/', 'sidecar/panel/sources/'],
    packages: ['zod'],
  },
  {
    path: 'sidecar/panel/server-updates/',
    zones: [...PANEL, ...['http', 'jobs', 'settings', 'work'].map((name) => `sidecar/panel/${name}/`)],
    packages: [],
  },
  {
    path: 'sidecar/panel/backups/',
    zones: [...PANEL, 'sidecar/panel/http/', 'sidecar/panel/jobs/', 'sidecar/backup/', 'sidecar/moving/'],
    packages: [],
  },
  {
    path: 'sidecar/panel/updates/',
    zones: [
      ...PANEL,
      'sidecar/panel/http/',
      'sidecar/panel/jobs/',
      'sidecar/panel/settings/',
      'sidecar/config/',
      'sidecar/formats.ts',
      'sidecar/keeper/channel/',
      'sidecar/program-folder.ts',
    ],
    packages: ['better-sqlite3', 'semver', 'yauzl', 'zod'],
  },
  {
    path: 'sidecar/panel/bridge/',
    zones: [
      ...PANEL,
      'sidecar/panel/console/',
      'sidecar/panel/settings/',
      'sidecar/security/',
      'sidecar/log.ts',
      'sidecar/log-event.ts',
    ],
    packages: [],
  },
  {
    path: 'sidecar/panel/setup/',
    zones: [
      ...PANEL,
      ...[
        'sidecar/panel/accounts/',
        'sidecar/panel/settings/',
        'sidecar/config/',
        'sidecar/log.ts',
        'sidecar/log-event.ts',
        PROTOCOL,
      ],
    ],
    packages: ['zod'],
  },
  {
    path: 'sidecar/panel/events/',
    zones: [...PANEL, 'sidecar/panel/console/', 'sidecar/panel/accounts/', 'sidecar/panel/http/'],
    packages: [],
  },
  {
    path: 'sidecar/panel/jobs/',
    zones: [...PANEL, 'sidecar/panel/accounts/', 'sidecar/panel/http/', 'sidecar/panel/settings/'],
    packages: [],
  },
  {
    path: 'sidecar/panel/http/',
    zones: [
      ...PANEL,
      'sidecar/panel/accounts/',
      'sidecar/panel/audit/',
      'sidecar/panel/tokens/',
      'sidecar/http/',
      'sidecar/security/',
      PROTOCOL,
    ],
    packages: ['@fastify/busboy', 'fastify', 'zod'],
  },
  { path: 'sidecar/panel/routes/', zones: [...PANEL_PARTS, 'sidecar/security/', PROTOCOL], packages: ['zod'] },
  // app.ts and start-panel.ts put the panel together.
  {
    path: 'sidecar/panel/',
    zones: [
      ...PANEL_PARTS.slice(1),
      ...[
        'sidecar/http/',
        'sidecar/backup/',
        'sidecar/data/',
        'sidecar/schema/',
        'sidecar/write-behind/',
        'sidecar/engine/',
        'sidecar/security/',
      ],
      ...[
        'sidecar/config/',
        'sidecar/log.ts',
        'sidecar/log-event.ts',
        'sidecar/folder-lock.ts',
        'sidecar/keeper/channel/',
        'sidecar/program-folder.ts',
        PROTOCOL,
      ],
    ],
    packages: ['fastify'],
  },
  {
    path: 'sidecar/config/',
    zones: ['sidecar/file-owner.ts', 'sidecar/make-folder.ts', 'sidecar/security/', 'sidecar/server-url.ts', PROTOCOL],
    packages: ['zod'],
  },
  { path: 'sidecar/deadline.ts', zones: [], packages: [] },
  { path: 'sidecar/full-disk.ts', zones: [], packages: [] },
  { path: 'sidecar/log.ts', zones: [], packages: [] },
  { path: 'sidecar/log-event.ts', zones: [], packages: [] },
  { path: 'sidecar/lower-priority.ts', zones: [], packages: [] },
  { path: 'sidecar/file-owner.ts', zones: [], packages: [] },
  { path: 'sidecar/make-folder.ts', zones: ['sidecar/file-owner.ts'], packages: [] },
  { path: 'sidecar/nursery.ts', zones: ['sidecar/lower-priority.ts'], packages: [] },
  { path: 'sidecar/server-url.ts', zones: [], packages: [] },
  { path: 'sidecar/turns.ts', zones: [], packages: [] },
  { path: 'sidecar/folder-lock.ts', zones: ['sidecar/file-owner.ts'], packages: ['better-sqlite3'] },
  { path: 'sidecar/owner-only.ts', zones: [], packages: [] },
  // The contract between keeper and sidecar: messages, and the sidecar's end.
  { path: 'sidecar/keeper/channel/', zones: ['sidecar/panel/server/process/'], packages: [] },
  // A program of its own: no HTTP, no settings, no database.
  {
    path: 'sidecar/keeper/',
    zones: [
      'sidecar/keeper/channel/',
      'sidecar/panel/server/process/',
      'sidecar/log.ts',
      'sidecar/make-folder.ts',
      'sidecar/owner-only.ts',
      'sidecar/program-folder.ts',
    ],
    packages: [],
  },
  // Numbers of all formats in one place; the formats themselves stay with their owners.
  {
    path: 'sidecar/formats.ts',
    zones: ['sidecar/engine/', 'sidecar/panel/store/', 'sidecar/write-behind/journal/'],
    packages: [],
  },
  {
    path: 'sidecar/preflight.ts',
    zones: ['sidecar/config/', 'sidecar/formats.ts', 'sidecar/keeper/channel/', 'sidecar/program-folder.ts'],
    packages: ['better-sqlite3'],
  },
  { path: 'sidecar/program-folder.ts', zones: [], packages: [] },
  {
    path: 'sidecar/embedded/',
    zones: [
      'sidecar/',
      'sidecar/config/',
      'sidecar/security/',
      'sidecar/log.ts',
      'sidecar/make-folder.ts',
      'sidecar/log-event.ts',
      'sidecar/folder-lock.ts',
      PROTOCOL,
    ],
    packages: ['zod'],
  },
  {
    path: 'sidecar/commands/',
    zones: [
      ...[
        'sidecar/',
        ...SIDECAR_PARTS,
        'sidecar/engine/',
        'sidecar/file-owner.ts',
        'sidecar/full-disk.ts',
        'sidecar/lower-priority.ts',
        'sidecar/make-folder.ts',
        'sidecar/nursery.ts',
        'sidecar/program-folder.ts',
        PROTOCOL,
      ],
      ...['accounts', 'audit', 'second-factor', 'shapes', 'store', 'tokens'].map((name) => `sidecar/panel/${name}/`),
    ],
    packages: ['semver'],
  },
  // main.ts and serve.ts put everything together.
  {
    path: 'sidecar/',
    zones: [
      ...SIDECAR_PARTS,
      'sidecar/engine/',
      'sidecar/columns/',
      'sidecar/file-owner.ts',
      'sidecar/log.ts',
      'sidecar/log-event.ts',
      'sidecar/nursery.ts',
      'sidecar/program-folder.ts',
      'sidecar/owner-only.ts',
      'sidecar/preflight.ts',
      'sidecar/keeper/channel/',
      PROTOCOL,
    ],
    packages: ['fastify'],
  },

  { path: 'standalone/', zones: [], packages: ['@msgpack/msgpack'] },
  { path: 'bundles/db_connector/', zones: ['db_connector/helper/'], packages: [] },
  { path: 'bundles/', zones: ['bundles/db_connector/'], packages: [] },
  // docs/openapi.json is made from the very tables that validate.
  { path: 'scripts/openapi', zones: [PROTOCOL], packages: ['zod'] },
  // docs/panel-api.md and docs/panel-openapi.json are made from the panel's own routes.
  {
    path: 'scripts/panel-api',
    zones: ['sidecar/panel/', 'sidecar/panel/http/', 'sidecar/panel/shapes/'],
    packages: ['zod'],
  },
  {
    path: 'scripts/configuration',
    zones: ['sidecar/config/', 'db_connector/config/', PROTOCOL],
    packages: ['zod'],
  },
  // A measurement runs the real programs beside bare ones, and signs in as a test does.
  {
    path: 'scripts/bench/',
    zones: [
      ...['scripts/', 'scripts/servers/', 'test/', 'db_connector/helper/', PROTOCOL],
      ...['accounts', 'settings', 'shapes', 'store'].map((name) => `sidecar/panel/${name}/`),
    ],
    packages: [
      '@msgpack/msgpack',
      'better-sqlite3',
      'fastify',
      'fflate',
      'mongodb',
      'mysql2',
      'pg',
      'playwright-core',
      'ws',
    ],
  },
  // The pictures of docs show a panel as the tests start one.
  {
    path: 'scripts/pictures',
    zones: ['scripts/', 'scripts/servers/', 'test/', 'sidecar/panel/charts/'],
    packages: ['fflate', 'playwright-core'],
  },
  { path: 'scripts/servers/', zones: [], packages: ['pg', 'mysql2', 'mongodb'] },
  { path: 'scripts/servers.ts', zones: ['scripts/servers/'], packages: [] },
  { path: 'scripts/test.ts', zones: ['scripts/', 'scripts/servers/'], packages: [] },
  { path: 'scripts/soak.ts', zones: ['scripts/servers/'], packages: [] },
  { path: 'scripts/check/count-reporter.ts', zones: ['scripts/'], packages: ['vitest'] },
  // The panel reads the file in the form in which the build writes it.
  { path: 'scripts/build/panel-pages', zones: ['sidecar/panel/http/'], packages: ['esbuild'] },
  // `npm start` shows the sidecar's log as a game server's console does.
  {
    path: 'scripts/',
    zones: ['scripts/build/panel-pages', 'sidecar/embedded/', 'sidecar/log-event.ts', 'standalone/'],
    packages: ['esbuild', 'fflate', 'oxc-parser'],
  },
  { path: 'test/', zones: [], packages: [] },
];

/** Files behind which details are hidden: only `openers` (and the folder itself) may import from `folder`. */
export interface Door {
  readonly folder: string;
  readonly openers: readonly string[];
}

export const DOORS: readonly Door[] = [
  { folder: 'db_connector/host/standalone/', openers: ['db_connector/host/detect.ts'] },
  { folder: 'db_connector/host/fivem/', openers: ['db_connector/host/detect.ts'] },
  ...['sqlite', 'postgres', 'mysql', 'mongo'].map((name) => ({
    folder: `sidecar/engine/${name}/`,
    openers: ['sidecar/engine/open.ts'],
  })),
  // A bundle sees the helper through its front.
  {
    folder: 'db_connector/helper/',
    openers: ['bundles/db_connector/', 'scripts/bench/'].map((zone) => `${zone}=db_connector/helper/helper.ts`),
  },
];
