import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { nearestName } from '../protocol/unknown-names.ts';
import { ConfigError } from './config-error.ts';

/**
 * A section of a configuration file, read field by field. Every reader throws `ConfigError` with `field: expected …, got
 * …`; a text is described by its kind only, since it may be a secret in the wrong place.
 */
export class Fields {
  readonly #section: JsonObject;
  readonly #prefix: string;

  constructor(section: JsonObject, prefix = '') {
    this.#section = section;
    this.#prefix = prefix;
  }

  refuseOthers(known: readonly string[]): void {
    for (const name of Object.keys(this.#section)) {
      if (!known.includes(name)) {
        const nearest = nearestName(name, known);
        const advice = nearest === null ? '' : `. Did you mean ${this.#prefix}${nearest}?`;
        throw new ConfigError(`${this.#prefix}${name}: unknown setting${advice}`);
      }
    }
  }

  text(name: string): string {
    const value = this.#section[name];
    if (typeof value !== 'string' || value === '') {
      throw this.wrong(name, 'a text', value);
    }
    return value;
  }

  /** null if it is left out or null. */
  optionalText(name: string): string | null {
    return this.#section[name] === undefined || this.#section[name] === null ? null : this.text(name);
  }

  integer(name: string, range: { min: number; max: number; default: number }): number {
    const value = this.#section[name];
    if (value === undefined) {
      return range.default;
    }
    if (typeof value !== 'number' || !Number.isInteger(value) || value < range.min || value > range.max) {
      throw this.wrong(name, `an integer from ${range.min} to ${range.max}`, value);
    }
    return value;
  }

  /** undefined if it is left out. */
  texts(name: string, expected: string, isValid: (text: string) => boolean): string[] | undefined {
    const list = this.#section[name];
    if (list === undefined) {
      return undefined;
    }
    if (!Array.isArray(list)) {
      throw this.wrong(name, `a list of ${expected}s`, list);
    }
    return list.map((item, index) => {
      if (typeof item !== 'string' || !isValid(item)) {
        throw this.wrong(`${name}[${index}]`, `a ${expected}`, item);
      }
      return item;
    });
  }

  isList(name: string): boolean {
    return Array.isArray(this.#section[name]);
  }

  /** An empty section if it is left out. */
  section(name: string): Fields {
    const value = this.#section[name];
    if (value !== undefined && !isJsonObject(value)) {
      throw this.wrong(name, 'an object', value);
    }
    return new Fields(value ?? {}, `${this.#prefix}${name}.`);
  }

  wrong(name: string, expected: string, got: Json | undefined): ConfigError {
    return new ConfigError(`${this.#prefix}${name}: expected ${expected}, got ${kindOf(got)}`);
  }
}

function kindOf(value: Json | undefined): string {
  if (value === undefined) {
    return 'nothing';
  }
  if (value === null || typeof value === 'boolean' || typeof value === 'number') {
    return String(value);
  }
  if (typeof value === 'string') {
    return value === '' ? 'an empty text' : 'another text';
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? 'an empty list' : 'a list';
  }
  return isJsonObject(value) ? 'an object' : 'a number that is too big or too exact';
}
