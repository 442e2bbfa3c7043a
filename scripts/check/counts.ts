import { existsSync, readFileSync } from 'node:fs';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Report of a run, as `count-reporter.ts` writes it. */
export interface RunReport {
  /** Errors outside every test. */
  readonly unhandledErrors: number;
  readonly modules: readonly ModuleReport[];
}

export interface ModuleReport {
  readonly project: string;
  readonly file: string;
  /** It failed: in a test, or outside its tests. */
  readonly isBroken: boolean;
  /** Milliseconds that its tests and hooks took. */
  readonly ms: number;
  readonly cases: readonly CaseReport[];
}

export interface CaseReport {
  readonly name: string;
  readonly state: string;
  /** How often it was run until it passed, or was given up. */
  readonly attempts: number;
  /** Lines of the errors before it passed. */
  readonly firstErrors?: readonly string[];
}

const CONTRACT_PROJECT = 'contract:';

/** Null if no run came to its end. */
export function readReport(file: string): RunReport | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunReport) : null;
}

/**
 * A file that broke outside its tests, a run that ended badly for another reason than a test, and a run in which no test ran
 * at all, each count as a failure: none of them may look like success.
 */
export function countRun(report: RunReport | null, exitCode: number): Counts {
  if (report === null) return { passed: 0, failed: 1, skipped: 0 };
  const counts = countModules(report.modules);
  const failed = counts.failed + report.unhandledErrors;
  const isBadEnd = failed === 0 && (exitCode !== 0 || counts.passed === 0);
  return { ...counts, failed: failed + (isBadEnd ? 1 : 0) };
}

function countModules(modules: readonly ModuleReport[]): Counts {
  return addCounts(modules.map(countModule));
}

function countModule({ cases, isBroken }: ModuleReport): Counts {
  const count = (state: string) => cases.filter((each) => each.state === state).length;
  const failed = count('failed');
  const passed = count('passed');
  return {
    passed,
    failed: failed === 0 && isBroken ? 1 : failed,
    // A case without an end was not tested.
    skipped: cases.length - passed - failed,
  };
}

/** The cases of the contract suite by engine, in the order in which the projects stand. */
export function countEngines(report: RunReport | null): Map<string, Counts> {
  const modules = (report?.modules ?? []).filter(({ project }) => project.startsWith(CONTRACT_PROJECT));
  const engines = [...new Set(modules.map(({ project }) => project.slice(CONTRACT_PROJECT.length)))];
  return new Map(
    engines.map((engine) => [
      engine,
      countModules(modules.filter(({ project }) => project === CONTRACT_PROJECT + engine)),
    ]),
  );
}

/** Lines that name each case which some engine has and another has not: the suite is one, so there are none. */
export function unequalCases(report: RunReport | null): string[] {
  const casesOf = new Map<string, Set<string>>();
  for (const { project, file, cases } of report?.modules ?? []) {
    if (!project.startsWith(CONTRACT_PROJECT)) continue;
    const known = casesOf.get(project) ?? new Set();
    for (const { name } of cases) known.add(`${file} > ${name}`);
    casesOf.set(project, known);
  }
  const all = new Set([...casesOf.values()].flatMap((cases) => [...cases]));
  return [...casesOf].flatMap(([project, cases]) =>
    [...all].filter((name) => !cases.has(name)).map((name) => `${project} has no case ${name}`),
  );
}

/** Lines that name each case which passed, but not at once, with the errors of the attempts before: a race has to be mended. */
export function repeatedCases(report: RunReport | null): string[] {
  return (report?.modules ?? []).flatMap(({ project, file, cases }) =>
    cases
      .filter(({ state, attempts }) => state === 'passed' && attempts > 1)
      .flatMap(({ name, attempts, firstErrors = [] }) => [
        `passed at attempt ${attempts}: ${project} ${file} > ${name}`,
        ...firstErrors.map((line) => `    ${line}`),
      ]),
  );
}

/** Failures of a run beside its tests: each case that an engine lacks and, if CI is set, each engine that could not be started. */
export function engineFailures(report: RunReport | null, missing: number, isCi: boolean): Counts {
  return { passed: 0, failed: unequalCases(report).length + (isCi ? missing : 0), skipped: 0 };
}

/** A table for people: an engine a line. `untested` are those that could not be had, with the reason. */
export function engineTable(engines: ReadonlyMap<string, Counts>, untested: ReadonlyMap<string, string>): string[] {
  const cell = (value: string | number) => String(value).padStart(9);
  const row = (name: string, ...cells: (string | number)[]) => name.padEnd(10) + cells.map(cell).join('');
  return [
    row('engine', 'passed', 'failed', 'skipped'),
    ...[...engines].map(([engine, { passed, failed, skipped }]) => row(engine, passed, failed, skipped)),
    ...[...untested].map(([engine, reason]) => `${engine.padEnd(10)}not tested: ${reason}`),
  ];
}

export function addCounts(counts: readonly Counts[]): Counts {
  const sum = (field: keyof Counts) => counts.reduce((total, count) => total + count[field], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

export function isPassed({ passed, failed }: Counts): boolean {
  return passed > 0 && failed === 0;
}
