import type { Bundle, Run } from './bundle.ts';
import type { CommandTable } from './command-table.ts';
import type { ConsoleLines } from './console-lines.ts';
import type { ExportTable } from './export-table.ts';
import type { BundleListener, BundleState, Host, HostExports } from './host.ts';

/** Services that the hosts of all bundles share. */
export interface Services {
  readonly vfs: string;
  readonly console: ConsoleLines;
  readonly exports: ExportTable;
  readonly commands: CommandTable;
  readonly listeners: Map<Bundle, BundleListener[]>;
  readonly stateOf: (bundle: string) => BundleState;
  /** A bundle has another state now. */
  readonly onState: () => void;
}

/** The host of one run of a bundle. What it registers goes when the bundle stops; a bundle that has stopped can only log. */
export function createHost(bundle: Bundle, run: Run, services: Services): Host {
  const mustRun = () => {
    if (run.isRetired) throw new Error(`Bundle ${bundle.name} has stopped`);
  };
  const mayRegister = () => {
    mustRun();
    if (run.isOver) throw new Error(`Bundle ${bundle.name} is stopping`);
  };
  return Object.freeze<Host>({
    name: bundle.name,
    folder: bundle.folder,
    vfs: services.vfs,
    exports: Object.freeze<HostExports>({
      register(name, execute) {
        mayRegister();
        services.exports.register(bundle.name, name, execute as (...args: unknown[]) => unknown);
      },
      call(other, name, ...args) {
        mustRun();
        return services.exports.call(bundle.name, other, name, args);
      },
    }),
    commands: Object.freeze<Host['commands']>({
      register(name, description, execute) {
        mayRegister();
        services.commands.register({ name, description: String(description ?? ''), bundle: bundle.name, run: execute });
      },
    }),
    log: (line) => services.console.ofBundle(bundle.name, line),
    state: (other) => services.stateOf(other),
    on(event, listener) {
      mayRegister();
      if (event !== 'bundle') throw new Error(`Unknown event ${JSON.stringify(event)}; there is "bundle"`);
      if (typeof listener !== 'function') throw new TypeError(`on: expected a function, got ${typeof listener}`);
      services.listeners.set(bundle, [...(services.listeners.get(bundle) ?? []), listener]);
    },
  });
}
