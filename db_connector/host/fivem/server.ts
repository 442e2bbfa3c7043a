import { detectHost } from '../detect.ts';
import { startConnector } from '../start-connector.ts';
import { registerEventCommand } from './event-command.ts';
import { isFxServer } from './fx-server.ts';

// A classic script has no `start` that the server calls, and none of its exceptions is told by the server in full.
try {
  const globals: unknown = globalThis;
  startConnector(detectHost(globals));
  if (isFxServer(globals)) registerEventCommand(globals);
} catch (error) {
  console.log(
    `^1db_connector did not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}^7`,
  );
}
