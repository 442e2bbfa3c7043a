import { readFileSync } from 'node:fs';
import { type PageBodies, unpackPages } from './pages-file.ts';
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
/** The best first. */
const ENCODINGS = ['br', 'gzip'] as const;

interface StaticFile {
  readonly type: string;
  readonly isHashed: boolean;
  readonly bodies: PageBodies;
}

/**
 * The built pages, all of them read at the start: what is asked for is looked up in that list and never becomes a path. Where
 * the pages have not been built there are none.
 */
export class StaticPages {
  readonly #files: ReadonlyMap<string, StaticFile>;

  /** @param file as `packPages` makes it */
  constructor(file: string) {
    this.#files = readFiles(file);
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
  const encoding = ENCODINGS.find((name) => accepted.has(name) && file.bodies.has(name)) ?? '';
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

function readFiles(file: string): Map<string, StaticFile> {
  return new Map(
    [...readPages(file)].map(([path, bodies]) => {
      const type = TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
      return [`/${path}`, { type, isHashed: HASHED.test(path), bodies }];
    }),
  );
}

function readPages(file: string): Map<string, PageBodies> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return new Map();
  }
  return unpackPages(bytes);
}
