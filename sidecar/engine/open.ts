import type { Engine, EngineOptions } from './engine.ts';
import { SqliteEngine } from './sqlite/sqlite-engine.ts';

/** `database` of sidecar.json, paths made absolute. */
export interface DatabaseSettings {
  readonly provider: 'sqlite';
  readonly file: string;
  readonly poolSize: number;
}

/**
 * Opens the database that the configuration names; the only place that knows every engine. A database that cannot be
 * reached now is no error here: calls answer `database_error` until it can.
 * @throws Error with one clear line for a database that must not be used: of a newer format, or of another program.
 */
export function openEngine(settings: DatabaseSettings, options: EngineOptions): Promise<Engine> {
  const { provider } = settings;
  switch (provider) {
    case 'sqlite':
      return SqliteEngine.open(settings, options);
    default:
      return provider satisfies never;
  }
}
