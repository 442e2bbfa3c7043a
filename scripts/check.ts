// `npm run check`: every check of `npm test` without the tests. `npm run lint`, `npm run types` run those of that name;
// `npm run format` formats.
import { addCounts, closingLine, isPassed } from './check/counts.ts';
import { format, runChecks } from './check/run-checks.ts';

async function main(name = ''): Promise<boolean> {
  if (name === 'format') return (await format()).code === 0;
  const total = addCounts(await Promise.all(runChecks(name)));
  console.log(closingLine(total));
  return isPassed(total);
}

process.exitCode = (await main(process.argv[2])) ? 0 : 1;
