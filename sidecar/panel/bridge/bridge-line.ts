import { BRIDGE_LEVELS, type BridgeLevel } from '../shapes/bridge.ts';

/** One line that another machine has handed in, as it is kept. */
export interface BridgeLine {
  /** ISO 8601 UTC with milliseconds: the sender's. */
  readonly time: string;
  readonly level: BridgeLevel;
  readonly module: string;
  readonly text: string;
  /** Name of the token it came with. */
  readonly machine: string;
}

const MAX_MODULE = 64;

/**
 * The lines of a body, newline-delimited JSON. A line that cannot be read makes all of it be refused, so that a sender learns
 * of its mistake and none is lost without a word.
 *
 * @returns the number of the first line at fault, from 1, in place of the lines
 */
export function readBridgeLines(body: string, machine: string): readonly BridgeLine[] | number {
  const lines: BridgeLine[] = [];
  const texts = body.split('\n');
  for (const [index, text] of texts.entries()) {
    if (text.trim() === '') continue;
    const line = readLine(text, machine);
    if (line === null) return index + 1;
    lines.push(line);
  }
  return lines;
}

function readLine(json: string, machine: string): BridgeLine | null {
  let given: Record<string, unknown>;
  try {
    given = JSON.parse(json) as Record<string, unknown>;
  } catch {
    return null;
  }
  if (typeof given !== 'object' || given === null) return null;
  const { time, level, module, text } = given;
  if (typeof text !== 'string' || typeof module !== 'string' || typeof time !== 'string') return null;
  if (!(BRIDGE_LEVELS as readonly unknown[]).includes(level) || module.length > MAX_MODULE) return null;
  const at = Date.parse(time);
  if (Number.isNaN(at) || Math.abs(at) > 8.64e15) return null;
  return {
    time: new Date(at).toISOString(),
    level: level as BridgeLevel,
    module: module.toWellFormed(),
    text: text.toWellFormed(),
    machine,
  };
}
