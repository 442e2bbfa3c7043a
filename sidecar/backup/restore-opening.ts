import { createHash } from 'node:crypto';
import { isJsonObject, parseJson } from '#protocol/json.ts';
import type { Engine } from '../engine/engine.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { openTarget } from '../moving/target.ts';
import { readMoveMark } from '../schema/move-mark.ts';

/**
 * Opens the namespaces of a restore together. A mark in the database says that all of them are complete: a restore that
 * is cut between two of them goes on with the rest, and brings nothing over rows that players have written since.
 */
export class RestoreOpening {
  readonly #engine: Engine;
  readonly #targets: readonly string[];
  /** Checksum of the backup's manifest. */
  readonly #backup: string;
  readonly #name: string;

  constructor(engine: Engine, targets: readonly string[], manifest: object) {
    this.#engine = engine;
    this.#targets = targets;
    this.#backup = sha256(JSON.stringify(manifest));
    this.#name = `opening:${sha256(JSON.stringify(targets.toSorted())).slice(0, 16)}`;
  }

  /**
   * Whether an earlier restore of this backup was cut while it opened them. @param isSame it is the same restore for sure, so
   * that nothing is to be done again either if all of them were opened
   */
  async isBegun(isSame: boolean): Promise<boolean> {
    const text = await patiently(() => this.#engine.transfer.readMark(this.#name, statementBounds()));
    const mark = text === null ? null : parseJson(text);
    if (!isJsonObject(mark) || mark.backup !== this.#backup) return false;
    for (const target of this.#targets) if (await this.#isClosed(target)) return true;
    return isSame;
  }

  /** They are complete. */
  begin(): Promise<void> {
    return this.#write(JSON.stringify({ backup: this.#backup }));
  }

  async end(): Promise<void> {
    for (const target of this.#targets) if (await this.#isClosed(target)) await openTarget(this.#engine, target);
    await this.#write(null);
  }

  /** The rows are about to be replaced. */
  forget(): Promise<void> {
    return this.#write(null);
  }

  async #isClosed(target: string): Promise<boolean> {
    const mark = await patiently(() => readMoveMark(this.#engine, target, Date.now(), statementBounds()));
    return mark?.kind === 'arriving';
  }

  async #write(text: string | null): Promise<void> {
    await patiently(() => this.#engine.transfer.writeMark(this.#name, text, statementBounds()));
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
