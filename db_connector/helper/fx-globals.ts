import { Q } from './builders.ts';
import { Database } from './database.ts';
import type { BundleState, DatabaseHost, Turn } from './host.ts';

/** Calls of a tick that are not gathered. */
const CALLS_AT_ONCE = 4;

/** The part of FXServer's script environment that the helper uses. */
interface FxScript {
  GetCurrentResourceName(): string;
  GetResourceState(resource: string): string;
  /** On the next tick of the game. */
  setImmediate(run: () => void): unknown;
  on(event: 'onResourceStart' | 'onResourceStop', listener: (resource: string) => void): void;
  readonly exports: Record<string, Record<string, (...args: readonly unknown[]) => unknown> | undefined>;
  readonly console: { log(line: string): void };
}

/**
 * Microtasks run outside of the server's script context, so what is gathered goes out with the next tick. The first calls
 * of a tick are not delayed. A resource that stops has no next tick.
 */
class GameTurn implements Turn {
  atOnce = CALLS_AT_ONCE;
  readonly #fx: FxScript;
  #run: (() => void) | undefined;

  constructor(fx: FxScript) {
    this.#fx = fx;
  }

  readonly end = (run: () => void): void => {
    this.#run = run;
    this.#fx.setImmediate(() => this.#finish());
  };

  /** Any resource can say so: the next tick comes if it is not true. */
  stop(): void {
    this.#finish();
    this.atOnce = Number.POSITIVE_INFINITY;
    this.#fx.setImmediate(() => {
      this.atOnce = CALLS_AT_ONCE;
    });
  }

  #finish(): void {
    const run = this.#run;
    this.#run = undefined;
    run?.();
  }
}

function scriptHost(fx: FxScript): DatabaseHost {
  const name = fx.GetCurrentResourceName();
  const turn = new GameTurn(fx);
  return {
    name,
    turn,
    log: (line) => fx.console.log(line),
    exports: {
      call: (resource, name, ...args) => fx.exports[resource]?.[name]?.(...args),
    },
    on(_event, listener) {
      const tell = (bundle: string, state: BundleState) => listener({ bundle, state });
      fx.on('onResourceStart', (bundle) => tell(bundle, 'started'));
      // Any resource can send this event. The state changes after it.
      fx.on('onResourceStop', (bundle) => {
        if (bundle === name) turn.stop();
        fx.setImmediate(() => {
          if (fx.GetResourceState(bundle) !== 'started') tell(bundle, 'stopped');
        });
      });
    },
  };
}

// FXServer's scripts share globals, one script of a resource with the next (contract section 8).
const script = globalThis as unknown as FxScript & { DB: Database; Q: typeof Q };
script.DB = new Database(scriptHost(script));
script.Q = Q;
