import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const HELPER_SOURCES = ['../../db_connector/helper/helper.ts', '#connector/helper/helper.ts'];
const HELPER_SHIPPED = '../db_connector/helper.js';
/** In `bundles/` it holds a source that stands for the helper. */
const CONNECTOR = 'db_connector';
const SERVER_SCRIPT = /("server"\s*:\s*"[^"]*)\.ts(")/;
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.{1,2}\/[^'"]+|#connector\/helper\/helper\.ts)\2/g;

function shippedSpecifier(specifier: string): string {
  return HELPER_SOURCES.includes(specifier) ? HELPER_SHIPPED : specifier.replace(/\.ts$/, '.js');
}

const CONFIG = fileURLToPath(new URL('../../biome.json', import.meta.url));
/** A command line of Windows has room for so many paths of a bundle. */
const FILES_OF_RUN = 200;

function biome(args: readonly string[], folder: string): void {
  const program = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const run = spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`${folder}: its scripts cannot be formatted: ${run.stderr}${run.stdout}`);
}

/** Taking types out leaves holes in the text; the formatter closes them. A run of it takes a tenth of a second. */
function formatScripts(folder: string, paths: readonly string[]): void {
  const options = ['format', '--write', '--vcs-enabled=false', `--config-path=${CONFIG}`];
  for (let from = 0; from < paths.length; from += FILES_OF_RUN) {
    biome([...options, ...paths.slice(from, from + FILES_OF_RUN)], folder);
  }
}

/** Line for line as the source: what a stack trace names is where the source has it. */
function toJavaScript(source: string): string {
  const stripped = stripTypeScriptTypes(source, { mode: 'strip' })
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
  return stripped.replace(
    SPECIFIER,
    (_match, keyword: string, quote: string, specifier: string) =>
      `${keyword}${quote}${shippedSpecifier(specifier)}${quote}`,
  );
}

/** A file of a bundle as it is shipped. */
interface ShippedFile {
  /** Below the bundle's folder. */
  readonly path: string;
  readonly content: string | Uint8Array;
  /** JavaScript of a source in TypeScript. */
  readonly isMade: boolean;
}

function shippedFile(from: string, path: string): ShippedFile {
  const bytes = readFileSync(join(from, path));
  // A bundle may name its script as it lies here; what runs is JavaScript.
  if (path === 'bundle.json')
    return { path, content: bytes.toString().replace(SERVER_SCRIPT, '$1.js$2'), isMade: false };
  if (!path.endsWith('.ts')) return { path, content: bytes, isMade: false };
  const script = path.replace(/\.ts$/, '.js');
  try {
    return { path: script, content: toJavaScript(bytes.toString()), isMade: true };
  } catch (error) {
    throw new Error(`${join(from, path)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * All files of a bundle, each source as plain JavaScript, comments and all.
 *
 * @throws Error that names the file whose types cannot be taken out
 */
export function shippedFiles(from: string): ShippedFile[] {
  return readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => shippedFile(from, relative(from, join(entry.parentPath, entry.name))));
}

export function writeShipped(files: readonly ShippedFile[], to: string): void {
  for (const { path, content } of files) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), content);
  }
}

/** For readers: what was made of sources is formatted. */
export function shipBundle(from: string, to: string): void {
  const files = shippedFiles(from);
  writeShipped(files, to);
  formatScripts(
    to,
    files.filter(({ isMade }) => isMade).map(({ path }) => path),
  );
}

/** The folders in `bundles/` that are bundles: all but the one that stands for the connector there. */
export function bundleNames(bundles: string): string[] {
  return readdirSync(bundles, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== CONNECTOR)
    .map(({ name }) => name);
}

/** The sample, and every other bundle in `bundles/`. */
export function shipBundles(from: string, to: string): void {
  for (const name of bundleNames(from)) shipBundle(join(from, name), join(to, name));
}
