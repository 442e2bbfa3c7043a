import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Settings in `vfs/sample_roleplay.json`. Every property may be left out. */
export interface Options {
  /** How many characters the town is born with. Counts at the first start only. */
  readonly characters: number;
  /** The same seed makes the same people. */
  readonly seed: number;
  /** How lively the evening is. 0: nothing happens by itself. */
  readonly actionsPerSecond: number;
  /** Seconds between two summary lines, each with an audit. */
  readonly summarySeconds: number;
  /** 1: money moves step by step, as on a database without transactions, also where there are some. */
  readonly stepwise: number;
}

const DEFAULTS: Options = { characters: 5000, seed: 20771, actionsPerSecond: 5, summarySeconds: 60, stepwise: 0 };

const LIMITS: Record<keyof Options, readonly [least: number, most: number]> = {
  characters: [2, 1_000_000],
  seed: [0, 4_294_967_295],
  actionsPerSecond: [0, 500],
  summarySeconds: [1, 86_400],
  stepwise: [0, 1],
};

/** Throws with a line that names the property: a typing error must not pass for a default. */
export function readOptions(vfs: string): Options {
  const text = readIfThere(join(vfs, 'sample_roleplay.json'));
  if (text === undefined) return DEFAULTS;
  const given = parse(text);
  if (given === null || typeof given !== 'object' || Array.isArray(given)) {
    throw new Error('sample_roleplay.json: expected an object');
  }
  for (const [name, value] of Object.entries(given)) checkOption(name, value);
  return { ...DEFAULTS, ...given };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`sample_roleplay.json is no JSON: ${(error as Error).message}`);
  }
}

function checkOption(name: string, value: unknown): void {
  const limits = Object.hasOwn(LIMITS, name) ? LIMITS[name as keyof Options] : undefined;
  if (!limits) {
    throw new Error(`sample_roleplay.json: ${name}: unknown, expected one of ${Object.keys(LIMITS).join(', ')}`);
  }
  const [least, most] = limits;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw new Error(
      `sample_roleplay.json: ${name}: expected a whole number from ${least} to ${most}, got ${JSON.stringify(value)}`,
    );
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
