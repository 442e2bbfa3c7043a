import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findViolations, readSources, specifiersOf } from '#scripts/check/import-directions.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Each of these lines, planted in that file, must make the check fail. */
const PLANTED: readonly [string, string][] = [
  ['db_connector/protocol/envelope.ts', "import { log } from '#sidecar/log.ts';"],
  ['db_connector/protocol/envelope.ts', "import { readFileSync } from 'node:fs';"],
  ['db_connector/protocol/envelope.ts', "import fastify from 'fastify';"],
  ['db_connector/helper/database.ts', "import type { Connector } from '../calls/connector.ts';"],
  ['db_connector/client/api-client.ts', "export { Connector } from '../calls/connector.ts';"],
  ['db_connector/calls/connector.ts', "import { standaloneHost } from '../host/standalone/adapter.ts';"],
  ['db_connector/host/start-connector.ts', "import { standaloneHost } from './standalone/adapter.ts';"],
  ['db_connector/calls/connector.ts', "const engine = await import('#engine/engine.ts');"],
  ['sidecar/engine/engine.ts', "import type { CallContext } from '../data/call-context.ts';"],
  ['sidecar/engine/sqlite/read.ts', "import type { CallContext } from '#sidecar/data/call-context.ts';"],
  ['db_connector/protocol/envelope.ts', "import { log } from '#sidecar/log.ts';"],
  ['db_connector/protocol/envelope.ts', "import { x } from '#unknown/x.ts';"],
  ['sidecar/data/handlers.ts', "import { createApp } from '../api/app.ts';"],
  ['sidecar/data/handlers.ts', "import { Connection } from '../engine/sqlite/connection.ts';"],
  ['sidecar/data/handlers.ts', "import type { WriteBuffer } from '../write-behind/write-buffer.ts';"],
  ['sidecar/write-behind/journal/journal.ts', "import { writeOf } from '../../data/write-of.ts';"],
  ['sidecar/security/keyring.ts', "import type { Engine } from '../engine/engine.ts';"],
  ['sidecar/schema/plan.ts', "export * from '../data/handlers.ts';"],
  ['standalone/main.ts', "import { writeJson } from '../db_connector/protocol/json.ts';"],
  ['bundles/sample_roleplay/server.ts', "import { Filters } from '#connector/helper/filters.ts';"],
  ['sidecar/main.ts', "import { testFolder } from '../test/support/test-folder.ts';"],
];

describe('import directions', () => {
  it.each(PLANTED)('refuses in %s: %s', (path, text) => {
    expect(findViolations([{ path, text }])).toHaveLength(1);
  });

  it('refuses a file that no zone holds', () => {
    expect(findViolations([{ path: 'shared/thing.ts', text: '' }])).toHaveLength(1);
  });

  it('lets the right directions pass', () => {
    const text =
      "import { z } from 'zod';\nimport type { Json } from './json.ts';\nimport { createHmac } from 'node:crypto';";
    expect(findViolations([{ path: 'db_connector/protocol/envelope.ts', text }])).toEqual([]);
    const data =
      "import type { Engine } from '../engine/engine.ts';\nimport { ApiError } from '../../db_connector/protocol/errors.ts';";
    expect(findViolations([{ path: 'sidecar/data/handlers.ts', text: data }])).toEqual([]);
  });

  it('sees every way to name another file', () => {
    const text = [
      "import './side-effect.ts';",
      "import type { A } from './type.ts';",
      "export { B } from './re-export.ts';",
      "export * from './star.ts';",
      "await import('./dynamic.ts');",
    ].join('\n');
    expect(specifiersOf({ path: 'x.ts', text }).toSorted()).toEqual([
      './dynamic.ts',
      './re-export.ts',
      './side-effect.ts',
      './star.ts',
      './type.ts',
    ]);
  });

  it('holds in the whole source', () => {
    const files = readSources(ROOT);
    expect(files.length).toBeGreaterThan(100);
    expect(findViolations(files)).toEqual([]);
  });
});
