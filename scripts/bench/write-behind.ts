// `node scripts/bench/write-behind.ts [ENGINE…]`: the write-behind part of `npm run bench` alone, printed and not written anywhere.
// BENCH_ENGINE_SECONDS (default 15) is the time of each load.
import { buildIfStale } from '../build.ts';
import { ENGINES } from './engines/measure-engines.ts';
import { measureQueue, queueSection } from './write-behind/measure-queue.ts';

const wanted = process.argv.slice(2);
await buildIfStale(console.log);
const engines = ENGINES.filter((engine) => wanted.length === 0 || wanted.includes(engine));
console.log(queueSection(await measureQueue(Number(process.env.BENCH_ENGINE_SECONDS ?? '15'), engines)));
