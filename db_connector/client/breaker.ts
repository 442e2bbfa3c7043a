import CircuitBreaker from 'opossum';
import { CIRCUIT_FAILURES, CIRCUIT_PAUSE_MS } from '../protocol/limits.ts';
import type { Outcome } from './outcome.ts';
import type { Timers } from './timers.ts';

const PAUSED = `paused: the sidecar did not answer ${CIRCUIT_FAILURES} times`;

export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * Opens after five transport failures in a row, for 15 s; then one trial call decides.
 *
 * opossum keeps the state and the pause. It knows no consecutive failures, so those are counted here and end in `open()`; only the
 * trial is fired, at its end. An attempt that began before the circuit opened decides nothing afterwards.
 */
export class Breaker {
  readonly #circuit: CircuitBreaker<[Outcome['transport']], void>;
  readonly #timers: Timers;
  #failures = 0;
  #openings = 0;
  #openedAt = 0;
  #isTrialTaken = false;

  constructor(timers: Timers, onOpen: () => void) {
    this.#timers = timers;
    this.#circuit = new CircuitBreaker(settle, {
      timeout: false,
      errorThresholdPercentage: 100,
      resetTimeout: CIRCUIT_PAUSE_MS,
      rollingPercentilesEnabled: false,
      enableSnapshots: false,
    });
    this.#circuit.on('halfOpen', () => {
      this.#isTrialTaken = false;
    });
    this.#circuit.on('open', () => {
      this.#openings += 1;
      this.#failures = 0;
      this.#openedAt = timers.elapsed();
      onOpen();
    });
  }

  get state(): CircuitState {
    if (this.#circuit.opened) {
      return 'open';
    }
    return this.#circuit.halfOpen ? 'half-open' : 'closed';
  }

  /** Changes when the circuit opens: attempts that began under another number no longer count. */
  get period(): number {
    return this.#openings;
  }

  /** Lets a call in; one that is let in while half-open is the trial. */
  admit(): boolean {
    if (this.#circuit.halfOpen && !this.#isTrialTaken) {
      this.#isTrialTaken = true;
      return true;
    }
    return this.#circuit.closed;
  }

  /** Why `admit` refuses, in words, with how long it lasts. */
  get refusal(): string {
    if (!this.#circuit.opened) {
      return `${PAUSED}; a trial call is under way`;
    }
    const seconds = Math.ceil((CIRCUIT_PAUSE_MS - (this.#timers.elapsed() - this.#openedAt)) / 1000);
    return `${PAUSED}; next try in ${Math.max(1, seconds)} s`;
  }

  /** Counts an attempt that began in `period`. */
  count(period: number, transport: Outcome['transport']): void {
    if (period !== this.#openings || this.#circuit.opened) {
      return;
    }
    if (this.#circuit.halfOpen) this.#decide(transport);
    else if (transport === 'success') this.#failures = 0;
    else if (transport === 'failure') this.#countFailure();
  }

  #decide(transport: Outcome['transport']): void {
    if (transport === 'nothing') this.#isTrialTaken = false;
    else this.#circuit.fire(transport).catch(() => undefined);
  }

  /** In place of a trial: the API has shown otherwise that it answers. */
  close(): void {
    this.#failures = 0;
    this.#circuit.close();
  }

  shutdown(): void {
    this.#circuit.shutdown();
  }

  #countFailure(): void {
    this.#failures += 1;
    if (this.#failures >= CIRCUIT_FAILURES) {
      this.#circuit.open();
    }
  }
}

async function settle(transport: Outcome['transport']): Promise<void> {
  if (transport === 'failure') {
    throw new Error('transport failure');
  }
}
