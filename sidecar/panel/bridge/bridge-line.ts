import { BRIDGE_LEVELS, type BridgeLevel } from '../shapes/bridge.ts';

/** Line from another machine, as stored. */
export interface BridgeLine {
  /** Time of the sender, ISO 8601 UTC with milliseconds. */
  readonly time: string;
  readonly level: BridgeLevel;
  readonly module: string;
  readonly text: string;
  /** Name of the token that sent it. */
  readonly machine: string;
}

const MAX_MODULE = 64;

/**
 * Reads the lines of a body, newline-delimited JSON. An invalid line refuses the whole body, so that the sender learns of the
 * fault and no line is lost silently.
 *
 * @returns the lines, or the number of the first invalid line, from 1
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
