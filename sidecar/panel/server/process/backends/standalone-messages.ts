import { isRecord } from '#panel/is-record.ts';
import type { BundleInfo, BundleState } from '#panel/shapes/bundles.ts';

/**
 * What the standalone server says over its channel (`standalone/panel-channel.ts`). Scripts run in its process and can say
 * anything there, so it is taken only in its shape, and only so much of it.
 */
const MAX_BUNDLES = 2000;
const MAX_TEXT_CHARS = 2000;
const MAX_LIST = 200;
const STATES: readonly string[] = ['stopped', 'starting', 'started', 'failed'] satisfies BundleState[];

export function readPong(message: unknown): number | null {
  return isRecord(message) && message.type === 'pong' && typeof message.id === 'number' ? message.id : null;
}

/** null where it is another message, or none that this can be made of. */
export function readBundlesMessage(message: unknown): BundleInfo[] | null {
  if (!isRecord(message) || message.type !== 'bundles' || !Array.isArray(message.bundles)) return null;
  return message.bundles.slice(0, MAX_BUNDLES).flatMap((bundle) => readBundle(bundle) ?? []);
}

function readBundle(value: unknown): BundleInfo | null {
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') return null;
  return {
    name: text(value.name),
    version: text(value.version),
    description: text(value.description),
    state: typeof value.state === 'string' && STATES.includes(value.state) ? (value.state as BundleState) : 'unknown',
    dependencies: texts(value.dependencies),
    tags: texts(value.tags),
    autostart: value.autostart === true,
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : '';
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, MAX_LIST).map(text) : [];
}
