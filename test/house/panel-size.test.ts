import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { unpackPages } from '#panel/http/pages-file.ts';
import { LOCALES } from '#panel/shapes/locales.ts';

const PAGES = unpackPages(readFileSync(fileURLToPath(new URL('../../dist/sidecar/panel.pages', import.meta.url))));
const ASSETS = [...PAGES.keys()].filter((path) => path.startsWith('assets/')).map((path) => path.slice(7));
/** panel.md, "Pages", and its twin for Overview. Charts are not counted. */
const SIGN_IN_BYTES = 35 * 1024;
const OVERVIEW_BYTES = 60 * 1024;

function bodyOf(path: string, encoding: string): Buffer {
  const body = PAGES.get(path)?.get(encoding);
  if (body === undefined) throw new Error(`the pages lack ${path} in the encoding "${encoding}"`);
  return body;
}

const textOf = (path: string): string => bodyOf(path, '').toString('utf8');

function only(pattern: RegExp): string {
  const found = ASSETS.filter((name) => pattern.test(name));
  expect(found, String(pattern)).toHaveLength(1);
  return String(found[0]);
}

/** A script and what it imports at once. */
function withImports(name: string, known = new Set<string>()): Set<string> {
  if (known.has(name)) return known;
  known.add(name);
  const text = textOf(`assets/${name}`);
  for (const [, imported] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) withImports(String(imported), known);
  return known;
}

function bytesOf(files: Iterable<string>, encoding: string): number {
  return [...files].reduce((sum, file) => sum + bodyOf(file, encoding).length, 0);
}

function largestLocale(part: 'first' | 'pages', encoding: string): string {
  const size = (name: string) => bytesOf([`assets/${name}`], encoding);
  const names = LOCALES.map((locale) => only(new RegExp(`^locale-${part}-${locale}-[A-Z0-9]{8}\\.json$`)));
  return names.reduce((largest, name) => (size(name) > size(largest) ? name : largest));
}

function filesOf(scripts: readonly RegExp[], styles: readonly RegExp[], encoding: string): Set<string> {
  const names = scripts.reduce((known, pattern) => withImports(only(pattern), known), new Set<string>());
  const texts = styles === SIGN_IN_STYLES ? (['first'] as const) : (['first', 'pages'] as const);
  const locales = texts.map((part) => largestLocale(part, encoding));
  const assets = [...names, ...styles.map(only), only(/^icon-.*\.svg$/), ...locales];
  return new Set(['index.html', ...assets.map((name) => `assets/${name}`)]);
}

const SIGN_IN = [/^main-.*\.js$/];
const SIGN_IN_STYLES = [/^style-.*\.css$/];
const OVERVIEW_STYLES = [...SIGN_IN_STYLES, /^pages-.*\.css$/];
const OVERVIEW = [...SIGN_IN, /^signed-in-.*\.js$/, /^overview-page-.*\.js$/];

// Everything that crosses the wire is counted: page, style sheet, scripts, icon, and the longest of the languages.
describe.each(['br', 'gzip'])('the pages, compressed (%s)', (encoding) => {
  it('let somebody sign in after 35 KiB', () => {
    expect(bytesOf(filesOf(SIGN_IN, SIGN_IN_STYLES, encoding), encoding)).toBeLessThanOrEqual(SIGN_IN_BYTES);
  });

  it('show Overview after 60 KiB, charts not counted', () => {
    const files = filesOf(OVERVIEW, OVERVIEW_STYLES, encoding);
    expect([...files].some((name) => name.includes('chart-strips'))).toBe(false);
    expect(bytesOf(files, encoding)).toBeLessThanOrEqual(OVERVIEW_BYTES);
  });
});

describe('the first page', () => {
  it('has no script and no style of its own, and names no other host', () => {
    const html = textOf('index.html');
    expect(html).not.toMatch(/<style|style=|<script(?![^>]*src=)|\son\w+=|https?:|\/\//i);
  });

  it('and the files it leads to ask no other host', () => {
    const texts = ASSETS.filter((name) => /\.(js|css)$/.test(name)).map((name) => textOf(`assets/${name}`));
    const hosts = texts.flatMap((text) => text.match(/(?:https?:)?\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+/gi) ?? []);
    // The name of SVG's namespace is no address.
    expect(hosts.filter((host) => !host.endsWith('www.w3.org'))).toEqual([]);
  });
});
