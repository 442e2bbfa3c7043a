import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../config/config-error.ts';
import type { ConfigFile, KeyOfFile } from '../config/config-schema.ts';
import { appendItem, removeItem, removeProperty, setProperty } from '../config/json-edit.ts';
import { parseConfig, readConfigText } from '../config/load-config.ts';
import { replaceFile } from '../config/new-file.ts';

/** A key as a new one stands in the file. */
export type NewKey = Readonly<Record<string, unknown>> & { readonly kid: string; readonly secretFile: string };

/**
 * sidecar.json whose keys are changed: the rest of it stays as it stands, byte for byte. Without the environment, which
 * the sidecar may run with and this command does not.
 */
export class KeyFile {
  readonly path: string;
  #text: string;
  #config: ConfigFile;

  private constructor(path: string, text: string, config: ConfigFile) {
    this.path = path;
    this.#text = text;
    this.#config = config;
  }

  /** @throws ConfigError */
  static read(path: string): KeyFile {
    const text = readConfigText(path);
    return new KeyFile(path, text, parseConfig(text, path, {}).config);
  }

  get config(): ConfigFile {
    return this.#config;
  }

  get keys(): readonly KeyOfFile[] {
    return this.#config.keys;
  }

  /** Absolute, of a path in the file. */
  at(path: string): string {
    return resolve(dirname(resolve(this.path)), path);
  }

  /** @throws ConfigError */
  find(kid: string): { readonly key: KeyOfFile; readonly index: number } {
    const index = this.keys.findIndex((key) => key.kid === kid);
    const key = this.keys[index];
    if (key === undefined) throw new ConfigError(`${this.path} has no key ${kid}; keys list shows them`);
    return { key, index };
  }

  /** Absolute paths of the secrets of all keys but one. */
  secretFilesBeside(index: number): Set<string> {
    const others = this.keys.toSpliced(index, 1).flatMap((key) => [key.secretFile, key.previousSecretFile]);
    return new Set(others.flatMap((path) => (path === undefined ? [] : [this.at(path)])));
  }

  add(key: NewKey): void {
    this.#become(appendItem(this.#text, ['keys'], key));
  }

  remove(index: number): void {
    this.#become(removeItem(this.#text, ['keys'], index));
  }

  /** Null takes a property away. */
  change(index: number, properties: Readonly<Record<string, string | null>>): void {
    let text = this.#text;
    for (const [name, value] of Object.entries(properties)) {
      text =
        value === null ? removeProperty(text, ['keys', index], name) : setProperty(text, ['keys', index], name, value);
    }
    this.#become(text);
  }

  /** In one step: a sidecar that starts meanwhile reads the one or the other. */
  save(): void {
    replaceFile(this.path, this.#text, statSync(this.path).mode & 0o777);
  }

  /** @throws ConfigError for what the sidecar would refuse; nothing is written then */
  #become(text: string): void {
    this.#config = parseConfig(text, this.path, {}).config;
    this.#text = text;
  }
}
