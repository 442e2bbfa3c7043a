import type { Engine } from '../engine/engine.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { MoveRefused } from '../moving/report.ts';
import { readMoveMark } from '../schema/move-mark.ts';
import { readManifest } from './manifest.ts';
import { checkAgain } from './write-backup.ts';

/**
 * Whether a restore that was cut had opened its namespaces already, and nothing has changed since: it must not be done
 * again, and is no restore over rows of others.
 */
export async function isRestored(engine: Engine, backup: string, chosen: readonly string[]): Promise<boolean> {
  const { namespaces } = readManifest(backup);
  const wanted = namespaces.filter(({ name }) => chosen.length === 0 || chosen.includes(name));
  for (const { name } of wanted) {
    const mark = await patiently(() => readMoveMark(engine, name, Date.now(), statementBounds()));
    if (mark !== null) return false;
  }
  try {
    await checkAgain(engine, wanted);
    return true;
  } catch (error) {
    if (error instanceof MoveRefused) return false;
    throw error;
  }
}
