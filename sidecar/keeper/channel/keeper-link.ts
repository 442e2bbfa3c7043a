import { Socket } from 'node:net';
import { MessageChannel } from './message-channel.ts';
import { type HelloMessage, KEEPER_VARIABLE, type ToKeeper, type ToSidecar } from './messages.ts';

type Kind = ToSidecar['type'];
type Listener = (message: never) => void;

/** Sidecar's end of the channel to the keeper that has started it. */
export class KeeperLink {
  readonly #channel: MessageChannel<ToSidecar, ToKeeper>;
  readonly #listeners = new Map<Kind, Listener>();
  readonly #hello = Promise.withResolvers<HelloMessage>();
  /** Orders that came before their listener: a stop may follow the greeting at once. */
  readonly #early = new Map<Kind, ToSidecar>();
  #isLeaving = false;
  #known: HelloMessage | null = null;

  private constructor(descriptor: number, onLost: () => void) {
    const stream = new Socket({ fd: descriptor, readable: true, writable: true });
    this.#channel = new MessageChannel(stream, {
      onMessage: (message) => this.#take(message),
      onClose: () => {
        if (!this.#isLeaving) onLost();
      },
    });
  }

  /**
   * Null without a keeper. Resolves once the keeper has greeted. Other programs that this one starts get no trace of it.
   *
   * @param onLost the keeper has ended
   */
  static async open(environment: NodeJS.ProcessEnv, onLost: () => void): Promise<KeeperLink | null> {
    const descriptor = Number(environment[KEEPER_VARIABLE] ?? Number.NaN);
    delete environment[KEEPER_VARIABLE];
    if (!Number.isInteger(descriptor)) return null;
    const link = new KeeperLink(descriptor, onLost);
    link.#known = await link.#hello.promise;
    return link;
  }

  /** Facts of this start. */
  get hello(): HelloMessage {
    if (this.#known === null) throw new Error('the keeper has not greeted');
    return this.#known;
  }

  send(message: ToKeeper): void {
    this.#channel.send(message);
  }

  /** Sets the listener of a kind. A `stop` or `go` before it waits for it; any other message without a listener is dropped. */
  on<Type extends Kind>(type: Type, listener: (message: Extract<ToSidecar, { type: Type }>) => void): void {
    this.#listeners.set(type, listener as Listener);
    const early = this.#early.get(type);
    this.#early.delete(type);
    if (early !== undefined) this.#take(early);
  }

  /** The end of the keeper, or of this process, is no fault any more. Resolves when the last message has left. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#channel.flush();
  }

  #take(message: ToSidecar): void {
    if (message.type === 'hello') this.#hello.resolve(message);
    const listener = this.#listeners.get(message.type);
    if (listener !== undefined) listener(message as never);
    else if (message.type === 'stop' || message.type === 'go') this.#early.set(message.type, message);
  }
}
