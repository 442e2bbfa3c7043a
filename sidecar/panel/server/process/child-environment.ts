/**
 * Variables of the sidecar that the game server must not see: secrets, database passwords, and variables that a service
 * manager gives to one process. Foreign scripts run in a game server.
 */
const NOT_PASSED_ON =
  /^(SIDECAR_.*|GAME_PANEL_KEEPER|PGPASSWORD|PGPASSFILE|PGSERVICEFILE|MYSQL_PWD|CREDENTIALS_DIRECTORY|NOTIFY_SOCKET|WATCHDOG_.*|LISTEN_(FDS|PID|FDNAMES)|NODE_CHANNEL_(FD|SERIALIZATION_MODE)|NODE_UNIQUE_ID)$/i;

/** Names a run in the environment of all its processes, so that a later sidecar finds the rest of them (`RunMemory`). */
export const RUN_VARIABLE = 'GAME_PANEL_RUN';

/** @param secretVariables variables that the configuration names for secrets */
export function childEnvironment(
  own: NodeJS.ProcessEnv,
  secretVariables: ReadonlySet<string>,
  run: string,
): NodeJS.ProcessEnv {
  const kept = Object.entries(own).filter(([name]) => !NOT_PASSED_ON.test(name) && !secretVariables.has(name));
  return { ...Object.fromEntries(kept), [RUN_VARIABLE]: run };
}
