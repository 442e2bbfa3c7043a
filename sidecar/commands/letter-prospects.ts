import { settleJournals } from '../backup/other-journals.ts';
import type { JournalNote } from '../cluster/journal-notes.ts';
import type { Engine } from '../engine/engine.ts';
import { patiently, statementBounds } from '../moving/patience.ts';
import { letterProspect } from '../write-behind/letter-prospect.ts';

interface ProspectWork {
  readonly engine: Engine;
  /** Listed under `writeBehind.namespaces`. */
  readonly isBuffered: (namespace: string) => boolean;
}

type Notes = ReadonlyMap<string, JournalNote | null>;

/**
 * For each namespace a line: which sidecar will try its letters again, and when; or why none will. Asks the sidecars, since a
 * row of a box that died today looks like that of a box that runs; waits for the first answer a namespace, 15 s at most.
 */
export async function letterProspects(namespaces: Iterable<string>, work: ProspectWork): Promise<string[]> {
  const { engine, isBuffered } = work;
  const source = { queues: engine.queues, isBuffered };
  const prospects: [string, Awaited<ReturnType<typeof letterProspect>>][] = [];
  for (const namespace of namespaces) {
    prospects.push([namespace, await patiently(() => letterProspect(namespace, source, statementBounds()))]);
  }
  const served = prospects.flatMap(([, prospect]) => (prospect.kind === 'served' ? [prospect.journals] : []));
  const isEnough = (answered: Notes): boolean =>
    served.every((journals) => journals.some((journal) => answered.has(journal)));
  const journals = [...new Set(served.flat())];
  const { known, answered } = await settleJournals(engine, journals, new AbortController().signal, isEnough);
  return prospects.map(([namespace, prospect]) => {
    switch (prospect.kind) {
      case 'notListed':
        return `warning: ${namespace} is not listed under writeBehind.namespaces of this configuration; the letters wait until a sidecar runs that lists it`;
      case 'nobody':
        return `warning: no sidecar has buffered ${namespace} in this database; the letters wait until a sidecar runs that lists it`;
      case 'served':
        return servedLine(namespace, prospect.journals, known, answered);
      default:
        return prospect satisfies never;
    }
  });
}

function servedLine(namespace: string, journals: readonly string[], known: Notes, answered: Notes): string {
  const living = journals.filter((journal) => answered.has(journal));
  if (living.length > 0) {
    const sidecars = living.map((journal) => nameOf(journal, answered)).join(' or ');
    return `${namespace}: the sidecar with the ${sidecars} puts them at the end of its queue within about ten seconds; a letter that is still listed then has failed again`;
  }
  const silent = journals.filter((journal) => known.get(journal)?.isForgotten !== true);
  const names = silent.map((journal) => nameOf(journal, known)).join(', ');
  const reason = silent.length === 0 ? 'its journals were forgotten' : `none answers for the ${names}`;
  return `warning: no sidecar runs that buffers ${namespace}: ${reason}. The letters wait: start a sidecar that lists ${namespace} under writeBehind.namespaces, on any box; it tries them again by itself`;
}

function nameOf(journal: string, notes: Notes): string {
  const box = notes.get(journal)?.box;
  return box ? `journal ${journal} of ${box}` : `journal ${journal}`;
}
