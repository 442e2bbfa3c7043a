import type { Configuration } from '../config/configuration.ts';
import type { Attempt, AttemptCarrier } from './attempt.ts';
import { ABANDONED, type ExchangeEnd } from './exchange.ts';
import { ClientStream, isGatewayError, type StreamEnd } from './stream.ts';
import type { Timers } from './timers.ts';
import { type Transport, UndiciTransport } from './transport.ts';

/** Payloads with more characters go by POST. */
const MAX_STREAM_CHARS = 256 * 1024;
const REFUSED_PAUSE_MS = 300_000;
const FIRST_PAUSE_MS = 300;
const LAST_PAUSE_MS = 30_000;
/** After a stream that stood so long the back-off begins again. */
const GOOD_STREAM_MS = 60_000;

/**
 * Calls over a stream while one stands, over POST otherwise (docs/api.md, "The stream"). With `transport` `auto` a stream is
 * opened once the API has answered a call by POST; with `stream` nothing but probes goes by POST.
 */
class StreamTransport implements Transport {
  readonly #configuration: Configuration;
  readonly #timers: Timers;
  readonly #post: Transport;
  readonly #hasPost: boolean;
  readonly #onChange: (name: Transport['name']) => void;
  #stream: ClientStream | null = null;
  /** Resolves when the stream that is being opened stands, or has failed. */
  #opening: Promise<void> = Promise.resolve();
  /** No stream is opened before this, in the `elapsed` of the timers. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #pauseMs = FIRST_PAUSE_MS;
  /** End of the last attempt, as `#notBefore`. */
  #endedAt = Number.NEGATIVE_INFINITY;
  #isChosen = true;
  #isDestroyed = false;

  constructor(configuration: Configuration, timers: Timers, onChange: (name: Transport['name']) => void) {
    this.#configuration = configuration;
    this.#onChange = onChange;
    this.#timers = timers;
    this.#hasPost = configuration.config.transport !== 'stream';
    this.#post = new UndiciTransport(configuration, timers, {
      onPosted: (end) => this.#learn(end),
      onConnected: () => this.#forgiveRefusal(),
    });
  }

  get name(): 'stream' | 'post' {
    return this.#stream?.isOpen === true ? 'stream' : 'post';
  }

  send(attempt: Attempt): void {
    const fits = !attempt.isLong && attempt.payload.length <= MAX_STREAM_CHARS;
    if (this.#hasPost || !this.#isChosen) {
      if (fits && this.#stream?.hasRoom === true) this.#stream.send(attempt);
      else this.#post.send(attempt);
    } else if (this.#stream?.isOpen === true) this.#stream.send(attempt);
    else void this.#sendOnceOpen(attempt);
  }

  setChosen(isChosen: boolean): void {
    this.#isChosen = isChosen;
    if (!isChosen) this.#stream?.retire();
  }

  get(path: string, timeoutMs: number): Promise<ExchangeEnd> {
    return this.#post.get(path, timeoutMs);
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#stream?.destroy();
    await this.#post.destroy();
  }

  async #sendOnceOpen(attempt: Attempt): Promise<void> {
    const place = new PlaceInLine();
    attempt.carriedBy = place;
    this.#open();
    await this.#opening;
    // It was abandoned, and may be under way elsewhere.
    if (attempt.carriedBy !== place) return;
    attempt.carriedBy = null;
    if (this.#stream?.isOpen === true) this.#stream.send(attempt);
    else attempt.exchanged({ kind: 'noAnswer', reason: 'no stream to the API stands', hasStalled: false }, 0);
  }

  /** From a POST: an API that was away may be another one afterwards, so a refusal does not outlast it. */
  #learn(result: ExchangeEnd): void {
    if (result.kind === 'answer' && !isGatewayError(result.status)) this.#open();
    else if (result.kind === 'answer' || (result.kind === 'noAnswer' && !result.hasStalled)) {
      this.#notBefore = Math.min(this.#notBefore, this.#timers.elapsed() + this.#pauseMs);
    }
  }

  /** A sidecar that was started again while nothing was called shows in a new connection: the ordinary pause is enough then. */
  #forgiveRefusal(): void {
    this.#notBefore = Math.min(this.#notBefore, this.#endedAt + this.#pauseMs);
  }

  #open(): void {
    const isWanted = this.#isChosen && !this.#isDestroyed;
    if (!isWanted || this.#stream !== null || this.#timers.elapsed() < this.#notBefore) return;
    const opening = Promise.withResolvers<void>();
    let openedAt = Number.POSITIVE_INFINITY;
    this.#opening = opening.promise;
    this.#stream = new ClientStream({
      configuration: this.#configuration,
      timers: this.#timers,
      onOpen: () => {
        openedAt = this.#timers.elapsed();
        this.#onChange('stream');
        opening.resolve();
      },
      onEnd: (end) => {
        this.#stream = null;
        this.#onChange('post');
        this.#pause(end, this.#timers.elapsed() - openedAt);
        opening.resolve();
      },
    });
  }

  #pause(end: StreamEnd, stoodMs: number): void {
    if (end === 'retired') return;
    if (stoodMs > GOOD_STREAM_MS) this.#pauseMs = FIRST_PAUSE_MS;
    this.#endedAt = this.#timers.elapsed();
    // Without POST every call waits for the next attempt.
    this.#notBefore = this.#endedAt + (end === 'refused' && this.#hasPost ? REFUSED_PAUSE_MS : this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, LAST_PAUSE_MS);
  }
}

/** Carries an attempt while the stream that it waits for is being opened, which has its own time limit. */
class PlaceInLine implements AttemptCarrier {
  readonly received = 0;

  expired(attempt: Attempt): void {
    this.abandon(attempt);
  }

  abandon(attempt: Attempt): void {
    attempt.carriedBy = null;
    attempt.exchanged(ABANDONED, 0);
  }
}

/**
 * The way that `transport` of the configuration names.
 *
 * @param onChange hears how calls go out from now on
 */
export function openTransport(
  configuration: Configuration,
  timers: Timers,
  onChange: (name: Transport['name']) => void = () => {},
): Transport {
  return configuration.config.transport === 'post'
    ? new UndiciTransport(configuration, timers)
    : new StreamTransport(configuration, timers, onChange);
}
