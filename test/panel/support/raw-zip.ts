import { crc32, deflateRawSync } from 'node:zlib';

/** Entry of an archive; each field that is given is written as it is, true or not. */
export interface RawEntry {
  readonly name: string | Buffer;
  readonly data?: string | Buffer;
  /** 0 stored, 8 deflated (default). */
  readonly method?: number;
  readonly flags?: number;
  /** Type and mode of Unix, such as `0o120777` for a link. */
  readonly mode?: number;
  readonly crc?: number;
  /** Announced size. */
  readonly size?: number;
  readonly localName?: string;
  /** Bytes of another entry's local head, for one that overlaps. */
  readonly sameAs?: number;
}

/** Writes an archive byte by byte, so that it can lie. */
export function rawZip(entries: readonly RawEntry[]): Buffer {
  const parts: Buffer[] = [];
  const heads: Buffer[] = [];
  const places: number[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { method = 8, flags = 0x800, mode = 0o100644, sameAs } = entry;
    const data = Buffer.from(entry.data ?? '');
    const packed = method === 8 ? deflateRawSync(data) : data;
    const name = Buffer.from(entry.name);
    const fields = {
      method,
      flags,
      crc: entry.crc ?? crc32(data),
      packed: packed.length,
      size: entry.size ?? data.length,
    };
    const local = Buffer.concat([localHead(fields, Buffer.from(entry.localName ?? name)), packed]);
    const place = sameAs === undefined ? offset : (places[sameAs] ?? 0);
    places.push(place);
    if (sameAs === undefined) {
      parts.push(local);
      offset += local.length;
    }
    heads.push(centralHead(fields, name, mode, place));
  }
  const central = Buffer.concat(heads);
  return Buffer.concat([...parts, central, endRecord(entries.length, central.length, offset)]);
}

interface Fields {
  readonly method: number;
  readonly flags: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
}

function localHead({ method, flags, crc, packed, size }: Fields, name: Buffer): Buffer {
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(flags, 6);
  head.writeUInt16LE(method, 8);
  head.writeUInt32LE(crc, 14);
  head.writeUInt32LE(packed, 18);
  head.writeUInt32LE(size, 22);
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, name]);
}

function centralHead({ method, flags, crc, packed, size }: Fields, name: Buffer, mode: number, place: number): Buffer {
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE(0x0314, 4);
  head.writeUInt16LE(20, 6);
  head.writeUInt16LE(flags, 8);
  head.writeUInt16LE(method, 10);
  head.writeUInt32LE(crc, 16);
  head.writeUInt32LE(packed, 20);
  head.writeUInt32LE(size, 24);
  head.writeUInt16LE(name.length, 28);
  head.writeUInt32LE((mode << 16) >>> 0, 38);
  head.writeUInt32LE(place, 42);
  return Buffer.concat([head, name]);
}

function endRecord(count: number, bytes: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(bytes, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}
