import { SYSTEM_TIMERS } from '#connector/client/timers.ts';
import { Database, type DatabaseHost } from '#connector/helper/helper.ts';
import { Rig } from './connector-rig.ts';
import type { TestSidecar } from './sidecar.ts';

/** The real helper over the real connector, in front of a sidecar, as a bundle `shop` has it. */
export class HelperRig {
  readonly db: Database;
  readonly lines: string[] = [];
  readonly #rig: Rig;

  constructor(sidecar: Pick<TestSidecar, 'address' | 'secret'>, settings: Record<string, unknown> = {}) {
    const url = sidecar.address;
    this.#rig = new Rig(
      { url, namespaces: ['game', 'stats'], slowCallMs: 0, ...settings },
      SYSTEM_TIMERS,
      sidecar.secret,
    );
    const host: DatabaseHost = {
      name: 'shop',
      log: (line) => this.lines.push(line),
      on: () => {},
      exports: { call: (_bundle, name, question) => this.#rig.ask(name as 'Call', question, 'shop') },
    };
    this.db = new Database(host);
  }

  stop(): Promise<void> {
    return this.#rig.stop();
  }
}
