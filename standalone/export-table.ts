import { Decoder, Encoder } from '@msgpack/msgpack';
import type { ExportCall } from './host.ts';

type Export = (this: ExportCall, ...args: unknown[]) => unknown;

const encoder = new Encoder();
const decoder = new Decoder();

/** What bundles let each other call. */
export class ExportTable {
  readonly #exports = new Map<string, Map<string, Export>>();

  /** Throws where the bundle has one of that name. */
  register(bundle: string, name: string, run: Export): void {
    const own = this.#exports.get(bundle) ?? new Map<string, Export>();
    if (typeof name !== 'string' || name === '') throw new TypeError('an export needs a name');
    if (typeof run !== 'function') throw new TypeError(`export ${name}: expected a function, got ${typeof run}`);
    if (own.has(name)) throw new Error(`The export ${name} is registered already`);
    own.set(name, run);
    this.#exports.set(bundle, own);
  }

  /** Throws what the export throws, and where there is none, or where something cannot be copied. */
  call(caller: string, bundle: string, name: string, args: readonly unknown[]): unknown {
    const run = this.#exports.get(bundle)?.get(name);
    if (run === undefined) throw new Error(`No such export ${name} in bundle ${bundle}`);
    const result = run.apply({ caller }, copy(args) as unknown[]);
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

/** Through plain MessagePack, as a game server does: no object is ever shared between bundles. */
function copy(value: unknown): unknown {
  return decoder.decode(encoder.encode(value));
}
