import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import satisfies from 'semver/functions/satisfies.js';
import { isInside } from '../config/first-start.ts';
import { loadConfig, readConfigFile } from '../config/load-config.ts';
import { REPLACED_FOLDER } from '../program-folder.ts';
import { CONFIG_OPTION, DEFAULT_CONFIG, JSON_OPTION, readingArguments } from './arguments.ts';
import { type CommandIo, type CommandProcess, terminalIo } from './command-process.ts';
import { panelFindings, portFinding } from './doctor-addresses.ts';
import { backupFindings } from './doctor-backup.ts';
import { databaseFindings } from './doctor-database.ts';
import { type Finding, fileFindings, journalFindings, spaceFindings } from './doctor-files.ts';
import { visibleText } from './lines.ts';

export const DOCTOR_OPTIONS = { ...JSON_OPTION, ...CONFIG_OPTION } as const;

const NODE_RANGE = '^22.22.2 || >=24.14.1';

/** `doctor`: looks at everything that the sidecar stands on. False if something must be fixed. */
export async function runDoctor(
  args: readonly string[],
  { environment }: Pick<CommandProcess, 'environment'>,
  givenIo?: CommandIo,
): Promise<boolean> {
  const { values } = readingArguments(() => parseArgs({ args: [...args], options: DOCTOR_OPTIONS }));
  const io = givenIo ?? { ...terminalIo(values.json ?? false), isForPeople: values.json !== true };
  let isWell = true;
  const tell = (finding: Finding): void => {
    isWell &&= finding.verdict !== 'fail';
    io.print(io.isForPeople ? lineOf(finding) : JSON.stringify(finding));
  };
  tell(nodeFinding());
  for await (const finding of findings(values.config ?? DEFAULT_CONFIG, environment)) tell(finding);
  return isWell;
}

async function* findings(file: string, environment: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  if (!existsSync(file)) {
    yield {
      verdict: 'fail',
      what: 'configuration',
      found: `there is no ${file}`,
      advice: 'make one with init, or name it with --config',
    };
    return;
  }
  try {
    const { config: parsed } = readConfigFile(file, environment);
    const config = loadConfig(file, environment, true);
    yield configurationFinding(config.file);
    for (const warning of config.warnings) yield { verdict: 'warn', what: 'configuration', found: warning };
    yield* fileFindings(config, parsed.keys);
    yield* spaceFindings(config);
    yield await portFinding(config);
    yield* panelFindings(config);
    const elsewhere = yield* databaseFindings(config);
    yield* journalFindings(config);
    yield* backupFindings(config, environment, elsewhere);
  } catch (error) {
    const found = (error as Error).message;
    yield { verdict: 'fail', what: 'configuration', found, advice: 'fix it; nothing else can be checked before that' };
  }
}

function configurationFinding(file: string): Finding {
  const what = 'configuration';
  if (!isInside(file, REPLACED_FOLDER)) return { verdict: 'ok', what, found: file };
  const found = `${file} is in the program's folder, which the next version replaces`;
  return { verdict: 'warn', what, found, advice: 'move its folder elsewhere and start with --config' };
}

function nodeFinding(): Finding {
  const { node } = process.versions;
  const what = 'Node.js';
  return satisfies(node, NODE_RANGE, { includePrerelease: true })
    ? { verdict: 'ok', what, found: node }
    : { verdict: 'fail', what, found: node, advice: 'install Node.js 22.22.2, or 24.14.1 or newer' };
}

function lineOf({ verdict, what, found, advice }: Finding): string {
  return visibleText(`${verdict.padEnd(4)}  ${what.padEnd(13)}  ${found}${advice === undefined ? '' : ` → ${advice}`}`);
}
