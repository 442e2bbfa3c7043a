const COLLATOR = new Intl.Collator('en', { numeric: true });

/** Order of lists that people read: numbers in names count as numbers, so `extra_2` comes before `extra_10`. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return COLLATOR.compare(a.name, b.name) || (a.name < b.name ? -1 : 1);
}
