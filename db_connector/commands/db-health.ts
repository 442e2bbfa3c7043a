import type { Connector } from '../calls/connector.ts';
import type { ApiClient } from '../client/api-client.ts';
import type { Result } from '../client/outcome.ts';
import type { Timers } from '../client/timers.ts';
import { isHostAllowed } from '../config/database-config.ts';
import { OPERATIONS } from '../protocol/operations.ts';
import type { Command } from './command.ts';
import { alignedLines } from './lines.ts';

/** Sends one signed health check, past the queue and the circuit breaker, which it does not count for. */
export function dbHealth(connector: Connector, timers: Timers): Command {
  return {
    name: 'db-health',
    description: 'sends a signed health check to the API',
    async run(_args, reply) {
      const { client } = connector;
      if (client === null) {
        reply(`not configured: ${connector.reason}; mend that, then type db-reload`);
        return;
      }
      if (!isHostAllowed(client.config)) {
        reply(`not sent: the host ${client.config.target.host} is not in allowedHosts`);
        return;
      }
      for (const line of alignedLines(await checkHealth(client, timers))) {
        reply(line);
      }
    },
  };
}

async function checkHealth(client: ApiClient, timers: Timers): Promise<[string, string][]> {
  const begun = timers.elapsed();
  const result = await client.attemptOnce({
    path: OPERATIONS.health.path,
    payload: '{}',
    timeoutMs: null,
    isRepeatable: false,
  });
  return [
    ['url', client.config.target.url],
    ['answer', result.state === 'ok' ? 'signed, status 200' : `${result.code}: ${messageOf(result)}`],
    ['took', `${Math.round(timers.elapsed() - begun)} ms`],
    ...(result.state === 'ok' ? factsOf(result.json) : []),
  ];
}

function messageOf(result: Result): string {
  const message: unknown = parseOrNull(result.json)?.error;
  return typeof message === 'object' && message !== null && 'message' in message ? String(message.message) : '';
}

/** The API's own words: only scalars, and at most one level down. */
function factsOf(json: string): [string, string][] {
  const facts: [string, string][] = [];
  for (const [name, value] of Object.entries(parseOrNull(json) ?? {})) {
    const text = typeof value === 'object' && value !== null ? inner(value) : String(value);
    facts.push([name, text]);
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
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}
