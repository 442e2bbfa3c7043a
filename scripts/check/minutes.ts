import type { ModuleReport, RunReport } from './counts.ts';

/** Files named one by one, those that took longest first. */
const SLOWEST = 12;
const MINUTE_MS = 60_000;

/** A table for people: minutes of one worker for each project, longest first, and the files that took longest. */
export function minutesTable(report: RunReport | null): string[] {
  const modules = report?.modules ?? [];
  if (modules.length === 0) return [];
  const projects = Map.groupBy(modules, ({ project }) => project);
  const parts = [...projects].map(([project, own]): [string, number] => [project, sumMs(own)]);
  const files = modules.map(({ project, file, ms }): [string, number] => [`${project} ${file}`, ms]);
  return [
    'Minutes of one worker by project, and the files that took longest:',
    ...longestFirst(parts).map(row),
    ...longestFirst(files).slice(0, SLOWEST).map(row),
  ];
}

function sumMs(modules: readonly ModuleReport[]): number {
  return modules.reduce((total, { ms }) => total + ms, 0);
}

function longestFirst(rows: readonly [string, number][]): [string, number][] {
  return rows.toSorted(([, a], [, b]) => b - a);
}

function row([name, ms]: [string, number]): string {
  return `${(ms / MINUTE_MS).toFixed(1).padStart(6)}  ${name}`;
}
