import type { Say } from '../config/say.ts';
import type { Command } from './command.ts';

/** @param load reads everything again and says how it went; never rejects */
export function dbReload(load: (say: Say) => Promise<void>): Command {
  return {
    name: 'db-reload',
    description: 'reads database.json and the secret again, resets the circuit breaker and sets the clock',
    run: (_args, reply) => load(reply),
  };
}
