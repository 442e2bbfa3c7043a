import type { Connector } from '../calls/connector.ts';
import type { Timers } from '../client/timers.ts';
import { ConfigError } from '../config/config-error.ts';
import {
  type Configuration,
  type ConfigurationSource,
  completeConfiguration,
  readDatabaseConfig,
} from '../config/configuration.ts';
import { configAt, type EmbeddedConfig, isHostAllowed } from '../config/database-config.ts';
import type { Say } from '../config/say.ts';
import { importSecret } from '../protocol/signing.ts';
import type { EmbeddedPlace } from './embedded-place.ts';
import { CannotStartError } from './node-version.ts';
import { SidecarKeeper } from './sidecar-keeper.ts';

export interface LoaderOptions {
  readonly connector: Connector;
  readonly source: Omit<ConfigurationSource, 'hasSidecar'>;
  readonly place: EmbeddedPlace;
  readonly timers: Timers;
  readonly log: Say;
}

/** Brings the configuration to the connector, and runs the sidecar if the configuration asks for that. */
export class ConfigurationLoader {
  readonly #options: LoaderOptions;
  readonly #source: ConfigurationSource;
  #keeper: SidecarKeeper | null = null;
  #isStopped = false;

  constructor(options: LoaderOptions) {
    this.#options = options;
    this.#source = { ...options.source, hasSidecar: options.place.hasProgram };
  }

  /** Reads everything again and says how it went. What cannot be used leaves the running configuration as it is. Never rejects. */
  async load(say: Say): Promise<void> {
    const { connector } = this.#options;
    try {
      const config = readDatabaseConfig(this.#source);
      if (config.target === null) {
        await this.#loadEmbedded(config, say);
      } else {
        await this.#loadExternal(completeConfiguration(this.#source, config), say);
      }
    } catch (error) {
      const isExpected = error instanceof ConfigError || error instanceof CannotStartError;
      const reason = isExpected ? error.message : `unexpected: ${String(error)}`;
      connector.refuseCalls(reason);
      say(
        connector.settings === undefined
          ? `not configured: ${reason}; fix that, then type db-reload`
          : `the running configuration stays: ${reason}`,
        'bad',
      );
    }
  }

  /** Resolves when the sidecar has ended; it is on its way to that when this returns. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#keeper?.stop();
  }

  async #loadExternal(configuration: Configuration, say: Say): Promise<void> {
    const { config } = configuration;
    const previous = this.#keeper;
    this.#keeper = null;
    const clockIsSet = this.#options.connector.configure(configuration);
    const [nearest, ...others] = config.targets.map(({ url }) => url);
    const instead = others.length === 0 ? '' : ` (to ${others.join(', then ')} if it is not well)`;
    say(
      `calls go to ${nearest}${instead} with key ${config.keyId}, namespaces ${[...config.namespaces].join(', ')}`,
      'good',
    );
    for (const warning of configuration.warnings) {
      say(warning, 'warning');
    }
    const strangers = config.targets.filter((target) => !isHostAllowed({ ...config, target }));
    const result = strangers.length < config.targets.length ? 'no call goes there' : 'every call ends with network';
    for (const { host } of strangers) say(`the host ${host} is not in allowedHosts: ${result}`, 'bad');
    await Promise.all([clockIsSet, previous?.stop()]);
  }

  /** A sidecar that runs is replaced, since it reads its own file at a start only; but not by one that cannot start. */
  async #loadEmbedded(config: EmbeddedConfig, say: Say): Promise<void> {
    const { connector, place, timers, log } = this.#options;
    if (!place.hasProgram()) {
      throw new ConfigError(
        `sidecar.mode: "embedded" needs ${place.program}, which is not there; copy the whole folder of the connector`,
      );
    }
    const keeper: SidecarKeeper = new SidecarKeeper({ place, timers, log }, config, {
      onUp: (address, secret) => {
        if (this.#keeper === keeper) {
          const key = importSecret(secret);
          void connector.configure({ config: configAt(config, address), key, ca: null, warnings: [] }, true);
          log(`the sidecar of this server is up at ${address}, with its data in ${keeper.folder}`, 'good');
        }
      },
      onDown: () => this.#keeper === keeper && !connector.isHolding && connector.holdCalls(config),
      onGivenUp: (reason) => this.#keeper === keeper && connector.giveUpHold(reason),
    });
    const previous = this.#keeper;
    if (connector.client !== null) {
      await keeper.check();
    }
    if (this.#isStopped || this.#keeper !== previous) {
      return;
    }
    this.#keeper = keeper;
    connector.holdCalls(config);
    say(previous === null ? 'starting the sidecar of this server …' : 'starting the sidecar of this server anew …');
    await previous?.stop();
    await keeper.start();
  }
}
