import type { SourceFile } from './import-directions.ts';
import { specifiersOf } from './import-directions.ts';
import { targetOf } from './import-target.ts';

interface Visit {
  readonly order: number;
  /** Earliest file of the walk that can be reached again from here. */
  low: number;
}

/** Groups of files that import each other in a loop, imports of types too; each group in alphabetical order (Tarjan). */
export function findCircles(files: readonly SourceFile[]): string[][] {
  const paths = new Set(files.map(({ path }) => path));
  const targets = new Map(files.map((file) => [file.path, targetsOf(file).filter((target) => paths.has(target))]));
  const visits = new Map<string, Visit>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (path: string): Visit => {
    const own: Visit = { order: visits.size, low: visits.size };
    visits.set(path, own);
    open.push(path);
    for (const target of targets.get(path) ?? []) {
      const known = visits.get(target);
      if (known === undefined) own.low = Math.min(own.low, visit(target).low);
      else if (open.includes(target)) own.low = Math.min(own.low, known.order);
    }
    if (own.low === own.order) {
      const circle = open.splice(open.indexOf(path));
      if (circle.length > 1) circles.push(circle.toSorted());
    }
    return own;
  };
  for (const { path } of files) if (!visits.has(path)) visit(path);
  return circles;
}

function targetsOf(file: SourceFile): string[] {
  return specifiersOf(file).flatMap((specifier) => targetOf(file.path, specifier) ?? []);
}
