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
  /** Another entry, whose local head this one shares. */
  readonly sameAs?: number;
  /** Another entry, in whose stored data the local head lies (`localRecord`). */
  readonly inside?: number;
  /** Fields behind the name in the central head. */
  readonly extra?: Buffer;
}

/** Writes an archive byte by byte, so that it can lie. */
export function rawZip(entries: readonly RawEntry[]): Buffer {
  const parts: Buffer[] = [];
  const heads: Buffer[] = [];
  const places: number[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { mode = 0o100644, sameAs, inside, extra = Buffer.alloc(0) } = entry;
    const name = Buffer.from(entry.name);
    const local = localRecord(entry);
    const other = sameAs ?? inside;
    const headBytes = inside === undefined ? 0 : LOCAL_BYTES + Buffer.byteLength(entries[inside]?.name ?? '');
    const place = other === undefined ? offset : (places[other] ?? 0) + headBytes;
    places.push(place);
    if (other === undefined) {
      parts.push(local);
      offset += local.length;
    }
    heads.push(centralHead(fieldsOf(entry), name, mode, place, extra));
  }
  const central = Buffer.concat(heads);
  return Buffer.concat([...parts, central, endRecord(entries.length, central.length, offset)]);
}

/** Local head and content of an entry. */
export function localRecord(entry: RawEntry): Buffer {
  return Buffer.concat([localHead(fieldsOf(entry), Buffer.from(entry.localName ?? entry.name)), packedOf(entry)]);
}

function packedOf({ method = 8, data = '' }: RawEntry): Buffer {
  return method === 8 ? deflateRawSync(Buffer.from(data)) : Buffer.from(data);
}

function fieldsOf(entry: RawEntry): Fields {
  const { method = 8, flags = 0x800, crc, size } = entry;
  const data = Buffer.from(entry.data ?? '');
  return { method, flags, crc: crc ?? crc32(data), packed: packedOf(entry).length, size: size ?? data.length };
}

const LOCAL_BYTES = 30;

interface Fields {
  readonly method: number;
  readonly flags: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
}

function localHead({ method, flags, crc, packed, size }: Fields, name: Buffer): Buffer {
  const head = Buffer.alloc(LOCAL_BYTES);
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

function centralHead(
  { method, flags, crc, packed, size }: Fields,
  name: Buffer,
  mode: number,
  place: number,
  extra: Buffer,
): Buffer {
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
  head.writeUInt16LE(extra.length, 30);
  head.writeUInt32LE((mode << 16) >>> 0, 38);
  head.writeUInt32LE(place, 42);
  return Buffer.concat([head, name, extra]);
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
