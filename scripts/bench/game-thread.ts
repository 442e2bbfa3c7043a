// `node scripts/bench/game-thread.ts [LOAD…]`: the part of `npm run bench` about the game's thread alone, printed and not written
// anywhere; loads are saves, rows, text, mixed, mysql2 and mysql2AndCodec.
// BENCH_ENGINE_SECONDS (default 15) is the time of each load, BENCH_PROFILE=LOAD leaves a processor profile of one in .cache/.
import { buildIfStale } from '../build.ts';
import { gameThreadSection } from './game-thread/game-thread-section.ts';
import { LOADS, measureGameThread } from './game-thread/measure-game-thread.ts';

const wanted = process.argv.slice(2);
await buildIfStale(console.log);
const loads = LOADS.filter((load) => wanted.length === 0 || wanted.includes(load));
console.log(gameThreadSection(await measureGameThread(Number(process.env.BENCH_ENGINE_SECONDS ?? '15'), loads)));
