import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { deflateSync } from 'fflate';

/** Noon of the first day of 2000, as the format writes it (MS-DOS). */
const TIME = (20 << 25) | (1 << 21) | (1 << 16) | (12 << 11);
const VERSION = 20;
const UNIX = 3;
const REGULAR_FILE = 0o100644;
const IS_UTF8 = 1 << 11;
const DEFLATED = 8;

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;

/** Paths with `/`, unsorted. */
export function filesBelow(folder: string, path: string): string[] {
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(folder, inner) : [inner];
  });
}

/** Deflated contents by the SHA-256 of the content: packages share most of their files. */
export class Deflated {
  readonly #known = new Map<string, Uint8Array>();

  of(bytes: Buffer): Uint8Array {
    const hash = createHash('sha256').update(bytes).digest('hex');
    const known = this.#known.get(hash);
    if (known !== undefined) return known;
    // In JavaScript: that of Node.js gives other bytes on other processors.
    const deflated = deflateSync(bytes, { level: 6 });
    this.#known.set(hash, deflated);
    return deflated;
  }
}

/**
 * All files of a folder below `top/`. Names, contents and nothing else decide the bytes: one order, one time, one mode.
 *
 * @param deflated null to store the files as they are
 */
export function zipFolder(folder: string, top: string, deflated: Deflated | null): Buffer {
  const files: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const path of filesBelow(folder, '').sort()) {
    const bytes = readFileSync(join(folder, path));
    const content = deflated?.of(bytes) ?? bytes;
    const fields = fieldsOf(`${top}/${path}`, bytes, content, deflated === null ? 0 : DEFLATED);
    const local = Buffer.concat([uint32(LOCAL), fields]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE((REGULAR_FILE << 16) >>> 0, 6);
    place.writeUInt32LE(at, 10);
    const name = Buffer.from(`${top}/${path}`);
    files.push(local, name, content);
    directory.push(uint32(CENTRAL), Buffer.from([VERSION, UNIX]), fields, place, name);
    at += local.length + name.length + content.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(END, 0);
  const count = files.length / 3;
  for (const offset of [8, 10]) end.writeUInt16LE(count, offset);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...files, central, end]);
}

/** Fields that stand both before a file and in the directory. */
function fieldsOf(name: string, bytes: Buffer, content: Uint8Array, method: number): Buffer {
  const fields = Buffer.alloc(26);
  const nameBytes = Buffer.byteLength(name);
  fields.writeUInt16LE(VERSION, 0);
  fields.writeUInt16LE(nameBytes === name.length ? 0 : IS_UTF8, 2);
  fields.writeUInt16LE(method, 4);
  fields.writeUInt32LE(TIME, 6);
  fields.writeUInt32LE(crc32(bytes), 10);
  fields.writeUInt32LE(content.length, 14);
  fields.writeUInt32LE(bytes.length, 18);
  fields.writeUInt16LE(nameBytes, 22);
  return fields;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
