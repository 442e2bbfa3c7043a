import type { Say, Tone } from '../config/say.ts';

/** A label, a text, and what is to be thought of it. */
export type Fact = readonly [label: string, text: string, tone?: Tone];

/** One line a fact, the texts aligned. */
export function sayFacts(facts: readonly Fact[], say: Say): void {
  const width = Math.max(...facts.map(([label]) => label.length)) + 2;
  for (const [label, text, tone] of facts) {
    say(`${label.padEnd(width)}${text}`, tone);
  }
}
