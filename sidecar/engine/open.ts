import type { Engine, EngineOptions } from './engine.ts';
import type { DatabaseSettings } from './settings.ts';

/**
 * Opens the database of the configuration. The only place that knows every engine; it loads only the driver in use. A
 * database that cannot be reached now is no error here: calls fail with `database_error` until it can.
 * @throws Error with one clear line for a database that must not be used: too old, set up so that it cannot serve, of a
 * newer format, or of another program.
 */
export async function openEngine(settings: DatabaseSettings, options: EngineOptions): Promise<Engine> {
  const { provider } = settings;
  switch (provider) {
    case 'sqlite':
      return (await import('./sqlite/engine.ts')).SqliteEngine.open(settings, options);
    case 'postgres':
      return (await import('./postgres/engine.ts')).openPostgres(settings, options);
    case 'mysql':
      return (await import('./mysql/engine.ts')).openMysql(settings, options);
    case 'mongodb':
      return (await import('./mongo/engine.ts')).MongoEngine.open(settings, options);
    default:
      return provider satisfies never;
  }
}
