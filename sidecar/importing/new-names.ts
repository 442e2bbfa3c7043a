import { sha256Hex } from '#protocol/canonical-json.ts';
import { isColumn, isTable } from '#protocol/identifiers.ts';
import { MAX_COLUMN_LENGTH, MAX_TABLE_LENGTH } from '#protocol/limits.ts';

/** New names by old ones. A name that obeys the rule stays; of two that come to one name the second gets a number. */
export function newNames(kind: 'table' | 'column', names: readonly string[]): Map<string, string> {
  const obeys = kind === 'table' ? isTable : isColumn;
  const maxLength = kind === 'table' ? MAX_TABLE_LENGTH : MAX_COLUMN_LENGTH;
  const taken = new Set(names.filter(obeys));
  return new Map(
    names.map((name) => {
      if (obeys(name)) return [name, name];
      const base = shortened(snakeCase(name, kind), maxLength);
      let fresh = base;
      for (let n = 2; taken.has(fresh); n += 1) fresh = `${base.slice(0, maxLength - 4)}_${n}`;
      taken.add(fresh);
      return [name, fresh];
    }),
  );
}

/** "steamID64" becomes "steam_id64", "Owner Name" becomes "owner_name". */
function snakeCase(name: string, kind: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  if (words === '') return kind;
  return /^[a-z]/.test(words) ? words : `${kind}_${words}`;
}

function shortened(name: string, maxLength: number): string {
  if (name.length <= maxLength) return name;
  return `${name.slice(0, maxLength - 9).replace(/_+$/, '')}_${sha256Hex(name).slice(0, 8)}`;
}
