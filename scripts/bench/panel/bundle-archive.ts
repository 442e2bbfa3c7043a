import { randomBytes } from 'node:crypto';
import { type Zippable, zipSync } from 'fflate';

const FILES_PER_FOLDER = 100;

export interface BundleContents {
  readonly version: string;
  readonly files: number;
  /** Size of each file; packed, it is three quarters of that. */
  readonly fileBytes: number;
}

/** A ZIP with one bundle of the standalone server. */
export function bundleArchive(name: string, { version, files, fileBytes }: BundleContents): Buffer {
  const entries: Zippable = {
    [`${name}/bundle.json`]: Buffer.from(JSON.stringify({ version, server: 'server.js' })),
    [`${name}/server.js`]: Buffer.from('export default () => {};'),
  };
  const text = randomBytes(Math.ceil((fileBytes * 3) / 4)).toString('base64');
  for (let index = Object.keys(entries).length; index < files; index += 1) {
    const folder = Math.floor(index / FILES_PER_FOLDER);
    entries[`${name}/data/${folder}/${index}.txt`] = Buffer.from(`${version} ${index} ${text}`);
  }
  return Buffer.from(zipSync(entries, { level: 1 }));
}
