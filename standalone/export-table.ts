import { Decoder, Encoder, ExtensionCodec } from '@msgpack/msgpack';
import type { ExportCall } from './host.ts';

type Export = (this: ExportCall, ...args: unknown[]) => unknown;

/** MessagePack extension type for objects with an own key `__proto__`, which the decoder refuses in a map. */
const PROTO_KEY = 1;
const extensionCodec = new ExtensionCodec();
extensionCodec.register({
  type: PROTO_KEY,
  encode: (value) => (hasProtoKey(value) ? pack(Object.entries(value)) : null),
  // Defines own properties, so none of them becomes the prototype.
  decode: (bytes) => Object.fromEntries(unpack(bytes) as [string, unknown][]),
});
const encoder = new Encoder({ extensionCodec });
const decoder = new Decoder({ extensionCodec });

/** Exports of all bundles. */
export class ExportTable {
  readonly #exports = new Map<string, Map<string, Export>>();

  /** Throws if the bundle has one of that name. */
  register(bundle: string, name: string, run: Export): void {
    const own = this.#exports.get(bundle) ?? new Map<string, Export>();
    if (typeof name !== 'string' || name === '') throw new TypeError('an export needs a name');
    if (typeof run !== 'function') throw new TypeError(`export ${name}: expected a function, got ${typeof run}`);
    if (own.has(name)) throw new Error(`The export ${name} is registered already`);
    own.set(name, run);
    this.#exports.set(bundle, own);
  }

  /** Throws if the export throws, if there is none, or if a value cannot be copied. */
  call(caller: string, bundle: string, name: string, args: readonly unknown[]): unknown {
    const run = this.#exports.get(bundle)?.get(name);
    if (run === undefined) throw new Error(`No such export ${name} in bundle ${bundle}`);
    const result = run.apply({ caller }, args.map(copy));
    if (result instanceof Promise) {
      result.catch(() => {});
      throw new Error(`The export ${name} of bundle ${bundle} answered with a promise; exports answer at once`);
    }
    return copy(result);
  }

  withdraw(bundle: string): void {
    this.#exports.delete(bundle);
  }
}

/**
 * Through plain MessagePack, as a game server does: no object is ever shared between bundles. A text is no object. Bytes and lists of
 * texts are copied directly, with the same result.
 */
function copy(value: unknown): unknown {
  if (isText(value)) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  return isListOfTexts(value) ? Array.from(value) : unpack(pack(value));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/** No `every`, which would skip gaps. */
function isListOfTexts(value: unknown): value is string[] {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index += 1) if (!isText(value[index])) return false;
  return true;
}

/** Re-entrant: an extension packs its content with it. */
function pack(value: unknown): Uint8Array {
  return encoder.encode(value);
}

function unpack(bytes: Uint8Array): unknown {
  return decoder.decode(bytes);
}

function hasProtoKey(value: unknown): value is Record<string, unknown> {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
  return isMap && Object.hasOwn(value, '__proto__') && Object.keys(value).includes('__proto__');
}
