// `npm run bench`: all parts in one run on one machine, one after another; writes docs/performance.md and its picture, and ends with
// a table of the targets. BENCH_SECONDS (default 4) is the time of a load, BENCH_ENGINE_SECONDS (default 2) that of the many loads on
// engines, BENCH_LEDGER_ROWS and BENCH_COLD_GB make data smaller. BENCH_BEFORE=FOLDER adds the POST of an earlier build.
// BENCH_PARTS=pocketbase,transfers makes some parts alone, and writes nothing. Takes no arguments.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setup as buildSidecar } from '#support/built-sidecar.ts';
import { buildIfStale } from '../build.ts';
import { ENGINE_SECONDS, SECONDS, WARM_UP_SECONDS } from './durations.ts';
import { machineText, Quietness } from './machine.ts';
import type { Measured } from './measured.ts';
import { performancePage } from './page/performance-page.ts';
import type { Part } from './parts.ts';
import { notMeasured, targetTable } from './target.ts';

function refuse(reason: string): never {
  process.stderr.write(`bench: ${reason}\n`);
  process.exit(2);
}

const [argument] = process.argv.slice(2);
if (argument !== undefined) {
  refuse(`takes no arguments, got ${argument}; BENCH_PARTS=transfers,api npm run bench makes some parts alone`);
}

// Some parts use what tests use, which asks for the built sidecar as it is loaded.
await buildSidecar();
const { PARTS } = await import('./parts.ts');

const PAGE = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));
const wanted = process.env.BENCH_PARTS?.split(',');

function chosenParts(): readonly Part[] {
  const unknown = wanted?.find((name) => !PARTS.some((part) => part.name === name));
  if (unknown !== undefined) {
    refuse(`BENCH_PARTS: expected some of ${PARTS.map(({ name }) => name).join(', ')}, got ${unknown}`);
  }
  return PARTS.filter(({ name }) => wanted?.includes(name) ?? true);
}

/** A part that fails leaves the others theirs. */
async function measurePart({ title, measure }: Part, quietness: Quietness): Promise<Measured> {
  const isQuiet = await quietness.sample();
  console.log(`\n${title}${isQuiet ? '' : ' (the machine is busy: rates are not judged)'} …`);
  const startedAt = performance.now();
  try {
    const measured = await measure(isQuiet);
    console.log(`${measured.section}\n${title}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    return measured;
  } catch (error) {
    console.error(error);
    const { message } = error as Error;
    return { targets: [notMeasured(title, message)], section: `\n## Not measured: ${title}\n\n${message}\n` };
  }
}

function settingsText(quietness: Quietness): string {
  const { worstPercent } = quietness;
  const busy =
    worstPercent === null
      ? 'how busy it was besides is not known here, so rates are not judged'
      : `before the parts, others had up to ${worstPercent.toFixed(0)} % of the processors`;
  return `${machineText()}; ${SECONDS} s a load, ${ENGINE_SECONDS} s on engines, after ${WARM_UP_SECONDS} s of warming up; ${busy}`;
}

async function main(): Promise<void> {
  const parts = chosenParts();
  await buildIfStale(console.log);
  const [startedAt, quietness, measured] = [performance.now(), new Quietness(), new Map<Part, Measured>()];
  for (const part of parts) measured.set(part, await measurePart(part, quietness));
  const targets = [...measured.values()].flatMap((each) => each.targets);
  const settings = settingsText(quietness);
  if (wanted === undefined) {
    const before = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
    const page = performancePage({
      settings,
      isQuiet: quietness.isQuiet,
      measured: [...measured.values()],
      targets,
      before,
    });
    writeFileSync(PAGE, page.text);
    for (const { name, svg } of page.pictures) writeFileSync(join(PAGE, '../pictures', name), svg);
  }
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  console.log(`\n${settings}; ${minutes} minutes\n\n${targetTable(targets)}`);
  if (wanted === undefined) console.log('\nWritten to docs/performance.md.');
}

await main();
