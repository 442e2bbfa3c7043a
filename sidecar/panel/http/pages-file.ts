/** A file of the pages by content encoding; the empty one is the file as it is. */
export type PageBodies = ReadonlyMap<string, Buffer>;

/** Path, and the length of each body. */
type Entry = readonly [path: string, lengths: Readonly<Record<string, number>>];

/**
 * All files of the pages in one, which a start reads in a tenth of the time, and an update writes and judges as one: a line of JSON
 * with an `Entry` for each, then the bodies in that order.
 */
export function packPages(files: ReadonlyMap<string, PageBodies>): Buffer {
  const entries = [...files].map(([path, bodies]): Entry => {
    return [path, Object.fromEntries([...bodies].map(([encoding, body]) => [encoding, body.length]))];
  });
  const bodies = [...files.values()].flatMap((each) => [...each.values()]);
  return Buffer.concat([Buffer.from(`${JSON.stringify(entries)}\n`), ...bodies]);
}

export function unpackPages(bytes: Buffer): Map<string, PageBodies> {
  let at = bytes.indexOf('\n');
  const entries = JSON.parse(bytes.toString('utf8', 0, at)) as Entry[];
  at += 1;
  const take = (length: number): Buffer => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  return new Map(
    entries.map(([path, lengths]) => {
      return [path, new Map(Object.entries(lengths).map(([encoding, length]) => [encoding, take(length)]))];
    }),
  );
}
