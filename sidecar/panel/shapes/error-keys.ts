/**
 * Every refusal of the panel: its localization key and its HTTP status. Each key has a text in every locale
 * (`errors` in `web/locales/`). Keys of one field are `setup.<field>` and `settings.<field>`.
 */
export const ERROR_STATUS = {
  'host.invalid': 400,
  'origin.invalid': 403,
  'csrf.invalid': 400,
  'session.missing': 401,
  'session.expired': 401,
  'permission.missing': 403,
  'route.unknown': 404,
  'method.unknown': 405,
  'body.type': 415,
  'body.malformed': 400,
  'body.large': 413,
  'rate.limited': 429,
  'internal.error': 500,

  'login.failed': 401,

  'users.exists': 409,
  'users.unknown': 404,
  'users.lastManager': 409,
  'users.grant': 403,
  'users.username': 400,
  'users.password': 400,
  'users.permissions': 400,

  'setup.key': 403,
  'setup.keyMissing': 403,
  'setup.dashboardName': 400,
  'setup.username': 400,
  'setup.password': 400,
  'setup.confirmation': 400,
  'setup.locale': 400,
  'setup.serverRoot': 400,
  'setup.backend': 400,
  'setup.install': 409,
  'setup.busy': 409,

  'server.running': 409,
  'server.stopped': 409,
  'server.busy': 409,
  'server.elsewhere': 409,
  'server.unconfigured': 409,
  'command.text': 400,

  'events.tooMany': 429,
  'logs.unknown': 404,
  'logs.none': 404,
  'diagnostics.query': 400,
  'crashes.unknown': 404,

  'bundles.unknown': 404,
  'bundles.unavailable': 409,
  'bundles.category': 409,
  'bundles.changed': 409,
  'bundles.exists': 409,
  'bundles.linked': 409,
  'bundles.protected': 409,
  'bundleTools.tags': 400,
  'bundleTools.autostart': 400,
  'bundleTools.confirm': 400,
  'bundleTools.data': 400,
  'bundleTools.source': 400,
  'disk.full': 409,
  'bundles.name': 400,

  'jobs.full': 409,
  'jobs.committed': 409,

  'bundleTools.disabled': 409,
  'bundleTools.workflow': 409,
  'bundleTools.busy': 409,
  'bundleTools.unknown': 404,
  'bundleTools.field': 400,
  'bundleTools.category': 400,
  'bundleTools.gateSeconds': 400,
  'bundleTools.keepVersions': 400,
  'bundleTools.trashDays': 400,
  'bundleTools.buildMinutes': 400,
  'bundleTools.minReleaseAgeDays': 400,
  'bundleTools.registry': 400,
  'bundleTools.gitHosts': 400,
  'bundleTools.privateHosts': 400,
  'bundleTools.host': 409,
  'bundleTools.network': 409,
  'bundleTools.tool': 409,
  'bundleTools.url': 400,
  'bundleTools.credentials': 409,
  'bundleTools.moved': 409,
  'bundleTools.inUse': 409,
  'bundleTools.name': 400,
  'bundleTools.kind': 400,
  'bundleTools.username': 400,
  'bundleTools.token': 400,
  'bundleTools.account': 400,
  'bundleTools.owner': 400,
  'bundleTools.page': 400,
  'bundleTools.search': 400,
  'remote.unsupported': 409,

  'settings.bundleTools': 400,
  'settings.shutdownMode': 400,
  'settings.autoStartServer': 400,
  'settings.locale': 400,
  'settings.autoUpdateChecks': 400,
  'settings.updateChannel': 400,
  'settings.dashboardName': 400,
  'settings.unknown': 400,
  'settings.restartHungServer': 400,
  'settings.hangSeconds': 400,
  'settings.hangCommand': 400,
  'settings.serverRoot': 400,
  'settings.backend': 400,
  'config.conflict': 409,
  'config.invalid': 400,
  'config.noUndo': 409,
  'config.unwritable': 409,

  'charts.range': 400,

  'database.request': 400,
  'database.unknown': 404,
  'database.conflict': 409,
  'database.refused': 409,
  'database.failed': 503,

  'bridge.enabled': 400,
  'bridge.port': 400,
  'bridge.retentionDays': 400,
  'bridge.maxMegabytes': 400,
  'bridge.name': 400,
  'bridge.unknown': 404,
} as const;

export type ErrorKey = keyof typeof ERROR_STATUS;

/** Reasons to refuse a server folder, in English for the API; pages have a text for each code (`errors` in `web/locales/`). */
export const FOLDER_PROBLEMS = {
  'folder-empty': 'expected the full path of a folder',
  'folder-relative': 'expected a full path, such as {folder}',
  'folder-invalid': 'expected at most 1024 characters, no control characters and no ".."',
  'folder-missing': 'the folder {folder} does not exist',
  'folder-unreadable': 'the folder {folder} cannot be read',
  'folder-root': 'expected a folder, not the root of the disk',
  'folder-reserved': 'the sidecar keeps its own files in {folder}',
  'folder-file': '{folder} is a file, not a folder',
  'folder-noBundles': 'there is no folder bundles in {folder}',
  'folder-noConfig': 'there is no file server.cfg in {folder}',
} as const;

export type FolderProblem = keyof typeof FOLDER_PROBLEMS;

/** A refused folder. `folder` is the one that the sentence of `problem` names. */
export interface RefusedFolder {
  readonly problem: FolderProblem;
  readonly folder: string;
}
