import { patiently, statementBounds } from './patience.ts';
import type { CopyEngines } from './report.ts';

/** A key that no sidecar of the source accepts is refused by those of the target too. */
export async function copyRevoked({ from, to }: CopyEngines): Promise<void> {
  for (const key of await patiently(() => from.cluster.listRevoked(statementBounds()))) {
    await patiently(() => to.cluster.revokeKey(key, statementBounds()));
  }
}
