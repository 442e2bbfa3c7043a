import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isNamespace } from '#protocol/identifiers.ts';
import { isReadableUrl } from '../config/database.ts';
import { fileFault } from '../config/text-file.ts';
import { CONFIG_OPTION, type CommandOptions, DEFAULT_CONFIG, readingArguments } from './arguments.ts';
import type { MoveIo } from './command-process.ts';

export interface ImportArguments {
  readonly url: string;
  readonly namespace: string;
  /** Names in the source; null means all. */
  readonly tables: readonly string[] | null;
  readonly isDryRun: boolean;
  readonly withoutMisfits: boolean;
  readonly timeZone: string;
  /** Folder for the proposal and the report. */
  readonly out: string;
  /** Folder of a proposal that the owner has changed; null to make one. */
  readonly proposal: string | null;
  readonly config: string;
}

export const IMPORT_OPTIONS = {
  'url-file': { type: 'string', value: 'FILE', about: 'file with the mysql:// URL to import from' },
  'url-env': { type: 'string', value: 'NAME', about: 'variable that holds it' },
  url: { type: 'string', value: 'URL', about: 'the URL itself; every user of the machine can read it' },
  namespace: { type: 'string', value: 'N', about: 'where the tables go' },
  tables: { type: 'string', value: 'A,B', about: 'only these tables (default all)' },
  'dry-run': { type: 'boolean', about: 'only writes the proposed schema and the report' },
  out: { type: 'string', value: 'DIR', about: 'folder for both (default import-N)' },
  proposal: { type: 'string', value: 'DIR', about: 'takes a schema from there' },
  'time-zone': { type: 'string', value: 'Z', about: 'of naive datetimes: UTC (default), +02:00, Europe/Berlin' },
  'without-misfits': { type: 'boolean', about: 'leaves out rows that do not fit, which are listed' },
  ...CONFIG_OPTION,
} as const satisfies CommandOptions;

/** @throws UsageError with one line, never with the URL: a password stands there. */
export function readImportArguments(args: readonly string[], io: MoveIo): ImportArguments {
  return readingArguments(() => {
    const { values } = parseArgs({ args: [...args], options: IMPORT_OPTIONS });
    const { namespace, tables, proposal = null, config = DEFAULT_CONFIG } = values;
    if (namespace === undefined || !isNamespace(namespace))
      throw new Error('--namespace expects the name of a namespace');
    if (tables !== undefined && !/[^,]/.test(tables)) throw new Error('--tables expects names of tables');
    const given = { url: values.url, file: values['url-file'], variable: values['url-env'] };
    return {
      url: checkedUrl(urlOf(given, io)),
      namespace,
      tables: tables === undefined ? null : tables.split(',').filter((name) => name !== ''),
      isDryRun: values['dry-run'] ?? false,
      withoutMisfits: values['without-misfits'] ?? false,
      timeZone: values['time-zone'] ?? 'UTC',
      out: values.out ?? proposal ?? `import-${namespace}`,
      proposal,
      config,
    };
  });
}

interface GivenUrl {
  readonly url: string | undefined;
  readonly file: string | undefined;
  readonly variable: string | undefined;
}

function urlOf({ url, file, variable }: GivenUrl, { environment, printError }: MoveIo): string {
  const given = [url, file, variable].filter((one) => one !== undefined);
  if (given.length !== 1) throw new Error('import needs exactly one of --url, --url-file and --url-env');
  if (file !== undefined) return readUrlFile(file);
  if (variable !== undefined) {
    const text = environment[variable];
    if (text === undefined) throw new Error('--url-env expects a variable that is set');
    return text.trim();
  }
  if (/^[a-z]+:\/\/[^/]*:[^/]*@/i.test(url ?? '')) {
    printError('warning: every user of this machine can read the password of --url; use --url-file or --url-env');
  }
  return url ?? '';
}

function readUrlFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`--url-file: ${fileFault(file, error)}`);
  }
}

function checkedUrl(url: string): string {
  const isUrl = /^(mysql|mariadb):\/\//.test(url) && isReadableUrl(url) && URL.canParse(url);
  if (isUrl && new URL(url).pathname.length > 1) return url;
  throw new Error(
    'the URL to import from is expected as mysql://USER:PASSWORD@HOST:PORT/DATABASE, with %2F for / in a password, %23 for #, %25 for %',
  );
}
