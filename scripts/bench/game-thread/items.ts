/** A row of 200 bytes of JSON. */
export function itemOf(id: number): object {
  return { id, name: `item ${id}`, grp: id % 1000, hits: id % 1000, note: 'x'.repeat(120) };
}
