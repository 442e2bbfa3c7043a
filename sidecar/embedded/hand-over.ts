import { join } from 'node:path';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import { isJsonObject, JsonError, parseJson } from '#protocol/json.ts';
import { MIN_SECRET_BYTES } from '#protocol/limits.ts';
import { importSecret } from '#protocol/signing.ts';
import { ConfigError } from '../config/config-error.ts';
import { loadConfig, type SidecarConfig } from '../config/load-config.ts';
import type { KeyRow } from '../security/keyring.ts';

/** More than any folder and secret need; what is longer did not come from a game server's connector. */
const MAX_BYTES = 65_536;

/** Properties that an older program does not know are ignored: connector and sidecar may be of different versions for a moment. */
const handOver = z.object({
  /** Absolute; everything that is kept lies below it. */
  folder: z.string().min(1),
  kid: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/),
  /** Made for this start alone. */
  secret: z.string().min(MIN_SECRET_BYTES),
});

/** Orders of a game server's connector to its own sidecar, as one JSON line on standard input (contract section 8). */
export type HandOver = z.output<typeof handOver>;

/** @throws ConfigError; it never quotes the line, which holds the secret */
export async function readHandOver(input: Readable): Promise<HandOver> {
  const line = await firstLine(input);
  const checked = handOver.safeParse(parse(line));
  if (checked.success) return checked.data;
  const field = String(checked.error.issues[0]?.path[0] ?? 'the line');
  throw new ConfigError(
    `standard input: expected {"folder":…,"kid":…,"secret":…} in its first line, got something else at ${field}`,
  );
}

function parse(line: string): unknown {
  try {
    const value = parseJson(line);
    return isJsonObject(value) ? value : null;
  } catch (error) {
    if (error instanceof JsonError) return null;
    throw error;
  }
}

/** Input after the line is left unread: only its end means anything. */
function firstLine(input: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const settle = (run: () => void) => {
      input.off('data', onData).off('end', onEnd).off('error', onEnd);
      run();
    };
    const onData = (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end !== -1) settle(() => resolve(text.slice(0, end)));
      else if (text.length > MAX_BYTES)
        settle(() => reject(new ConfigError('standard input: its first line is too long')));
    };
    const onEnd = () => settle(() => reject(new ConfigError('standard input: it ended before a whole line had come')));
    input.setEncoding('utf8').on('data', onData).on('end', onEnd).on('error', onEnd);
  });
}

const EVERYTHING: Pick<KeyRow, 'operations' | 'namespaces' | 'allowUnfilteredWrites'> = {
  operations: ['*'],
  namespaces: ['*'],
  allowUnfilteredWrites: false,
};

export function configFileIn(folder: string): string {
  return join(folder, 'sidecar.json');
}

/**
 * `sidecar.json` of the data folder, served to the parent alone: on any free port of this machine, with one key whose
 * secret only the parent has. The file says what that key may do.
 *
 * @throws ConfigError
 */
export function loadEmbeddedConfig({ folder, kid, secret }: HandOver, environment: NodeJS.ProcessEnv): SidecarConfig {
  // The file's own secrets are not used, so they need not be there.
  const config = loadConfig(configFileIn(folder), environment, true);
  const { operations, namespaces, allowUnfilteredWrites } = config.keys.find((key) => key.kid === kid) ?? EVERYTHING;
  return Object.freeze({
    ...config,
    api: {
      ...config.api,
      host: '127.0.0.1',
      port: 0,
      socketPath: null,
      tls: null,
      requireHttps: 'non-loopback' as const,
    },
    keys: [
      {
        kid,
        secret: importSecret(secret),
        previous: null,
        ...{ operations, namespaces, allowUnfilteredWrites },
        addresses: [],
      },
    ],
  });
}
