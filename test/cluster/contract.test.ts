import { afterAll, describe } from 'vitest';
import { spreadOver } from '#support/cluster/cluster-under-test.ts';
import { startGalera } from '#support/cluster/galera.ts';

/**
 * Suites of the contract once more, on three nodes of Galera with a sidecar each. Where a suite has one sidecar, each call goes
 * to a random one of the three; the sidecars or engines that a suite tells apart are at different nodes.
 */
const SUITES: Readonly<Record<string, () => Promise<unknown>>> = {
  concurrency: () => import('../contract/concurrency.test.ts'),
  'data-two-sidecars': () => import('../contract/data-two-sidecars.test.ts'),
  'cluster-schema': () => import('../contract/cluster-schema.test.ts'),
  'schema-sync': () => import('../contract/schema-sync.test.ts'),
  'schema-parts': () => import('../contract/schema-parts.test.ts'),
  'schema-parts-life': () => import('../contract/schema-parts-life.test.ts'),
  'schema-quarantine': () => import('../contract/schema-quarantine.test.ts'),
  'schema-property': () => import('../contract/schema-property.test.ts'),
  'schema-parts-property': () => import('../contract/schema-parts-property.test.ts'),
  'queue-calls': () => import('../contract/queue-calls.test.ts'),
  'queue-commands': () => import('../contract/queue-commands.test.ts'),
  'queue-model': () => import('../contract/queue-model.test.ts'),
  'write-behind-boxes': () => import('../contract/write-behind-boxes.test.ts'),
};

const cluster = await startGalera();
spreadOver(cluster);
afterAll(() => cluster.stop());

for (const [name, suite] of Object.entries(SUITES)) describe(name, async () => void (await suite()));
