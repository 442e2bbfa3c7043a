import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

const HELPER_SOURCE = '../../db_connector/helper/helper.ts';
const HELPER_SHIPPED = '../db_connector/helper.js';
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.{1,2}\/[^'"]+)\2/g;

function shippedSpecifier(specifier: string): string {
  return specifier === HELPER_SOURCE ? HELPER_SHIPPED : specifier.replace(/\.ts$/, '.js');
}

/** Taking types out leaves holes in the text; the formatter closes them. */
function format(file: string, code: string): string {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const run = spawnSync(process.execPath, [biome, 'format', `--stdin-file-path=${file}`], {
    input: code,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`${file} of the sample cannot be formatted: ${run.stderr}`);
  return run.stdout;
}

export function toShippedJavaScript(file: string, source: string): string {
  const stripped = stripTypeScriptTypes(source, { mode: 'strip' })
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
  const rewritten = stripped.replace(
    SPECIFIER,
    (_match, keyword: string, quote: string, specifier: string) =>
      `${keyword}${quote}${shippedSpecifier(specifier)}${quote}`,
  );
  return format(file, rewritten);
}

/** A bundle is there to be read and copied: plain JavaScript, a file for each source, comments and all. */
export function shipBundle(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) shipBundle(source, target);
    else if (!entry.isFile()) continue;
    else if (!entry.name.endsWith('.ts')) copyFileSync(source, target);
    else {
      const name = entry.name.replace(/\.ts$/, '.js');
      writeFileSync(join(to, name), toShippedJavaScript(name, readFileSync(source, 'utf8')));
    }
  }
}

/** The sample, and what else lies in `bundles/`: a folder that somebody makes there is loaded by the next start. */
export function shipBundles(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) shipBundle(join(from, entry.name), join(to, entry.name));
  }
}
