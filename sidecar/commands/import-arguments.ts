import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isNamespace } from '../../db_connector/protocol/identifiers.ts';
import { ConfigError } from '../config/config-error.ts';
import { isReadableUrl } from '../config/database.ts';
import type { MoveIo } from './move-io.ts';

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

const DEFAULT_CONFIG = 'vfs/sidecar.json';

/** @throws ConfigError with one line, never with the URL: a password stands there. */
export function readImportArguments(args: readonly string[], io: MoveIo): ImportArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        url: { type: 'string' },
        'url-file': { type: 'string' },
        'url-env': { type: 'string' },
        namespace: { type: 'string' },
        tables: { type: 'string' },
        'dry-run': { type: 'boolean' },
        'without-misfits': { type: 'boolean' },
        'time-zone': { type: 'string' },
        out: { type: 'string' },
        proposal: { type: 'string' },
        config: { type: 'string' },
      },
    });
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
  } catch (error) {
    throw new ConfigError(`${(error as Error).message.split('\n', 1)[0]}; --help tells more`);
  }
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
    throw new Error(`--url-file expects a file that can be read, got ${(error as NodeJS.ErrnoException).code}`);
  }
}

function checkedUrl(url: string): string {
  const isUrl = /^(mysql|mariadb):\/\//.test(url) && isReadableUrl(url);
  if (isUrl && new URL(url).pathname.length > 1) return url;
  throw new Error(
    'the URL to import from is expected as mysql://USER:PASSWORD@HOST:PORT/DATABASE, with %2F for / in a password, %23 for #, %25 for %',
  );
}
