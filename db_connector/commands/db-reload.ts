import type { Connector } from '../calls/connector.ts';
import { ConfigError } from '../config/config-error.ts';
import { type ConfigurationSource, loadConfiguration } from '../config/configuration.ts';
import { isHostAllowed } from '../config/database-config.ts';
import type { Say } from '../config/say.ts';
import type { Command } from './command.ts';

/** Reads the configuration and the secret again, with a new circuit breaker and the clock set. */
export function dbReload(connector: Connector, source: ConfigurationSource): Command {
  return {
    name: 'db-reload',
    description: 'reads database.json and the secret again, resets the circuit breaker and sets the clock',
    async run(_args, reply) {
      await loadInto(connector, source, reply);
    },
  };
}

/**
 * Hands the configuration to the connector and says how it went. A configuration that cannot be used leaves the
 * running one as it is. Never rejects.
 */
export async function loadInto(connector: Connector, source: ConfigurationSource, say: Say): Promise<void> {
  try {
    const configuration = loadConfiguration(source);
    const { config } = configuration;
    const clockIsSet = connector.configure(configuration);
    say(
      `calls go to ${config.target.url} with key ${config.keyId}, namespaces ${[...config.namespaces].join(', ')}`,
      'good',
    );
    for (const warning of configuration.warnings) {
      say(warning, 'warning');
    }
    if (!isHostAllowed(config)) {
      say(`the host ${config.target.host} is not in allowedHosts: every call ends with network`, 'bad');
    }
    await clockIsSet;
  } catch (error) {
    const reason = error instanceof ConfigError ? error.message : `unexpected: ${String(error)}`;
    connector.refuseCalls(reason);
    say(
      connector.client === null
        ? `not configured: ${reason}; mend that, then type db-reload`
        : `the running configuration stays: ${reason}`,
      'bad',
    );
  }
}
