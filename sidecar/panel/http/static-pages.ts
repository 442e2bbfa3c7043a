import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { RawAnswer } from './route.ts';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  webmanifest: 'application/manifest+json',
  txt: 'text/plain; charset=utf-8',
};

/** The pages' own files alone; no script or style inside a page, no frame round it. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** The build's hash of the content in the name: what has it never changes. */
const HASHED = /-[A-Z0-9]{8}\.[a-z0-9]+$/;
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

interface StaticFile {
  readonly type: string;
  readonly isHashed: boolean;
  /** By content encoding; empty is the file as it is. */
  readonly bodies: ReadonlyMap<string, Buffer>;
}

/**
 * The built pages, all of them read at the start: what is asked for is looked up in that list and never becomes a path. Where
 * the pages have not been built there are none.
 */
export class StaticPages {
  readonly #files: ReadonlyMap<string, StaticFile>;

  constructor(folder: string) {
    this.#files = readFiles(folder);
  }

  /** Null if there is none. */
  find(url: string, acceptEncoding: string | undefined): RawAnswer | null {
    const [path = ''] = url.split('?');
    const file = this.#files.get(path === '/' ? '/index.html' : path);
    return file === undefined ? null : answerOf(file, acceptEncoding ?? '');
  }
}

function answerOf(file: StaticFile, acceptEncoding: string): RawAnswer {
  const accepted = new Set(acceptEncoding.split(',').map((part) => part.split(';')[0]?.trim()));
  const encoding = ENCODINGS.map(([name]) => name).find((name) => accepted.has(name) && file.bodies.has(name)) ?? '';
  const body = file.bodies.get(encoding) as Buffer;
  return new RawAnswer((response) => {
    response.setHeader('content-type', file.type);
    response.setHeader('content-security-policy', PAGE_POLICY);
    response.setHeader('cache-control', file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
    response.setHeader('vary', 'accept-encoding');
    if (encoding !== '') response.setHeader('content-encoding', encoding);
    response.setHeader('content-length', body.length);
    response.end(body);
  });
}

function readFiles(folder: string): Map<string, StaticFile> {
  const names = namesIn(folder);
  const known = new Set(names);
  const isPacked = (name: string) => ENCODINGS.some(([, end]) => name.endsWith(end) && known.has(name.slice(0, -3)));
  const plain = names.filter((name) => !isPacked(name));
  return new Map(
    plain.map((name) => {
      const packed = ENCODINGS.filter(([, end]) => known.has(name + end)).map(
        ([encoding, end]) => [encoding, readFileSync(join(folder, name + end))] as const,
      );
      const bodies = new Map([['', readFileSync(join(folder, name))], ...packed]);
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
      return [`/${name.split(sep).join('/')}`, { type, isHashed: HASHED.test(name), bodies }];
    }),
  );
}

function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch {
    return [];
  }
}
