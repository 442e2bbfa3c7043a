// `node scripts/bench/aggregate.ts`: the part of `npm run bench` about aggregates alone, printed and not written anywhere.
// BENCH_ENGINE_SECONDS (default 15) is the time of each engine, BENCH_LEDGER_ROWS (default 1,000,000) how many rows there are.
import { buildIfStale } from '../build.ts';
import { aggregateSection, measureAggregates } from './aggregate/measure-aggregates.ts';

await buildIfStale(console.log);
console.log(aggregateSection(await measureAggregates(Number(process.env.BENCH_ENGINE_SECONDS ?? '15'))));
