import { Dice } from '../buffered/dice.ts';
import { type Answer, type Envelope, SignedClient, type SignedClientOptions } from '../signed-client.ts';
import { TEST_SEED } from '../test-seed.ts';

/** Each signed call goes to a random one of several sidecars with the same keys; probes and bodies by hand to the first. */
export class SpreadClient extends SignedClient {
  readonly #clients: readonly SignedClient[];
  readonly #dice = new Dice(TEST_SEED);

  constructor(addresses: readonly string[], options: Omit<SignedClientOptions, 'address'>) {
    super({ ...options, address: `${addresses[0]}` });
    this.#clients = addresses.map((address) => new SignedClient({ ...options, address }));
  }

  override send(path: string, envelope: Envelope, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#dice.pick(this.#clients).send(path, envelope, headers);
  }

  override async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await super.close();
  }
}
