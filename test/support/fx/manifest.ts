/** `fxmanifest.lua`, as far as these tests use it. */
export interface Manifest {
  readonly entries: ReadonlyMap<string, readonly string[]>;
  first(key: string): string | undefined;
}

export function readManifest(text: string): Manifest {
  const entries = new Map<string, string[]>();
  const plain = text.replace(/--.*$/gm, '');
  for (const [, key = '', single, list] of plain.matchAll(/(\w+)\s*(?:'([^']*)'|\{([^}]*)\})/g)) {
    const values =
      single === undefined ? [...(list ?? '').matchAll(/'([^']*)'/g)].map((match) => match[1] ?? '') : [single];
    const name = key.replace(/^(server_script|dependencie)s?$/, '$1').replace(/^dependency$/, 'dependencie');
    entries.set(name, [...(entries.get(name) ?? []), ...values]);
  }
  return { entries, first: (key) => entries.get(key)?.[0] };
}
