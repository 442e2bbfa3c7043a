/** Settings of the server that `run-table.test.ts` drives. */
export const TABLE_SETTINGS: Readonly<Record<string, unknown>> = {
  backend: 'command',
  serverRoot: '/',
  startLine: 'server',
  stopLine: 'quit',
  hangCommand: 'status',
  hangSeconds: 60,
  stopWaitSeconds: 20,
  killWaitSeconds: 10,
  shutdownMode: 'graceful',
  autoStartServer: true,
  restartHungServer: false,
  warnEvents: true,
  locale: 'en',
};
