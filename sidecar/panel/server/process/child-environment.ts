/**
 * What the sidecar was started with and the game server has no business with: its secrets, the passwords of its database, and
 * what a service manager hands to one process. Scripts of strangers run in a game server.
 */
const NOT_PASSED_ON =
  /^(SIDECAR_.*|PGPASSWORD|PGPASSFILE|PGSERVICEFILE|MYSQL_PWD|CREDENTIALS_DIRECTORY|NOTIFY_SOCKET|WATCHDOG_.*|LISTEN_(FDS|PID|FDNAMES)|NODE_CHANNEL_(FD|SERIALIZATION_MODE)|NODE_UNIQUE_ID)$/i;

/** Names a run of the server in the environment of all that it starts, so that the rest of it is known again (`RunMemory`). */
export const RUN_VARIABLE = 'GAME_PANEL_RUN';

/** @param secretVariables what the configuration names as places of secrets */
export function childEnvironment(
  own: NodeJS.ProcessEnv,
  secretVariables: ReadonlySet<string>,
  run: string,
): NodeJS.ProcessEnv {
  const kept = Object.entries(own).filter(([name]) => !NOT_PASSED_ON.test(name) && !secretVariables.has(name));
  return { ...Object.fromEntries(kept), [RUN_VARIABLE]: run };
}
