import { Q } from './builders.ts';
import { Database } from './database.ts';
import type { BundleState, DatabaseHost } from './host.ts';

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

function scriptHost(fx: FxScript): DatabaseHost {
  return {
    name: fx.GetCurrentResourceName(),
    log: (line) => fx.console.log(line),
    exports: {
      call: (resource, name, ...args) => fx.exports[resource]?.[name]?.(...args),
    },
    on(_event, listener) {
      const tell = (bundle: string, state: BundleState) => listener({ bundle, state });
      fx.on('onResourceStart', (bundle) => tell(bundle, 'started'));
      // Any resource can send this event. The state changes after it.
      fx.on('onResourceStop', (bundle) => {
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
