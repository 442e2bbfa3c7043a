import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { saysFullDisk } from '#sidecar/full-disk.ts';
import { fullDiskOf, namingFullDisk, UNKNOWN_SIZE } from '../disk-space.ts';
import { PanelError } from '../panel-error.ts';
import { PROGRAM_PATH } from '../programs/find-program.ts';
import { type ProgramEnd, runProgram } from '../programs/run-program.ts';
import type { NpmTool } from '../tools/npm-tool.ts';

export interface NpmSettings {
  /** Empty: offline, from the cache alone. */
  readonly registry: string;
  readonly minReleaseAgeDays: number;
}

export interface NpmRun {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onText: (text: string) => void;
}

export interface NpmParts {
  readonly tool: NpmTool;
  readonly settings: () => NpmSettings;
  /** File with all certificates that count, or null for Node's own. */
  readonly authoritiesFile: string | null;
  /** `data/bundle-tools/npm`: cache, HOME and empty configurations. */
  readonly folder: string;
}

/** npm with nothing of a project, a user or the system in charge: no script, no git, no address, no other registry. */
export class Npm {
  readonly #parts: NpmParts;

  constructor(parts: NpmParts) {
    this.#parts = parts;
  }

  /** @throws PanelError `bundleTools.tool`, `packages.failed`, `disk.full` */
  async run([name, ...rest]: readonly [string, ...string[]], run: NpmRun): Promise<ProgramEnd> {
    const { tool, authoritiesFile, folder } = this.#parts;
    const { script } = tool.need();
    const home = join(folder, 'home');
    const flags = await namingFullDisk(folder, UNKNOWN_SIZE, async () => {
      mkdirSync(home, { recursive: true, mode: 0o700 });
      return this.#flags();
    });
    const end = await runProgram({
      ...{ program: process.execPath, args: [script, name, ...flags, ...rest] },
      ...{ home, isLogged: true, path: [dirname(process.execPath), PROGRAM_PATH].join(delimiter), ...run },
      variables: {
        ...{ NO_UPDATE_NOTIFIER: '1', npm_config_update_notifier: 'false', LC_ALL: 'C' },
        ...(authoritiesFile === null ? {} : { NODE_EXTRA_CA_CERTS: authoritiesFile }),
      },
    });
    run.signal.throwIfAborted();
    if (end.stopped !== null) throw new PanelError('packages.failed', { detail: `npm ${name} ${end.stopped}` });
    if (end.code !== 0 && saysFullDisk(end.stderr)) throw await fullDiskOf(run.folder);
    if (end.code !== 0) throw new PanelError('packages.failed', { detail: complaintOf(end.stderr, name) });
    return end;
  }

  #flags(): string[] {
    const { folder, settings } = this.#parts;
    const { registry, minReleaseAgeDays } = settings();
    const empty = (name: string) => {
      const file = join(folder, name);
      writeFileSync(file, '', { mode: 0o600 });
      return file;
    };
    return [
      ...['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress'],
      ...['--allow-git=none', '--allow-remote=none', '--allow-file=none', '--allow-directory=none'],
      ...(minReleaseAgeDays > 0 ? [`--min-release-age=${minReleaseAgeDays}`] : []),
      `--cache=${join(folder, 'cache')}`,
      `--userconfig=${empty('user.npmrc')}`,
      `--globalconfig=${empty('global.npmrc')}`,
      ...(registry === '' ? ['--offline'] : [`--registry=${registry}`]),
      ...[
        '--fetch-retries=0',
        '--fetch-timeout=60000',
        '--replace-registry-host=never',
        '--logs-max=0',
        '--loglevel=warn',
        '--no-color',
        '--git=/dev/null',
        '--no-workspaces',
      ],
    ];
  }
}

function complaintOf(stderr: string, command: string): string {
  const line = stderr.split('\n').find((each) => /^npm (error|ERR!)/.test(each) && !/ code /.test(each));
  return `npm ${command}: ${(line ?? 'failed').replace(/^npm (error|ERR!)\s*/, '').slice(0, 500)}`;
}
