import { execFile } from 'node:child_process';
import type { EmbeddedPlace } from './embedded-place.ts';

/** Before them an unsigned body can flood V8's hashes (CVE-2026-21717). */
const NEEDED = '22.22.2, or 24.14.1 or newer';
/** Windows gives a new path to programs that start afterwards. */
const AFTERWARDS = process.platform === 'win32' ? 'start the server again' : 'type db-reload';

/** The sidecar cannot be started, and trying again would not help. The message says what the owner has to do. */
export class CannotStartError extends Error {
  override readonly name = 'CannotStartError';
}

/** @throws CannotStartError where `node` is missing, too old, or may not be started */
export async function checkNode(node: string, place: EmbeddedPlace): Promise<void> {
  const output = await versionOf(node, place);
  const version = /^v(\d+)\.(\d+)\.(\d+)/.exec(output);
  const [major, minor, patch] = [Number(version?.[1]), Number(version?.[2]), Number(version?.[3])];
  if (!isNewEnough(major * 1_000_000 + minor * 1000 + patch)) {
    const what = version === null ? 'is no Node.js' : `is Node.js ${output.trim().slice(1)}`;
    throw new CannotStartError(`the sidecar needs Node.js ${NEEDED}, and "${node}" ${what}: ${install(place)}`);
  }
}

function isNewEnough(version: number): boolean {
  return (version >= 22_022_002 && version < 23_000_000) || version >= 24_014_001;
}

function install({ nodeSetting }: EmbeddedPlace): string {
  return `install Node.js 24 from https://nodejs.org, or name another one (${nodeSetting}); then ${AFTERWARDS}`;
}

function versionOf(node: string, place: EmbeddedPlace): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) => reject(explain(error, node, place));
    try {
      const options = { timeout: 20_000, windowsHide: true, env: environmentOfChild() };
      execFile(node, ['--version'], options, (error, output) => (error === null ? resolve(output) : refuse(error)));
    } catch (error) {
      // A host that forbids programs throws in the call itself.
      refuse(error);
    }
  });
}

function explain(error: unknown, node: string, place: EmbeddedPlace): CannotStartError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  if (code === 'ERR_ACCESS_DENIED' && place.permissionHint !== null) {
    return new CannotStartError(`this resource may not start its sidecar: ${place.permissionHint}`);
  }
  const what = code === 'ENOENT' ? 'was not found' : `cannot be started (${code ?? String(error)})`;
  return new CannotStartError(`the sidecar needs Node.js, and "${node}" ${what}: ${install(place)}`);
}

/** Flags for the game server's own Node.js would reach the child too; the connector's secret is nothing to it. */
export function environmentOfChild(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _flags, DB_CONNECTOR_SECRET: _secret, ...rest } = process.env;
  return rest;
}
