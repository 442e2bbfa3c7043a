export type Fn = (...args: never[]) => unknown;

export interface Codec {
  pack(value: unknown): Uint8Array;
  unpack(bytes: Uint8Array): unknown;
}

/**
 * The codec of events, exports and references: `uint8array: true, preset: false, binarraybuffer: true`, and functions as
 * references (data/shared/citizen/scripting/v8/main.js, msgpack.js). Evaluated in each resource's own context, so that what
 * arrives there is made of that context's objects; hence it may use nothing from outside.
 */
export function createCodec(refOf: (run: Fn) => string, functionOf: (ref: string) => Fn): Codec {
  const FUNCTION = 10;
  /** msgpack-lite puts two units together wherever the first is any half of a pair, so broken text becomes other text. */
  function bytesOf(text: string): Buffer {
    if (text.isWellFormed()) return Buffer.from(text);
    const bytes: number[] = [];
    for (let at = 0; at < text.length; ) {
      let unit = text.charCodeAt(at++);
      if (unit >= 0xd800 && unit <= 0xdfff) {
        unit = 0x10000 + ((unit - 0xd800) << 10) + ((text.charCodeAt(at++) || 0) - 0xdc00);
        bytes.push(
          0xf0 | ((unit >>> 18) & 7),
          0x80 | ((unit >>> 12) & 63),
          0x80 | ((unit >>> 6) & 63),
          0x80 | (unit & 63),
        );
      } else if (unit < 0x80) bytes.push(unit);
      else if (unit < 0x800) bytes.push(0xc0 | (unit >>> 6), 0x80 | (unit & 63));
      else bytes.push(0xe0 | (unit >>> 12), 0x80 | ((unit >>> 6) & 63), 0x80 | (unit & 63));
    }
    return Buffer.from(bytes);
  }

  function pack(value: unknown): Uint8Array {
    const chunks: Buffer[] = [];
    const put = (...bytes: number[]) => chunks.push(Buffer.from(bytes));
    const head = (size: number, small: number | null, limit: number, tags: readonly number[]) => {
      const [tag8 = -1, tag16 = -1, tag32 = -1] = tags;
      if (small !== null && size < limit) put(small | size);
      else if (tag8 >= 0 && size < 0x100) put(tag8, size);
      else if (size < 0x1_0000) put(tag16, size >> 8, size & 255);
      else put(tag32, size >>> 24, (size >>> 16) & 255, (size >>> 8) & 255, size & 255);
    };
    const number = (given: number) => {
      if (Number.isInteger(given) && given >= 0 && given <= 0xffff_ffff) {
        return given < 128 ? put(given) : head(given, null, 0, [0xcc, 0xcd, 0xce]);
      }
      if (Number.isInteger(given) && given < 0 && given >= -0x8000_0000) {
        const bytes = Buffer.alloc(5, 0xd2);
        bytes.writeInt32BE(given, 1);
        return given >= -32 ? put(given & 255) : chunks.push(bytes);
      }
      const bytes = Buffer.alloc(9, 0xcb);
      bytes.writeDoubleBE(given, 1);
      return chunks.push(bytes);
    };
    const binary = (bytes: Buffer) => {
      head(bytes.length, null, 0, [0xc4, 0xc5, 0xc6]);
      chunks.push(bytes);
    };
    const put1 = (given: unknown): unknown => {
      switch (typeof given) {
        case 'boolean':
          return put(given ? 0xc3 : 0xc2);
        case 'number':
          return number(given);
        case 'string': {
          const bytes = bytesOf(given);
          head(bytes.length, 0xa0, 32, [0xd9, 0xda, 0xdb]);
          return chunks.push(bytes);
        }
        case 'function': {
          const ref = Buffer.from(refOf(given as Fn));
          put(0xc7, ref.length, FUNCTION);
          return chunks.push(ref);
        }
        case 'bigint':
          throw new TypeError('encoder.codec.encode is not a function for bigint');
        case 'object':
          return object(given);
        default:
          return put(0xc0);
      }
    };
    const object = (given: object | null) => {
      if (given === null) return put(0xc0);
      if (Buffer.isBuffer(given)) return binary(given);
      if (Object.prototype.toString.call(given) === '[object ArrayBuffer]') {
        return binary(Buffer.from(given as ArrayBuffer));
      }
      if (Array.isArray(given)) {
        head(given.length, 0x90, 16, [-1, 0xdc, 0xdd]);
        return given.forEach(put1);
      }
      // Everything else, a Uint8Array too, is a map of its own keys.
      const keys = Object.keys(given);
      head(keys.length, 0x80, 16, [-1, 0xde, 0xdf]);
      for (const key of keys) {
        put1(key);
        put1(Reflect.get(given, key));
      }
    };
    put1(value);
    return Buffer.concat(chunks);
  }

  function unpack(given: Uint8Array): unknown {
    const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    let at = 0;
    const uint = (width: number): number => {
      at += width;
      return bytes.readUIntBE(at - width, width);
    };
    const slice = (length: number) => {
      at += length;
      return bytes.subarray(at - length, at);
    };
    const array = (length: number) => Array.from({ length }, () => next());
    const map = (length: number) => {
      const object: Record<string, unknown> = {};
      for (let i = 0; i < length; i += 1) {
        const key = String(next());
        object[key] = next();
      }
      return object;
    };
    const binary = (length: number) => {
      const raw = slice(length);
      return raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength);
    };
    const next = (): unknown => {
      const tag = uint(1);
      if (tag < 0x80) return tag;
      if (tag < 0x90) return map(tag & 15);
      if (tag < 0xa0) return array(tag & 15);
      if (tag < 0xc0) return slice(tag & 31).toString();
      if (tag >= 0xe0) return tag - 256;
      switch (tag) {
        case 0xc0:
          return null;
        case 0xc2:
        case 0xc3:
          return tag === 0xc3;
        case 0xc4:
        case 0xc5:
        case 0xc6:
          return binary(uint(2 ** (tag - 0xc4)));
        case 0xc7: {
          const length = uint(1);
          return uint(1) === FUNCTION ? functionOf(slice(length).toString()) : null;
        }
        case 0xcb:
          return slice(8).readDoubleBE();
        case 0xcc:
        case 0xcd:
        case 0xce:
          return uint(2 ** (tag - 0xcc));
        case 0xd2:
          return slice(4).readInt32BE();
        case 0xd9:
        case 0xda:
        case 0xdb:
          return slice(uint(2 ** (tag - 0xd9))).toString();
        case 0xdc:
        case 0xdd:
          return array(uint(tag === 0xdc ? 2 : 4));
        case 0xde:
        case 0xdf:
          return map(uint(tag === 0xde ? 2 : 4));
        default:
          throw new Error(`Invalid type: 0x${tag.toString(16)}`);
      }
    };
    return next();
  }
  return { pack, unpack };
}
