import { ConfigError } from '../config/config-error.ts';

/** A command that was typed wrong: exit code 2, nothing was done. The message is one line for the owner. */
export class UsageError extends ConfigError {}

/** Runs what reads arguments; what `parseArgs` and others throw becomes one line that names the argument. */
export function readingArguments<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n', 1);
    // A URL may hold a password.
    const shown = line.replace(/\. To specify .*/, '').replace(/\/\/[^\s']*@/g, '//…@');
    throw new UsageError(`${shown}; --help tells more`);
  }
}
