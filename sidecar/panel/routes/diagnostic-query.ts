import type { DiagnosticQuery } from '../console/diagnostics.ts';
import type { Caller, PanelRequest } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';
import {
  DIAGNOSTIC_LEVELS,
  DIAGNOSTIC_SOURCES,
  type DiagnosticLevel,
  type DiagnosticSource,
} from '../shapes/diagnostics.ts';
import { integerOf, textOf } from './query-values.ts';

const DEFAULT_LIMIT = 100;
const MOST_ENTRIES = 1000;

/** The query of a request, narrowed to what the account may see. @throws PanelError */
export function diagnosticQuery({ caller, query, signal }: PanelRequest): DiagnosticQuery {
  const { permissions } = caller as Caller;
  const canReadLogs = permissions.has('logs.read');
  const history = query.get('history') === 'true';
  const source = query.get('source');
  if (!canReadLogs && (history || isLogSource(source))) throw new PanelError('permission.missing');
  checkChoice('history', query.get('history'), ['true', 'false']);
  checkChoice('source', source, DIAGNOSTIC_SOURCES);
  checkChoice('requests', query.get('requests'), ['true', 'false']);
  return {
    sources: source === null ? visibleTo(canReadLogs) : new Set([source as DiagnosticSource]),
    levels: levelsOf(query.get('level')),
    hasRequests: query.get('requests') !== 'false',
    module: textOf(query, 'module', 64),
    search: textOf(query, 'search', 256),
    limit: integerOf(query, 'limit', 1, MOST_ENTRIES) ?? DEFAULT_LIMIT,
    history,
    cursor: query.get('cursor'),
    signal,
  };
}

/** `error,warn`; all levels if not given. */
function levelsOf(text: string | null): ReadonlySet<DiagnosticLevel> {
  const names = text === null ? DIAGNOSTIC_LEVELS : text.split(',');
  for (const name of names) checkChoice('level', name, DIAGNOSTIC_LEVELS);
  return new Set(names as readonly DiagnosticLevel[]);
}

/** Lines of the sidecar and of other machines need `logs.read`; lines of the server's console need only `console.read`. */
function isLogSource(source: string | null): boolean {
  return source !== null && source !== 'server' && (DIAGNOSTIC_SOURCES as readonly string[]).includes(source);
}

function visibleTo(canReadLogs: boolean): ReadonlySet<DiagnosticSource> {
  return new Set(canReadLogs ? DIAGNOSTIC_SOURCES : ['server']);
}

function checkChoice(field: string, value: string | null, choices: readonly string[]): void {
  if (value !== null && !choices.includes(value)) throw new PanelError('diagnostics.query', { field });
}
