export type LogLevel = 'info' | 'warn' | 'error';

/** Log for the owner: what happened, to which file, what to do. Never values of rows. */
export type EngineLog = (level: LogLevel, message: string, fields: Readonly<Record<string, string | number>>) => void;

/** End of a message to a caller if the details are for the owner alone. */
export const DETAILS_IN_LOG = '; details are in the log of the sidecar';
