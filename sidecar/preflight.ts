import Database from 'better-sqlite3';
import { loadConfig } from './config/load-config.ts';
import { FORMATS } from './formats.ts';
import { KEEPER_CHANNEL } from './keeper/channel/messages.ts';
import { VERSION } from './program-folder.ts';

/** Facts that a program reports of itself before it is started in place of another one. */
export interface Preflight {
  readonly product: 'sidecar';
  readonly version: string;
  readonly keeper: number;
  readonly formats: typeof FORMATS;
}

/**
 * Tries what a start needs and writes nothing: the configuration, if it is named, and the native parts of the program.
 *
 * @throws Error with one line for the owner
 */
export function preflight(configFile: string | null, environment: NodeJS.ProcessEnv): Preflight {
  if (configFile !== null) loadConfig(configFile, environment, true);
  new Database(':memory:').close();
  return { product: 'sidecar', version: VERSION, keeper: KEEPER_CHANNEL, formats: FORMATS };
}
