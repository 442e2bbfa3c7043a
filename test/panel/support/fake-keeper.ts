import type { KeeperLink } from '#sidecar/keeper/channel/keeper-link.ts';
import { type HelloMessage, KEEPER_CHANNEL, type ToKeeper, type ToSidecar } from '#sidecar/keeper/channel/messages.ts';
import { VERSION } from '#sidecar/program-folder.ts';

type Listener = (message: ToSidecar) => void;

/** The sidecar's end of the channel in the hands of a test, which says what the keeper says and reads what it is told. */
export class FakeKeeper {
  readonly hello: HelloMessage;
  readonly sent: ToKeeper[] = [];
  readonly #listeners = new Map<string, Listener>();

  constructor(hello: Partial<HelloMessage> = {}) {
    this.hello = {
      ...{ type: 'hello', channel: KEEPER_CHANNEL, program: VERSION, release: null, trial: null, last: null },
      ...{ isResumed: false, note: null, serverPid: null, ...hello },
    };
  }

  get link(): KeeperLink {
    return this as unknown as KeeperLink;
  }

  send(message: ToKeeper): void {
    this.sent.push(message);
  }

  on(type: string, listener: Listener): void {
    this.#listeners.set(type, listener);
  }

  /** The keeper says so. */
  says(message: ToSidecar): void {
    this.#listeners.get(message.type)?.(message);
  }
}
