/** Names of FXServer's program, the preferred one first; `cfx-server` is the server of GTA V Enhanced. */
export const FX_PROGRAMS: readonly string[] =
  process.platform === 'win32' ? ['FXServer.exe', 'cfx-server.exe'] : ['run.sh', 'FXServer', 'cfx-server'];

/** Programs that the backend starts by itself if they are in the server folder: an empty start line means one of them. */
export const FX_USUAL_PROGRAMS = FX_PROGRAMS.filter((name) => name !== 'FXServer');
