import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretOf } from '../config-folder.ts';
import { withPreload } from '../preloads.ts';
import { type SidecarProcess, spawnSidecar } from '../sidecar-process.ts';
import { type Answer, type Envelope, SignedClient } from '../signed-client.ts';
import { testFolder } from '../test-folder.ts';

/** Pause of a sidecar after which its callers give it up, as a connector does. */
const GIVEN_UP_MS = 1000;

/** A sidecar in a process and a folder of its own, which faults may hurt. Its data stays until the end of the test. */
export class Box {
  readonly #folder = testFolder();
  readonly #clockFile = join(this.#folder, 'clock');
  readonly #database: object;
  readonly #hanging = new Set<(reason: Error) => void>();
  #sidecar: SidecarProcess | null = null;
  #client: SignedClient | null = null;
  #aheadMs = 0;
  #givingUp: NodeJS.Timeout | null = null;

  /** `database` of sidecar.json. */
  constructor(database: object) {
    this.#database = database;
  }

  /** Follows the clock of the sidecar, and gives up what a paused one does not answer. */
  get client(): SignedClient {
    if (this.#client === null) throw new Error('the sidecar was not started');
    return this.#client;
  }

  async start(): Promise<void> {
    this.#tellClock();
    this.#sidecar = await spawnSidecar(
      this.#folder,
      {
        database: { file: undefined, ...this.#database },
        limits: { perKeyPerSecond: 1_000_000, perAddressPerSecond: 1_000_000, authFailuresPerMinute: 10_000 },
      },
      { NODE_OPTIONS: withPreload('shift-clock'), CLOCK_FILE: this.#clockFile },
    );
    this.#client = this.#clientAt(this.#sidecar.address);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#client?.close();
    await this.#sidecar?.kill(signal);
  }

  pause(): void {
    this.#sidecar?.child.kill('SIGSTOP');
    this.#givingUp = setInterval(() => {
      for (const giveUp of this.#hanging) giveUp(new Error('the sidecar is paused'));
    }, GIVEN_UP_MS);
  }

  resume(): void {
    if (this.#givingUp !== null) clearInterval(this.#givingUp);
    this.#sidecar?.child.kill('SIGCONT');
  }

  /** How far its clock is ahead of the right one. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** From now on the clock of the box is ahead by so much; behind, if it is negative. */
  shiftClock(aheadMs: number): void {
    this.#aheadMs = aheadMs;
    this.#tellClock();
    this.#sidecar?.child.kill('SIGUSR2');
  }

  #tellClock(): void {
    writeFileSync(this.#clockFile, String(this.#aheadMs));
  }

  #clientAt(address: string): SignedClient {
    const hanging = this.#hanging;
    class BoxClient extends SignedClient {
      override async send(path: string, envelope: Envelope, headers: Record<string, string> = {}): Promise<Answer> {
        const { promise, reject } = Promise.withResolvers<never>();
        hanging.add(reject);
        try {
          return await Promise.race([super.send(path, envelope, headers), promise]);
        } finally {
          hanging.delete(reject);
        }
      }
    }
    return new BoxClient({ address, secret: secretOf('local'), now: () => Date.now() + this.#aheadMs });
  }
}
