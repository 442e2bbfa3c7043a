const COLLATOR = new Intl.Collator('en', { numeric: true });

/** Order of names that people read: numbers in them count as numbers, so `extra_2` comes before `extra_10`. */
export function compareNames(a: string, b: string): number {
  return COLLATOR.compare(a, b) || (a < b ? -1 : 1);
}

export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareNames(a.name, b.name);
}
