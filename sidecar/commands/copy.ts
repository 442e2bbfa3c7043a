import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { isNamespace } from '../../db_connector/protocol/identifiers.ts';
import { ConfigError } from '../config/config-error.ts';
import type { DatabaseConfig } from '../config/database.ts';
import { loadConfig } from '../config/load-config.ts';
import { compareNamespaces, copyNamespaces } from '../moving/copy-namespaces.ts';
import { databaseName } from './database-name.ts';
import type { MoveIo } from './move-io.ts';
import { logOf, withEngine } from './with-engine.ts';

interface CopyArguments {
  readonly from: string;
  readonly to: string;
  readonly namespaces: readonly string[];
  readonly replace: boolean;
  readonly compare: boolean;
}

/**
 * `copy --from CONFIG --to CONFIG` (docs/moving.md). True where source and target are equal at the end; differences are
 * told. Throws `ConfigError` or `MoveRefused` with one line, before anything is changed.
 */
export async function runCopy(args: readonly string[], io: MoveIo): Promise<boolean> {
  const wanted = readArguments(args);
  const environment = withoutOverrides(io);
  const from = loadConfig(wanted.from, environment, true).database;
  const to = loadConfig(wanted.to, environment, true).database;
  checkPlaces(from, to);
  io.report.say(`${wanted.compare ? 'compares' : 'copies'} ${databaseName(from)} → ${databaseName(to)}`);
  return withEngine(from, io, (source) =>
    withEngine(to, io, (target) => {
      const work = {
        engines: { from: source, to: target },
        namespaces: wanted.namespaces,
        replace: wanted.replace,
        owner: `copy:${randomUUID()}`,
        log: logOf(io),
        report: io.report,
        signal: io.signal,
      };
      return wanted.compare ? compareNamespaces(work) : copyNamespaces(work);
    }),
  );
}

function readArguments(args: readonly string[]): CopyArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        from: { type: 'string' },
        to: { type: 'string' },
        namespace: { type: 'string', multiple: true },
        replace: { type: 'boolean' },
        compare: { type: 'boolean' },
      },
    });
    const { from, to, namespace: namespaces = [], replace = false, compare = false } = values;
    if (from === undefined || to === undefined) throw new Error('copy needs --from CONFIG and --to CONFIG');
    const wrong = namespaces.find((name) => !isNamespace(name));
    if (wrong !== undefined) throw new Error('--namespace expects the name of a namespace');
    if (replace && compare) throw new Error('--compare changes nothing, so --replace makes no sense with it');
    return { from, to, namespaces: [...new Set(namespaces)], replace, compare };
  } catch (error) {
    throw new ConfigError(`${(error as Error).message.split('\n', 1)[0]}; --help tells more`);
  }
}

/** What overrides `database` of every configuration would make both the same one. */
function withoutOverrides({ environment, printError }: MoveIo): NodeJS.ProcessEnv {
  const isOverride = (name: string): boolean => name.startsWith('SIDECAR_DATABASE_');
  const names = Object.keys(environment).filter(isOverride);
  if (names.length > 0) printError(`warning: ${names.join(', ')} is not used: it would stand for both databases`);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isOverride(name)));
}

function checkPlaces(from: DatabaseConfig, to: DatabaseConfig): void {
  if (databaseName(from) === databaseName(to)) {
    throw new ConfigError(`--from and --to name the same database, ${databaseName(from)}`);
  }
  if (from.provider === 'sqlite' && !existsSync(from.file)) {
    throw new ConfigError(`there is no database ${from.file} to copy from`);
  }
  if (to.provider === 'sqlite') mkdirSync(dirname(to.file), { recursive: true });
}
