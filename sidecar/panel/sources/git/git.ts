import { mkdirSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { saysFullDisk } from '#sidecar/full-disk.ts';
import { fullDiskOf, namingFullDisk, UNKNOWN_SIZE } from '../../disk-space.ts';
import { PROGRAM_PATH } from '../../programs/find-program.ts';
import { type ProgramCall, type ProgramEnd, runProgram } from '../../programs/run-program.ts';
import type { GitProgram } from './git-program.ts';

export type GitRun = Partial<
  Pick<ProgramCall, 'input' | 'output' | 'channel' | 'onText' | 'signal' | 'timeoutMs' | 'watch' | 'variables'>
> & {
  /** Further configuration of this one run. */
  readonly config?: readonly string[];
};

/** git ended with a failure. The message is its first complaint, without secrets of ours, but as the other side wrote it. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed';
  readonly code: number | null;
  readonly stderr: string;
  readonly stdout: string;

  constructor({ code, stderr, stdout, stopped }: ProgramEnd) {
    super(stopped === null ? complaintOf(stderr, code) : `git ${stopped}`);
    this.code = code;
    this.stderr = stderr;
    this.stdout = stdout.toString('utf8');
  }
}

const LIMIT_MS = 120_000;

/**
 * Nothing of a repository runs: no hook, no filter, no driver, no other protocol than https, no redirect. A later setting of the
 * repository's own file does not win over these.
 */
const CONFIG: readonly string[] = [
  'protocol.allow=never',
  'protocol.https.allow=always',
  'core.hooksPath=/dev/null',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.fsmonitor=false',
  'core.symlinks=false',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.sshCommand=false',
  'core.askPass=',
  'core.alternateRefsCommand=false',
  'http.followRedirects=false',
  'http.sslVerify=true',
  'http.proxy=',
  'http.lowSpeedLimit=1000',
  'http.lowSpeedTime=60',
  'transfer.fsckObjects=true',
  'fetch.fsckObjects=true',
  'fetch.unpackLimit=1',
  'transfer.bundleURI=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'gc.autoDetach=false',
  'pack.threads=1',
  'pack.windowMemory=64m',
  'credential.helper=',
  'commit.gpgSign=false',
  'push.gpgSign=false',
  'merge.renames=true',
  'diff.external=',
  'uploadpack.packObjectsHook=',
];

const VARIABLES = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C',
};

/** git as a plumber: it works on bare repositories and has no work tree, user, editor, terminal or configuration. */
export class Git {
  readonly #program: GitProgram;
  readonly #home: string;

  /** @param folder for an empty HOME */
  constructor(program: GitProgram, folder: string) {
    this.#program = program;
    this.#home = join(folder, 'home');
  }

  /** Runs and returns the output. @throws GitFailed; PanelError `bundleTools.tool`, `disk.full` */
  async run(repository: string, args: readonly string[], options: GitRun = {}): Promise<Buffer> {
    const end = await this.try(repository, args, options);
    if (end.code !== 0 || end.stopped !== null) throw new GitFailed(end);
    return end.stdout;
  }

  /** Runs and returns the end, for commands whose exit code is an answer. @throws PanelError `bundleTools.tool`, `disk.full` */
  async try(repository: string, args: readonly string[], options: GitRun = {}): Promise<ProgramEnd> {
    const { program } = await this.#program.need();
    const { config = [], variables = {}, timeoutMs = LIMIT_MS, ...rest } = options;
    await namingFullDisk(this.#home, UNKNOWN_SIZE, async () => mkdirSync(this.#home, { recursive: true, mode: 0o700 }));
    const end = await runProgram({
      ...rest,
      ...{ program, folder: this.#home, home: this.#home, path: PROGRAM_PATH, timeoutMs },
      args: [
        ...['--no-pager', '--literal-pathspecs', `--git-dir=${repository}`],
        ...[...CONFIG, ...config].flatMap((setting) => ['-c', setting]),
        ...args,
      ],
      variables: { ...VARIABLES, ...variables },
    });
    if (end.code !== 0 && end.stopped === null && saysFullDisk(end.stderr)) throw await fullDiskOf(repository);
    return end;
  }
}

/** The first line that says why. */
function complaintOf(stderr: string, code: number | null): string {
  const lines = stderr.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  const line = lines.find((each) => /^(fatal|error|git):/.test(each)) ?? lines.at(-1) ?? `ended with ${code}`;
  return `git: ${line.slice(0, 500)}`;
}
