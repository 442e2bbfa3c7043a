import { fxHost } from './fivem/adapter.ts';
import { isFxServer } from './fivem/fx-server.ts';
import type { Host } from './host.ts';
import { standaloneHost } from './standalone/adapter.ts';
import { isStandaloneServer } from './standalone/host-types.ts';

/**
 * The adapter of the game server that runs this code. This is the only file that names them.
 *
 * @param given what the server hands to a bundle's script, or the globals of a script that is handed nothing
 * @throws Error if no known server is found
 */
export function detectHost(given: unknown): Host {
  if (isStandaloneServer(given)) {
    return standaloneHost(given);
  }
  if (isFxServer(given)) {
    return fxHost(given);
  }
  throw new Error('db_connector does not know this game server');
}
