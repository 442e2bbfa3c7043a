import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';

const HELPER_SOURCES = ['../../db_connector/helper/helper.ts', '#connector/helper/helper.ts'];
const HELPER_SHIPPED = '../db_connector/helper.js';
/** In `bundles/` it holds a source that stands for the helper. */
const CONNECTOR = 'db_connector';
const SERVER_SCRIPT = /("server"\s*:\s*"[^"]*)\.ts(")/;
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.{1,2}\/[^'"]+|#connector\/helper\/helper\.ts)\2/g;

function shippedSpecifier(specifier: string): string {
  return HELPER_SOURCES.includes(specifier) ? HELPER_SHIPPED : specifier.replace(/\.ts$/, '.js');
}

/** Taking types out leaves holes in the text; the formatter closes them. */
function format(file: string, code: string): string {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const run = spawnSync(process.execPath, [biome, 'format', `--stdin-file-path=${file}`], {
    input: code,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`${file} cannot be formatted: ${run.stderr}`);
  return run.stdout;
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

export function toShippedJavaScript(file: string, source: string): string {
  return format(file, toJavaScript(source));
}

/** A file of a bundle as it is shipped. */
interface ShippedFile {
  /** Below the bundle's folder. */
  readonly path: string;
  readonly content: string | Uint8Array;
}

function shippedFile(from: string, path: string, isForReaders: boolean): ShippedFile {
  const bytes = readFileSync(join(from, path));
  // A bundle may name its script as it lies here; what runs is JavaScript.
  if (path === 'bundle.json') return { path, content: bytes.toString().replace(SERVER_SCRIPT, '$1.js$2') };
  if (!path.endsWith('.ts')) return { path, content: bytes };
  const script = path.replace(/\.ts$/, '.js');
  try {
    const content = isForReaders ? toShippedJavaScript(script, bytes.toString()) : toJavaScript(bytes.toString());
    return { path: script, content };
  } catch (error) {
    throw new Error(`${join(from, path)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * All files of a bundle, each source as plain JavaScript, comments and all.
 *
 * @param isForReaders formatted, which takes a tenth of a second for each source
 * @throws Error that names the file whose types cannot be taken out
 */
export function shippedFiles(from: string, isForReaders: boolean): ShippedFile[] {
  return readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => shippedFile(from, relative(from, join(entry.parentPath, entry.name)), isForReaders));
}

export function writeShipped(files: readonly ShippedFile[], to: string): void {
  for (const { path, content } of files) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), content);
  }
}

export function shipBundle(from: string, to: string): void {
  writeShipped(shippedFiles(from, true), to);
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
