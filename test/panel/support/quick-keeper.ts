// A keeper with short waits: TEST_READY_MS until a new release must be ready, TEST_PROVEN_MS until it is committed,
// TEST_LET_GO_MS for the end of the release before it.
import { KEEPER_TIMES } from '#sidecar/keeper/keeper-times.ts';
import { runKeeper } from '#sidecar/keeper/run-keeper.ts';

const { TEST_READY_MS = KEEPER_TIMES.readyMs, TEST_PROVEN_MS = 1500 } = process.env;
const { TEST_LET_GO_MS = KEEPER_TIMES.letGoMs } = process.env;

await runKeeper(process.argv.slice(2), {
  ...KEEPER_TIMES,
  readyMs: Number(TEST_READY_MS),
  provenMs: Number(TEST_PROVEN_MS),
  letGoMs: Number(TEST_LET_GO_MS),
  askEveryMs: 200,
  answerMs: 30_000,
  pauseMs: { first: 100, longest: 1000, steady: 60_000 },
});
