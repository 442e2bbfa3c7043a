/** Message on the channel of a child that asks it to stop as on SIGTERM. */
export const STOP_MESSAGE = 'stop';
