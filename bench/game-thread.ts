// `node bench/game-thread.ts`: the part of `npm run bench` about the game's thread alone, printed and not written anywhere.
// BENCH_ENGINE_SECONDS (default 15) is the time of each load, BENCH_PROFILE=LOAD leaves a processor profile of one in .cache/.
import { buildIfStale } from '../scripts/build.ts';
import { gameThreadSection } from './game-thread/game-thread-section.ts';
import { measureGameThread } from './game-thread/measure-game-thread.ts';

await buildIfStale(console.log);
console.log(gameThreadSection(await measureGameThread(Number(process.env.BENCH_ENGINE_SECONDS ?? '15'))));
