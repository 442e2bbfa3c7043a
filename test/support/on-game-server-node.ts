import { realpathSync } from 'node:fs';

/** Set-up of each test file on the Node.js of game servers: a pool that starts another one would prove nothing. */
const { GAME_SERVER_NODE = '' } = process.env;
if (realpathSync(process.execPath) !== realpathSync(GAME_SERVER_NODE)) {
  throw new Error(`runs on ${process.execPath} in place of ${GAME_SERVER_NODE}`);
}
