import type { TimeParts } from '../client/call-trace.ts';
import type { Timers } from '../client/timers.ts';
import type { Say } from '../config/say.ts';
import type { CheckedCall } from './call-checks.ts';

const QUIET_MS = 10_000;
/** Callers whose last line is remembered; beyond that all share one pause. */
const MAX_CALLERS = 200;

/** A call that has ended. */
export interface EndedCall {
  readonly call: CheckedCall;
  /** Null if the host does not name the caller. */
  readonly caller: string | null;
  /** From `Call` to the result. */
  readonly tookMs: number;
  readonly parts: TimeParts;
}

interface Silence {
  lastLineAt: number;
  unsaid: number;
}

/**
 * A console line for a call slower than `slowCallMs`, with where its time went: at most one a caller in ten seconds; the
 * rest are counted in its next one.
 */
export class SlowCalls {
  readonly #timers: Timers;
  readonly #log: Say;
  readonly #silences = new Map<string | null, Silence>();

  constructor(timers: Timers, log: Say) {
    this.#timers = timers;
    this.#log = log;
  }

  /** @param slowCallMs 0: nothing is slow */
  note(ended: EndedCall, slowCallMs: number): void {
    const { caller, tookMs } = ended;
    if (slowCallMs === 0 || tookMs <= slowCallMs) {
      return;
    }
    const silence = this.#silenceOf(caller);
    const now = this.#timers.elapsed();
    if (now - silence.lastLineAt < QUIET_MS) {
      silence.unsaid += 1;
      return;
    }
    this.#log(describe(ended, silence.unsaid), 'warning');
    silence.lastLineAt = now;
    silence.unsaid = 0;
  }

  #silenceOf(caller: string | null): Silence {
    const name = this.#silences.has(caller) || this.#silences.size < MAX_CALLERS ? caller : null;
    const silence = this.#silences.get(name) ?? { lastLineAt: Number.NEGATIVE_INFINITY, unsaid: 0 };
    this.#silences.set(name, silence);
    return silence;
  }
}

function describe({ call, caller, tookMs, parts }: EndedCall, unsaid: number): string {
  const who = caller === null ? '' : ` of ${caller}`;
  const more = unsaid === 0 ? '' : ` (and ${unsaid} more since the last such line)`;
  return `slow call${who}: ${nameOf(call)} took ${Math.round(tookMs)} ms: ${blame(parts)}${more}`;
}

/** The parts in the order of a call's way; those of no weight are left out. */
function blame({ queue, pauses, tick, network, sidecar, database }: TimeParts): string {
  const parts: [number | null, string][] = [
    [queue, 'queue'],
    [pauses, 'pauses between attempts'],
    [tick, 'game thread'],
    [network, sidecar === null ? 'network and sidecar' : 'network'],
    [sidecar, 'sidecar'],
    [database, 'database'],
  ];
  const told = parts.filter(([ms]) => ms !== null && Math.round(ms) > 0);
  return told.map(([ms, name]) => `${name} ${Math.round(ms ?? 0)} ms`).join(', ');
}

function nameOf({ operation, namespace, table }: CheckedCall): string {
  if (namespace === null) {
    return operation;
  }
  return table === null ? `${operation} ${namespace}` : `${operation} ${namespace}.${table}`;
}
