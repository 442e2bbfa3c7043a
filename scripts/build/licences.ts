import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)(\.(md|txt))?$/i;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const texts = readdirSync(folder)
    .filter((file) => LICENCE_FILE.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (texts.length === 0 && license === undefined) throw new Error(`${name} ${version} comes without a licence.`);
  return [`${name} ${version} (${license ?? 'see below'})`, ...texts].join('\n\n');
}

/** LICENSES.txt: our own licence, then that of every package whose code is in this folder. */
export function writeLicences(root: string, folder: string, packages: readonly string[]): void {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8').trim();
  const parts = [own, ...packages.map((place) => licenceOf(join(root, place)))];
  writeFileSync(join(folder, 'LICENSES.txt'), `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}
