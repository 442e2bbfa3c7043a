import * as z from 'zod';
import { PanelError } from '../panel-error.ts';

/** Files of a release that its manifest does not list. */
export const MANIFEST_FILE = 'RELEASE.json';
export const SIGNATURE_FILE = 'RELEASE.sig';
export const RELEASE_FILES: readonly string[] = [MANIFEST_FILE, SIGNATURE_FILE];
export const MAX_MANIFEST_BYTES = 4 * 2 ** 20;

const MAX_FILES = 20_000;
const MAX_PATH_CHARS = 200;
/** Names that are the same on every system. */
const SEGMENT = /^(?!\.\.?$|__proto__$)[A-Za-z0-9@_+.-]*[A-Za-z0-9@_+-]$/;
const VERSION = /^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z-]{1,32}(\.[0-9A-Za-z-]{1,32}){0,4})?$/;
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

const formatNumber = z.int().min(0).max(1_000_000);

const manifestShape = z.strictObject({
  product: z.literal('sidecar'),
  version: z.string().regex(VERSION),
  channel: z.enum(['stable', 'beta']),
  date: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
  node: z.string().max(100),
  keeper: formatNumber,
  formats: z.strictObject({ panel: formatNumber, database: formatNumber, journal: formatNumber }),
  files: z.record(z.string().refine(isReleasePath), z.string().regex(/^[0-9a-f]{64}$/)),
});

/** RELEASE.json: a version of the sidecar with the SHA-256 of each of its files. */
export type ReleaseManifest = z.output<typeof manifestShape>;

/** @throws PanelError `update.invalid` */
export function readManifest(bytes: Uint8Array): ReleaseManifest {
  if (bytes.length > MAX_MANIFEST_BYTES) throw invalidRelease(`${MANIFEST_FILE} is too long`);
  const read = manifestShape.safeParse(parsed(bytes));
  if (!read.success) {
    const field = read.error.issues[0]?.path.join('.') ?? '';
    throw invalidRelease(`${MANIFEST_FILE} is not that of a sidecar${field === '' ? '' : `: ${field}`}`);
  }
  checkPaths(Object.keys(read.data.files));
  return read.data;
}

export function isVersion(text: string): boolean {
  return VERSION.test(text);
}

export function invalidRelease(detail: string): PanelError {
  return new PanelError('update.invalid', { detail: detail.slice(0, 300) });
}

function isReleasePath(path: string): boolean {
  if (path.length > MAX_PATH_CHARS || RELEASE_FILES.includes(path)) return false;
  return path.split('/').every((segment) => SEGMENT.test(segment) && !RESERVED.test(segment));
}

/** Paths that one disk can hold: none twice, also but for case, and no file where another path has a folder. */
function checkPaths(paths: readonly string[]): void {
  if (paths.length > MAX_FILES) throw invalidRelease(`${MANIFEST_FILE} lists more than ${MAX_FILES} files`);
  if (!paths.includes('main.js')) throw invalidRelease('it has no main.js');
  const files = new Set(paths.map((path) => path.toLowerCase()));
  if (files.size < paths.length) throw invalidRelease(`${MANIFEST_FILE} lists a file twice`);
  const twin = [...files].find((path) => foldersOf(path).some((folder) => files.has(folder)));
  if (twin !== undefined) throw invalidRelease(`${MANIFEST_FILE} has a file and a folder of one name: ${twin}`);
}

function foldersOf(path: string): string[] {
  const segments = path.split('/');
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'));
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
