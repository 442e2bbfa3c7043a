import { runKeeper } from './run-keeper.ts';

await runKeeper(process.argv.slice(2));
