import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, SignedClient } from '#support/signed-client.ts';

/** How often a call with a key is sent again while its outcome is unknown, as a connector does. */
const MAX_REPETITIONS = 8;
const REPETITION_MS = 200;

/** `done`: acknowledged. `unknown`: a timeout, or a sidecar that is gone. `refused`: nothing was changed. */
export type Outcome = 'done' | 'unknown' | 'refused';

/** Chooses the sidecar of a call; each may be another one after a restart. */
export type ClientOf = (attempt: number) => SignedClient;

export interface Ended {
  readonly outcome: Outcome;
  /** Error code of a refusal. */
  readonly code: string | null | undefined;
  readonly result: Record<string, unknown> | undefined;
}

/** Calls of all callers: how they are sent, how many ended how, and how long the longest took. */
export class Calls {
  readonly counts = { done: 0, unknown: 0, refused: 0 };
  longestMs = 0;

  /**
   * With a key it is sent again, also to other sidecars, while nobody knows its outcome. A refusal then speaks for the last attempt
   * only: an earlier one may have been done.
   */
  async send(clientOf: ClientOf, operation: string, payload: object, key: string | null): Promise<Ended> {
    const whole = key === null ? payload : { ...payload, idempotencyKey: key };
    let isUnknown = false;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#timed(clientOf(attempt).call(operation, whole));
      const outcome = outcomeOf(answer);
      isUnknown ||= outcome === 'unknown';
      if (outcome === 'done' || !isUnknown) return this.#ended(outcome, answer === null ? [] : [answer]);
      if (key === null || attempt === MAX_REPETITIONS) return this.#ended('unknown', []);
      await wait(REPETITION_MS);
    }
  }

  /** The same signed request, which names no sidecar, at two of them if there are: at once, or one after the other. */
  async sendTwice(clientOf: ClientOf, path: string, payload: object, isAtOnce: boolean): Promise<Ended> {
    const [first, second] = [clientOf(0), clientOf(1)];
    const envelope = first.envelope(path, payload);
    const send = (client: SignedClient) => this.#timed(client.send(path, envelope));
    // Strange clocks and replays at one sidecar are refused, and lock their caller out.
    const isForBoth = first !== second && first.seconds() === second.seconds();
    const answers = isForBoth && isAtOnce ? await Promise.all([send(first), send(second)]) : [await send(first)];
    if (isForBoth && !isAtOnce) answers.push(await send(second));
    const outcomes = answers.map(outcomeOf);
    const outcome = (['done', 'unknown'] as const).find((each) => outcomes.includes(each)) ?? 'refused';
    return this.#ended(outcome, answers);
  }

  #ended(outcome: Outcome, answers: readonly (Answer | null)[]): Ended {
    this.counts[outcome] += 1;
    const answer = answers.find((each) => outcomeOf(each) === outcome);
    return { outcome, code: answer?.code, result: answer?.result };
  }

  async #timed(sent: Promise<Answer>): Promise<Answer | null> {
    const startedMs = performance.now();
    const answer = await sent.catch(() => null);
    this.longestMs = Math.max(this.longestMs, performance.now() - startedMs);
    return answer;
  }
}

/** 504 and a vanished sidecar leave it open. */
function outcomeOf(answer: Answer | null): Outcome {
  if (answer?.status === 200) return 'done';
  return answer === null || answer.status === 504 ? 'unknown' : 'refused';
}
