import type { Connector } from '../calls/connector.ts';
import type { ApiClient } from '../client/api-client.ts';
import type { Result } from '../client/outcome.ts';
import type { Timers } from '../client/timers.ts';
import { isHostAllowed } from '../config/database-config.ts';
import { OPERATIONS } from '../protocol/operations.ts';
import type { Command } from './command.ts';
import { type Fact, sayFacts } from './lines.ts';
import { writeBufferFacts } from './write-buffer-facts.ts';

/** Sends one signed health check, past the queue and the circuit breaker, which it does not count for. */
export function dbHealth(connector: Connector, timers: Timers): Command {
  return {
    name: 'db-health',
    description: 'sends a signed health check to the API',
    async run(_args, reply) {
      const { client } = connector;
      if (client === null) {
        reply(
          connector.isHolding
            ? connector.reason
            : `not configured: ${connector.reason}; mend that, then type db-reload`,
          'bad',
        );
        return;
      }
      if (!isHostAllowed(client.config)) {
        reply(`not sent: the host ${client.config.target.host} is not in allowedHosts`, 'bad');
        return;
      }
      sayFacts(await checkHealth(client, timers), reply);
    },
  };
}

async function checkHealth(client: ApiClient, timers: Timers): Promise<Fact[]> {
  const begun = timers.elapsed();
  const result = await client.attemptOnce({
    path: OPERATIONS.health.path,
    payload: '{}',
    timeoutMs: null,
    isRepeatable: false,
  });
  return [
    ['url', client.config.target.url],
    result.state === 'ok'
      ? ['answer', 'signed, status 200', 'good']
      : ['answer', `${result.code}: ${messageOf(result)}`, 'bad'],
    ['took', `${Math.round(timers.elapsed() - begun)} ms`],
    ...(result.state === 'ok' ? factsOf(result.json) : []),
  ];
}

function messageOf(result: Result): string {
  const error: unknown = parseOrNull(result.json)?.error;
  return isRecord(error) && 'message' in error ? String(error.message) : '';
}

/** The API's own words, but for the write buffer, which an owner may have to read in a hurry. */
function factsOf(json: string): Fact[] {
  const facts: Fact[] = [];
  for (const [name, value] of Object.entries(parseOrNull(json) ?? {})) {
    if (!isRecord(value)) facts.push([name, String(value)]);
    else if (name === 'writeBuffer') facts.push(...writeBufferFacts(value));
    else facts.push([name, inner(value)]);
  }
  return facts;
}

function inner(value: object): string {
  return Object.entries(value)
    .map(([name, fact]) => `${name} ${String(fact)}`)
    .join(', ');
}

function parseOrNull(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
