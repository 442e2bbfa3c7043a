import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type OutputFile } from 'esbuild';
import { type PageBodies, packPages } from '#panel/http/pages-file.ts';

const WEB = 'sidecar/panel/web';
/** Browsers of 2024 and newer: the style sheet has `light-dark()`. */
const TARGET = ['chrome123', 'firefox121', 'safari17.5', 'edge123'];

type Pages = Map<string, PageBodies>;

/** Places a file and its compressed forms: compressed once here, not at each visit. */
function place(pages: Pages, path: string, contents: string | Uint8Array): void {
  const bytes = Buffer.from(contents);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const packed = { br: brotliCompressSync(bytes, { params }), gzip: gzipSync(bytes, { level: 9 }) };
  pages.set(path, new Map(Object.entries({ '': bytes, ...packed })));
}

type Texts = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Areas of the texts by the time at which a page reads them; all others are read at sign-in (`web/core/i18n.ts`). */
const FIRST_AREAS: readonly string[] = ['common', 'sign-in', 'setup'];
const TOOL_AREAS: readonly string[] = [
  'notices',
  'tools',
  'install',
  'backups',
  'jobs',
  'sources',
  'source-accounts',
  'merge',
  'packages',
  'players',
  'programs',
  'server-updates',
  'updates',
];
/** Errors that somebody who is not signed in can meet. */
const FIRST_ERRORS =
  /^(body|csrf|folder-|host|internal|login|method|origin|permission|rate|route|secondFactor\.(code|ticket)|session|settings\.dash|setup|users)/;

function partOf(area: string, key: string): 'first' | 'pages' | 'tools' {
  if (area === 'errors') return FIRST_ERRORS.test(key) ? 'first' : 'pages';
  if (FIRST_AREAS.includes(area)) return 'first';
  return TOOL_AREAS.includes(area) ? 'tools' : 'pages';
}

function textsOf(all: Texts, part: string): Texts {
  const areas = Object.entries(all).map(
    ([area, texts]) => [area, Object.entries(texts).filter(([key]) => partOf(area, key) === part)] as const,
  );
  const filled = areas.filter(([, texts]) => texts.length > 0);
  return Object.fromEntries(filled.map(([area, texts]) => [area, Object.fromEntries(texts)]));
}

/** Places the texts of each language in three files; the page knows their names. */
function placeLocales(root: string, pages: Pages): Record<string, Record<string, string>> {
  const places: Record<string, Record<string, string>> = {};
  const sources = join(root, WEB, 'locales');
  for (const file of readdirSync(sources)) {
    const locale = basename(file, '.json');
    const all = JSON.parse(readFileSync(join(sources, file), 'utf8')) as Texts;
    const parts = ['first', 'pages', 'tools'].map((part) => {
      const text = JSON.stringify(textsOf(all, part));
      const hash = createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase();
      const name = `locale-${part}-${locale}-${hash}.json`;
      place(pages, `assets/${name}`, text);
      return [part, `/assets/${name}`];
    });
    places[locale] = Object.fromEntries(parts);
  }
  return places;
}

function named(files: readonly OutputFile[], pattern: RegExp): string {
  const file = files.map(({ path }) => basename(path)).find((name) => pattern.test(name));
  if (file === undefined) throw new Error(`The panel's pages lack a file like ${pattern}.`);
  return `/assets/${file}`;
}

function headOf(files: readonly OutputFile[], locales: Record<string, Record<string, string>>): string {
  const main = named(files, /^main-.*\.js$/);
  // Modules that the first script imports are requested together with it.
  const text = files.find(({ path }) => main.endsWith(basename(path)))?.text ?? '';
  const imported = [...text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)].map(([, name]) => `/assets/${name}`);
  return [
    `<meta name="locales" content='${JSON.stringify(locales)}'>`,
    `<meta name="pages-style" content="${named(files, /^pages-.*\.css$/)}">`,
    `<link rel="icon" href="${named(files, /^icon-.*\.svg$/)}" type="image/svg+xml">`,
    `<link rel="stylesheet" href="${named(files, /^style-.*\.css$/)}">`,
    ...imported.map((name) => `<link rel="modulepreload" href="${name}">`),
    `<script type="module" src="${main}"></script>`,
  ].join('\n    ');
}

/**
 * The pages of the panel in one file (`packPages`): `index.html`, and in `assets/` what it needs, under names that change with
 * their contents.
 */
export async function buildPanelPages(root: string, target: string): Promise<string[]> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [`${WEB}/main.tsx`, `${WEB}/style/style.css`, `${WEB}/style/pages.css`, `${WEB}/icon.svg`],
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: TARGET,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
    write: false,
  });
  const pages: Pages = new Map();
  for (const { path, contents } of result.outputFiles) place(pages, `assets/${basename(path)}`, contents);
  const page = readFileSync(join(root, WEB, 'index.html'), 'utf8');
  const head = headOf(result.outputFiles, placeLocales(root, pages));
  place(
    pages,
    'index.html',
    page.replace('<!-- build -->', () => head),
  );
  writeFileSync(target, packPages(pages));
  const packages = Object.keys(result.metafile.inputs).map(
    (file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0],
  );
  return [...new Set(packages.filter((folder) => folder !== undefined))].sort();
}

// `node scripts/build/panel-pages.ts`: the pages alone, in half a second, while they are worked on.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  await buildPanelPages(root, join(root, 'dist/sidecar/panel.pages'));
}
