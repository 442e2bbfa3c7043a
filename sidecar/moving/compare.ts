import { type RowsSummary, summarise } from './checksum.ts';
import type { PlacePair } from './copy-rows.ts';
import { patiently, statementBounds } from './patience.ts';
import { type CopyWork, grouped, type MoveReport } from './report.ts';

/** A table or quarantined object in both databases, as it was read. */
export interface ComparedPlace {
  readonly label: string;
  readonly from: RowsSummary;
  readonly to: RowsSummary;
}

/** Reads every row of both databases. */
export async function comparePairs(work: CopyWork, pairs: readonly PlacePair[]): Promise<ComparedPlace[]> {
  const compared: ComparedPlace[] = [];
  for (const pair of pairs) compared.push(await comparePlace(work, pair));
  work.report.end();
  return compared;
}

export function isEqualPlace({ from, to }: ComparedPlace): boolean {
  return from.rows === to.rows && from.checksum === to.checksum;
}

/** A line for each table; where source and target differ, one for each of both. */
export function tellCompared(namespace: string, compared: readonly ComparedPlace[], report: MoveReport): void {
  const line = (place: ComparedPlace, { rows, checksum }: RowsSummary, word: string): string[] => [
    `${namespace}.${place.label}`,
    grouped(rows),
    checksum,
    word,
  ];
  const lines = compared.flatMap((place) =>
    isEqualPlace(place)
      ? [line(place, place.to, 'equal')]
      : [line(place, place.from, 'in the source'), line(place, place.to, 'in the target: DIFFERENT')],
  );
  report.table(['TABLE', 'ROWS', 'CHECKSUM', ''], lines, ['ROWS']);
}

async function comparePlace({ engines, stored, report, signal }: CopyWork, pair: PlacePair): Promise<ComparedPlace> {
  const rows = await patiently(() => engines.from.count(pair.from.target, null, statementBounds()));
  report.begin(`compares ${stored.from.namespace}.${pair.from.label}`, rows);
  const [from, to] = await Promise.all([
    summarise(engines.from, pair.from, (done) => {
      signal.throwIfAborted();
      report.advance(done);
    }),
    summarise(engines.to, pair.to, () => signal.throwIfAborted()),
  ]);
  return {
    label: pair.from.label,
    from: { rows: from.rows, checksum: from.checksum },
    to: { rows: to.rows, checksum: to.checksum },
  };
}
