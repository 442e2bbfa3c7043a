import { nearestName } from '../protocol/unknown-names.ts';

/** Words of SQL and of other libraries, and the name that each has here. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  where: ['filter'],
  order: ['sort'],
  orderBy: ['sort'],
  columns: ['fields'],
  select: ['fields'],
  max: ['limit'],
  group: ['groupBy'],
  values: ['set', 'rows', 'row'],
  data: ['set', 'rows', 'row'],
  increment: ['inc'],
  durability: ['immediate'],
  key: ['idempotencyKey', 'primaryKey'],
  required: ['nullable'],
  notNull: ['nullable'],
  alias: ['as'],
};

/** An argument has a property that no method knows: a fault of the script, since the property would do nothing. */
export class UnknownName extends TypeError {
  override readonly name = 'UnknownName';
}

/** The names that a kind of argument may have. The compiler keeps the list equal to the type. */
export function namesOf<T>(names: Readonly<Record<keyof T & string, true>>): readonly string[] {
  return Object.keys(names);
}

/**
 * Refuses names that are not in the list. A property that is `undefined` counts as left out.
 *
 * @param path how messages call the object
 * @throws UnknownName with the name that was probably meant
 */
export function checkNames(given: object, known: readonly string[], path: string): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name) || Reflect.get(given, name) === undefined) continue;
    throw new UnknownName(`${path}.${name}: unknown name. ${adviceFor(name, known)}`);
  }
}

function adviceFor(name: string, known: readonly string[]): string {
  const words = Object.hasOwn(OTHER_WORDS, name) ? (OTHER_WORDS[name] ?? []) : [];
  const meant = words.find((word) => known.includes(word)) ?? nearestName(name, known);
  return meant === null ? `Known names: ${known.join(', ')}` : `Did you mean ${meant}?`;
}
