// The part of `npm run bench` about updates of the panel alone, printed and not written anywhere: `node scripts/bench/panel-update.ts`.
import { buildIfStale } from '../build.ts';
import { measureUpdate } from './panel/measure-update.ts';

await buildIfStale(console.log);
console.log(JSON.stringify(await measureUpdate()));
