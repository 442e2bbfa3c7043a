// `node scripts/bench/game-thread.ts [RUN…]`: the part of `npm run bench` about the game's thread alone, printed and not written
// anywhere; runs are named as in game-thread/runs.ts (`point` means all of them that begin so; `idle` is always measured).
// BENCH_ENGINE_SECONDS (default 15) is the time of each run, BENCH_ROUNDS (default 5) the number of rounds of finds by key and
// updates, BENCH_PROFILE=RUN leaves .cache/game-thread.cpuprofile of one after its warming up.
import { buildIfStale } from '../build.ts';
import { gameThreadSection } from './game-thread/game-thread-section.ts';
import { measureGameThread } from './game-thread/measure-game-thread.ts';

const wanted = process.argv.slice(2);
const isWanted = (name: string) =>
  wanted.length === 0 || name === 'idle' || wanted.some((beginning) => name.startsWith(beginning));
await buildIfStale(console.log);
console.log(gameThreadSection(await measureGameThread(Number(process.env.BENCH_ENGINE_SECONDS ?? '15'), isWanted)));
