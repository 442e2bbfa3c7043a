/** Words for a route that tokens may call; bodies and permissions come from its declaration. */
export interface Description {
  readonly summary: string;
  /** Fields of the answer beside `ok`, or its kind if it is no object. */
  readonly answer: string;
  /** Content type of an answer that is no JSON. */
  readonly type?: string;
  /** Parameters of the address. */
  readonly query?: Readonly<Record<string, string>>;
}

const LIMIT = 'at most this many';
const STATUS = '`status`: `state`, `pid`, `serverRoot`, `startedAt`, `exit`, `plan`';
const NEXT_RESTART = '`next`, as in `GET /api/schedule`';

/** By method and path. The generator refuses a route without a line here, and a line without a route. */
export const DESCRIPTIONS: Readonly<Record<string, Description>> = {
  'GET /api/session': {
    summary: 'Account of the token, and what the token may do at this moment',
    answer: '`authenticated`, `username`, `permissions`, `secondFactor` of the account, `csrf` (empty); no `ok`',
  },
  'GET /api/bootstrap': {
    summary: 'Name, version and languages of the panel',
    answer: '`setup`, `dashboardName`, `locale`, `locales`, `version`',
  },
  'GET /api/status': { summary: 'State of the game server', answer: STATUS },
  'POST /api/server/start': { summary: 'Start the game server', answer: STATUS },
  'POST /api/server/stop': { summary: 'Stop the game server', answer: STATUS },
  'POST /api/server/restart': { summary: 'Restart the game server', answer: STATUS },
  'POST /api/server/force-stop': { summary: 'End the game server at once', answer: STATUS },
  'GET /api/schedule': {
    summary: 'Planned work, and the next restart',
    answer: '`now`, `entries`, `next`: `id`, `name`, `action`, `at`, `plannedAt`, `waitsFor`; or null',
  },
  'POST /api/schedule/skip': { summary: 'Skip a planned restart', answer: NEXT_RESTART },
  'POST /api/schedule/now': { summary: 'Run a planned restart now', answer: NEXT_RESTART },
  'POST /api/schedule/delay': { summary: 'Put a planned restart off by minutes (10)', answer: NEXT_RESTART },
  'POST /api/command': { summary: 'Type one line on the console', answer: 'nothing else' },
  'GET /api/backups': {
    summary: 'Backups on this machine and off it',
    answer: '`backups`, `drill`, `remote`: `reachable`, `error`; `continuous`: `lagSeconds`, `isLate`; `status`',
  },
  'POST /api/backups/make': { summary: 'Make a backup now', answer: '`status`' },
  'GET /api/players': {
    summary: 'Players on the server, as an FXServer reports them',
    answer: '`players`: `id`, `name`, `ping`',
  },
  'POST /api/players/kick': { summary: 'Kick a player; `name` must still be the name of `id`', answer: 'nothing else' },
  'GET /api/crashes': { summary: 'Crash records, newest first', answer: '`crashes`' },
  'GET /api/crashes/:id': {
    summary: 'One crash record with the last lines of the console',
    answer: '`crash`; with `download=true` a text file',
    query: { download: '`true` for a text file' },
  },
  'GET /api/bundles': { summary: 'Bundles and their states', answer: '`bundles`' },
  'POST /api/bundles/:name/start': { summary: 'Start a bundle', answer: 'nothing else' },
  'POST /api/bundles/:name/stop': { summary: 'Stop a bundle', answer: 'nothing else' },
  'POST /api/bundles/:name/restart': { summary: 'Restart a bundle', answer: 'nothing else' },
  'GET /api/events': {
    summary: 'Stream of events: state, console, jobs; ends with the token',
    answer: 'server-sent events',
    type: 'text/event-stream',
    query: { after: 'number of the last line that the reader has' },
  },
  'GET /api/console': {
    summary: 'Lines of the console, page by page',
    answer: '`lines`, `more`',
    query: { limit: LIMIT, before: 'lines before this number', around: 'lines round this number' },
  },
  'GET /api/logs': { summary: 'The last 500 lines of the console', answer: '`lines`' },
  'GET /api/log-files': { summary: 'Log files of the server, newest first', answer: 'an array; no `ok`' },
  'GET /api/log-files-current': { summary: 'The current log file', answer: 'text', type: 'text/plain' },
  'GET /api/log-files.zip': { summary: 'All log files', answer: 'a ZIP archive', type: 'application/zip' },
  'GET /api/log-files/:name': {
    summary: 'End of one log file, at most 2 MiB',
    answer: 'text',
    type: 'text/plain',
    query: { around: 'the part round the line of this number' },
  },
  'GET /api/diagnostics': {
    summary: 'Problems of server, panel and API, newest first',
    answer: '`entries`, `cursor`, `more`',
    query: {
      limit: LIMIT,
      cursor: 'of the page before',
      source: '`server`, `panel`, `api` or `bridge`',
      module: 'a bundle or a part',
      level: 'levels, joined by commas',
      search: 'plain text, without case',
      history: '`true` reads the files too',
    },
  },
  'GET /api/charts': {
    summary: 'Processor, memory, calls and players over time',
    answer: 'series and marks',
    query: { range: '`1h`, `6h`, `24h` or `7d`' },
  },
  'GET /api/server-name': { summary: 'Name of the game server', answer: '`name`' },
  'GET /api/database/namespaces': {
    summary: 'Namespaces and tables with their sizes',
    answer: '`namespaces`, `provider`',
  },
  'POST /api/database/rows': {
    summary: 'Rows of a table by a filter, page by page',
    answer: '`columns`, `key`, `rows`, `hasMore`, `isBehind`',
  },
  'POST /api/database/count': {
    summary: 'Number of rows that a filter finds',
    answer: '`rows` (null if not counted in time), `isEstimate`',
  },
  'POST /api/database/row': { summary: 'Change one row by its key', answer: '`before`, `after`, `changed`' },
  'GET /api/database/queue': {
    summary: 'Queue of writes, and dead letters',
    answer: '`queue`, `letters`, `hasMoreLetters`',
  },
  'POST /api/database/dead-letters/retry': { summary: 'Try dead letters again', answer: '`done`, `gone`, `prospects`' },
  'POST /api/database/dead-letters/discard': { summary: 'Discard dead letters', answer: '`done`, `gone`, `prospects`' },
  'GET /api/database/quarantine': { summary: 'Tables and columns in quarantine', answer: '`objects`' },
  'POST /api/database/quarantine/restore': { summary: 'Restore from quarantine', answer: '`done`, `failed`' },
  'POST /api/database/quarantine/purge': { summary: 'Remove from quarantine for good', answer: '`done`, `failed`' },
  'GET /api/database/slow': { summary: 'Slow calls', answer: '`thresholdMs`, `calls`, `slow`, `latest`' },
  'GET /api/database/keys': { summary: 'Keys of the API with their last use', answer: '`keys`' },
};
