import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Place, Program, ServerEngine } from './engine.ts';
import { folderInside, privateCommand } from './private-command.ts';
import { markOf, type ProcessMark, signalFamily } from './process-table.ts';
import { emptyDisk, fillDisk, unmountSmallDisk } from './small-disk.ts';

// Generous: the machine may be busy with a build.
const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 50;
const LOG_LINES_SHOWN = 20;

interface Running {
  readonly program: Program;
  readonly child: ChildProcess;
  readonly mark: ProcessMark;
  readonly ended: Promise<void>;
}

/** A server and its programs, with every action of a test on it. The data and the port stay the same until it is discarded. */
export class PrivateServer {
  readonly #engine: ServerEngine;
  readonly #place: Place;
  readonly #onChange: () => void;
  readonly #wasReady = new Set<string>();
  #running: Running[] = [];
  #discarding: Promise<void> | null = null;

  constructor(engine: ServerEngine, place: Place, onChange: () => void) {
    this.#engine = engine;
    this.#place = place;
    this.#onChange = onChange;
  }

  /** The processes that it consists of now, for a clean-up by a later run. */
  get marks(): ProcessMark[] {
    return this.#running.map(({ mark }) => mark);
  }

  /** Starts what is not running, and resolves when it answers. */
  async start(): Promise<void> {
    for (const program of this.#engine.programs(this.#place)) {
      if (this.#running.some((running) => running.program.name === program.name)) continue;
      if (this.#discarding !== null) throw new Error('The servers were stopped.');
      await this.#untilReady(program);
      if (this.#wasReady.has(program.name)) continue;
      await program.onFirstReady?.();
      this.#wasReady.add(program.name);
    }
  }

  /** In good order: what was answered is there after the next start. */
  async stop(): Promise<void> {
    this.resume();
    for (const { program, child, ended } of [...this.#running].reverse()) {
      child.kill(program.stopSignal);
      const isStopped = await Promise.race([ended.then(() => true), wait(STOP_TIMEOUT_MS, false, { ref: false })]);
      if (!isStopped) throw new Error(`${program.name} did not stop within ${STOP_TIMEOUT_MS / 1000} s.`);
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** As if the power had gone: every process at once, with no chance to say goodbye. */
  async kill(): Promise<void> {
    for (const { program, child, mark } of this.#running) {
      if (program.killSignal === undefined) signalFamily(mark.pid, 'SIGKILL');
      else child.kill(program.killSignal);
    }
    await Promise.all(this.#running.map(({ ended }) => ended));
  }

  /** It hangs: connections stay open, and nothing answers. */
  pause(): void {
    for (const { mark } of this.#running) signalFamily(mark.pid, 'SIGSTOP');
  }

  resume(): void {
    for (const { mark } of this.#running) signalFamily(mark.pid, 'SIGCONT');
  }

  /** Every write fails that needs more of the disk, until `emptyDisk`. */
  fillDisk(): void {
    if (this.#place.diskMegabytes === null)
      throw new Error('It shares the disk of the machine: start it with diskMegabytes.');
    fillDisk(this.#place.folder);
  }

  emptyDisk(): void {
    emptyDisk(this.#place.folder);
  }

  /** Ends it for good; what it leaves in its folder is worth nothing. */
  discard(): Promise<void> {
    this.#discarding ??= this.#discard();
    return this.#discarding;
  }

  async #discard(): Promise<void> {
    this.resume();
    const running = this.#running;
    for (const { program, child } of running) child.kill(program.discardSignal);
    const all = Promise.all(running.map(({ ended }) => ended));
    await Promise.race([all, wait(5_000, null, { ref: false })]);
    for (const { mark } of this.#running) signalFamily(mark.pid, 'SIGKILL');
    await all;
    for (const program of this.#engine.programs(this.#place)) await program.onDiscarded?.();
    if (this.#place.diskMegabytes !== null) unmountSmallDisk(this.#place.folder);
  }

  #spawn(program: Program): Running {
    const { installation, folder } = this.#place;
    const argv = privateCommand({ installation, folder, argv: program.argv, deathSignal: program.discardSignal });
    const log = openSync(this.#logFile(program), 'a', 0o600);
    // Nothing of our environment: a PGPORT or MYSQL_HOST would have its say.
    const env = {
      PATH: `${process.env.PATH}`,
      LC_ALL: 'C',
      HOME: folderInside(installation, folder),
      ...program.env,
    };
    const child = spawn(`${argv[0]}`, argv.slice(1), { cwd: folder, env, stdio: ['ignore', log, log] });
    closeSync(log);
    if (child.pid === undefined) throw new Error(`${program.name} cannot be run.`);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const running: Running = { program, child, mark: markOf(child.pid), ended };
    child.once('exit', () => {
      this.#running = this.#running.filter((other) => other !== running);
      this.#onChange();
      resolve();
    });
    this.#running.push(running);
    this.#onChange();
    return running;
  }

  async #untilReady(program: Program): Promise<void> {
    const { startTimeoutMs = START_TIMEOUT_MS } = program;
    const deadline = performance.now() + startTimeoutMs;
    let { child } = this.#spawn(program);
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null) {
        const reason = `${program.name} ended as it started:\n${this.#lastLines(program)}`;
        if (program.isPassing?.(reason) !== true || performance.now() > deadline) throw new Error(reason);
        await wait(POLL_MS);
        ({ child } = this.#spawn(program));
      }
      if (await program.isReady().catch(() => false)) return;
      if (performance.now() > deadline) {
        const seconds = startTimeoutMs / 1000;
        throw new Error(`${program.name} did not answer within ${seconds} s:\n${this.#lastLines(program)}`);
      }
      await wait(POLL_MS);
    }
  }

  #lastLines(program: Program): string {
    const lines = readFileSync(this.#logFile(program), 'utf8').trimEnd().split('\n');
    return lines.slice(-LOG_LINES_SHOWN).join('\n');
  }

  #logFile(program: Program): string {
    return join(this.#place.folder, `${program.name}.log`);
  }
}
