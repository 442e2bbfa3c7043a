/** sidecar.json as parsed JSON, whatever is in it. */
export type RawConfig = Record<string, unknown>;

/** Properties that exclude each other: a value of the owner replaces the others. */
const CHOICES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  database: [['url', 'urlFile', 'urlEnv']],
  backup: [['everyHours', 'at']],
};
/** Sections that say where this machine's own things are: taken whole, or not at all. */
const WHOLE = new Set(['api.tls', 'backup.remote']);

/** The text of a good sidecar.json without any secret: those inside it, and a URL that may hold a password. */
export function withoutSecrets(text: string): string {
  const root = JSON.parse(text) as RawConfig;
  const { database, keys } = root;
  if (isSection(database) && mayHoldPassword(database.url)) delete database.url;
  for (const key of Array.isArray(keys) ? keys : []) if (isSection(key)) delete key.secret;
  return `${JSON.stringify(root, null, 2)}\n`;
}

/** Fields that choose a program to run, or whose word to take for one: a backup may come from a stranger. */
const TRUSTED = ['backup.continuous.program', 'panel.git', 'panel.updates.keys', 'panel.updates.allowUnsigned'];

/** The configuration of a backup without the fields that only the owner of this machine may set, and their values. */
export function withoutTrusted(backup: RawConfig): { readonly rest: RawConfig; readonly leftOut: [string, unknown][] } {
  const rest = structuredClone(backup);
  const leftOut = TRUSTED.flatMap((field): [string, unknown][] => {
    const path = field.split('.');
    const name = path.pop() ?? '';
    const section = path.reduce(sectionOf, rest);
    const value = section[name];
    delete section[name];
    return value === undefined ? [] : [[field, value]];
  });
  return { rest, leftOut };
}

function mayHoldPassword(url: unknown): boolean {
  return typeof url === 'string' && /[@?]/.test(url);
}

/** `given` with what it leaves out taken from `backup`. A list is one value; of properties that exclude each other one counts. */
export function mergedConfig(given: RawConfig, backup: RawConfig): RawConfig {
  return mergedSection(given, backup, '');
}

function mergedSection(given: RawConfig, backup: RawConfig, path: string): RawConfig {
  const excluded = new Set(
    (CHOICES[path] ?? []).filter((names) => names.some((name) => given[name] !== undefined)).flat(),
  );
  const merged: RawConfig = { ...given };
  for (const [name, value] of Object.entries(backup)) {
    const own = given[name];
    if (own === undefined) {
      if (!excluded.has(name)) merged[name] = value;
      continue;
    }
    const inner = path === '' ? name : `${path}.${name}`;
    if (isSection(own) && isSection(value) && !WHOLE.has(inner)) merged[name] = mergedSection(own, value, inner);
  }
  return merged;
}

export function sectionOf(root: RawConfig, name: string): RawConfig {
  const value = root[name];
  return isSection(value) ? value : {};
}

function isSection(value: unknown): value is RawConfig {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
