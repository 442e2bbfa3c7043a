import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DbResult } from '../db_connector/helper.js';
import type { Basics } from './basics.ts';
import { STATS_NAMESPACE, STATS_SCHEMA } from './schema.ts';

/**
 * Declares `stats`. True where its table was made just now: there is nothing in it that an older book could be about.
 *
 * Throws, with what the owner can do, where the namespace is not allowed, or is another bundle's.
 */
export async function declareStatistics({ db }: Pick<Basics, 'db'>, ask: Basics['ask'], vfs: string): Promise<boolean> {
  const described = await ask(() => db.async.Describe(STATS_NAMESPACE));
  if (described.State === 'ok') refuseStrangers(described);
  const synced = described.State === 'ok' ? await ask(() => db.async.Sync(STATS_NAMESPACE, STATS_SCHEMA)) : described;
  if (synced.State === 'ok') return hasNewTable(synced);
  switch (synced.Code) {
    case 'namespace_not_allowed':
      throw new Error(
        `vfs/database.json does not allow the namespace ${STATS_NAMESPACE}. Write this line there, ` +
          `then type db-reload and restart sample_roleplay:\n${namespacesLine(vfs)}`,
      );
    case 'forbidden':
      throw new Error(
        `the sidecar does not allow it (${db.ErrorMessage(synced)}). Add "${STATS_NAMESPACE}" to "namespaces" of ` +
          "this server's key in sidecar.json, start the sidecar again, and restart sample_roleplay",
      );
    default:
      throw new Error(`declaring the schema: ${db.ErrorMessage(synced)}`);
  }
}

/** Older versions of the guide had readers keep tables of their own in this namespace. Declaring ours would remove them. */
function refuseStrangers({ Json }: DbResult): void {
  const { schema } = JSON.parse(Json) as { schema: { tables: { name: string }[] } | null };
  const names = schema?.tables.map(({ name }) => name) ?? [];
  if (names.length > 0 && !names.includes('players')) {
    throw new Error(
      `the namespace ${STATS_NAMESPACE} belongs to another bundle (its tables: ${names.join(', ')}). Give that one a ` +
        'namespace of its own, or take sample_roleplay out of the bundles folder',
    );
  }
}

function hasNewTable({ Json }: DbResult): boolean {
  const { plan } = JSON.parse(Json) as { plan: { kind: string; table: string }[] };
  return plan.some(({ kind, table }) => kind === 'createTable' && table === 'players');
}

/** The line as it has to be, made of the one that is there, with its indentation and comma. */
function namespacesLine(vfs: string): string {
  const wanted = (names: readonly string[]) => `"namespaces": ${JSON.stringify(names).replaceAll(',', ', ')}`;
  try {
    const text = readFileSync(join(vfs, 'database.json'), 'utf8');
    const { namespaces } = JSON.parse(text) as { namespaces: string[] };
    const comma = /"namespaces"\s*:\s*\[[^\]]*\]\s*,/.test(text) ? ',' : '';
    return `  ${wanted([...namespaces, STATS_NAMESPACE])}${comma}`;
  } catch {
    // The connector knows where its configuration is; a line to go by is better than none.
    return `  ${wanted(['game', STATS_NAMESPACE])},`;
  }
}
