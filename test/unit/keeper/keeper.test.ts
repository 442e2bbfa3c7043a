import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KEEPER_CHANNEL, type UpdateOrder } from '#sidecar/keeper/channel/messages.ts';
import { Keeper } from '#sidecar/keeper/keeper.ts';
import { KEEPER_TIMES } from '#sidecar/keeper/keeper-times.ts';
import { ReleaseChoice } from '#sidecar/keeper/release-choice.ts';
import { testFolder } from '#support/test-folder.ts';

const NEXT = '9.0.0';
const TIMES = {
  ...{ ...KEEPER_TIMES, provenMs: 20, askEveryMs: 5, answerMs: 30_000, letGoMs: 200 },
  pauseMs: { first: 1, longest: 5, steady: 60_000 },
};

let folder: string;
let keeper: Keeper;
let said: string[];
let ended: Promise<number>;

beforeEach(() => {
  folder = testFolder();
  said = [];
});
afterEach(async () => {
  keeper.stop();
  await ended;
});

/**
 * A sidecar of a few lines: it writes its starts into `starts.txt`, answers every question, and ends when it is told to.
 *
 * @param deed what else it does with each message `m`
 */
function putProgram(name: string, deed: string): string {
  const file = join(folder, name, 'main.js');
  mkdirSync(join(folder, name), { recursive: true });
  const text = `
    const { appendFileSync, readFileSync, existsSync } = require('node:fs');
    const link = new (require('node:net').Socket)({ fd: 3 });
    const send = (message) => link.write(JSON.stringify(message) + '\\n');
    let rest = '';
    link.on('data', (bytes) => {
      const lines = (rest + bytes).split('\\n');
      rest = lines.pop();
      for (const m of lines.map((line) => JSON.parse(line))) take(m);
    });
    function take(m) {
      if (m.type === 'hello') {
        const end = m.last === null ? 'new' : m.last.outcome;
        appendFileSync(${JSON.stringify(join(folder, 'starts.txt'))}, \`\${m.release} \${m.trial} \${end}\\n\`);
        send({ type: 'ready' });
      }
      ${deed}
      if (m.type === 'ask') send({ type: 'answer', id: m.id, isWell: true });
      if (m.type === 'stop' || m.type === 'go') process.exit(0);
    }`;
  writeFileSync(file, text);
  return file;
}

/** `RELEASE TRIAL END` of each start so far. */
const starts = () => {
  const file = join(folder, 'starts.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
};

function start(order: UpdateOrder, deed = ''): ReleaseChoice {
  const main = putProgram(
    'program',
    `${deed} if (m.type === 'hello' && m.last === null) send(${JSON.stringify({ type: 'apply', update: order })});`,
  );
  const choice = new ReleaseChoice(folder, { version: '1.0.0', main });
  const say = (_level: string, text: string) => void said.push(text);
  keeper = new Keeper({ choice, args: [], channel: KEEPER_CHANNEL, times: TIMES, say });
  ended = keeper.run();
  return choice;
}

/** Committed, it ends by itself. */
const ENDS = "if (m.type === 'committed' || (m.type === 'hello' && m.trial === null)) process.exit(7);";

it('a committed release that ends three times by itself goes back', async () => {
  putProgram(`data/releases/${NEXT}`, ENDS);
  const choice = start({ id: 'a', to: NEXT, raises: false });
  await expect.poll(() => starts().at(-1)).toBe('null null takenBack');
  const again = `${NEXT} null committed`;
  expect(starts()).toEqual(['null null new', `${NEXT} a new`, again, again, 'null null takenBack']);
  expect(choice.choice.last).toMatchObject({
    from: null,
    to: NEXT,
    reason: expect.stringMatching(/code 7, 3 times within 10 minutes/),
  });
});

it('but not if it has raised a format, which the release before it cannot read', async () => {
  putProgram(`data/releases/${NEXT}`, ENDS);
  const choice = start({ id: 'a', to: NEXT, raises: true });
  await expect.poll(() => starts().length).toBeGreaterThan(6);
  expect(new Set(starts().slice(2))).toEqual(new Set([`${NEXT} null committed`]));
  expect(choice.choice).toMatchObject({ chosen: NEXT, raises: true });
});

it('a release that does not let go is ended, and the next one starts', async () => {
  putProgram(`data/releases/${NEXT}`, '');
  const choice = start({ id: 'a', to: NEXT, raises: false }, "if (m.type === 'go') return;");
  await expect.poll(() => choice.choice.chosen).toBe(NEXT);
  expect(starts()).toEqual(['null null new', `${NEXT} a new`]);
});

it('a choice that cannot be written begins nothing', async () => {
  putProgram(`data/releases/${NEXT}`, '');
  const file = join(folder, 'told.txt');
  // A folder stands where the choice is written.
  mkdirSync(join(folder, 'data/updates/keeper.json.tmp'), { recursive: true });
  const deed = `if (m.type === 'notApplied') appendFileSync(${JSON.stringify(file)}, m.reason);`;
  const order = { type: 'apply', update: { id: 'a', to: NEXT, raises: false } };
  const main = putProgram('program', `${deed} if (m.type === 'hello') send(${JSON.stringify(order)});`);
  const choice = new ReleaseChoice(folder, { version: '1.0.0', main });
  keeper = new Keeper({ choice, args: [], channel: KEEPER_CHANNEL, times: TIMES, say: () => {} });
  ended = keeper.run();
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/EISDIR/);
  expect([choice.choice.trial, starts()]).toEqual([null, ['null null new']]);
});

it('a program folder that was replaced wins over an earlier choice, and a spoilt choice counts for nothing', async () => {
  const main = putProgram('program', '');
  putProgram(`data/releases/${NEXT}`, '');
  const file = join(folder, 'data/updates/keeper.json');
  mkdirSync(join(folder, 'data/updates'));
  const kept = { program: '1.0.0', chosen: NEXT, raises: false, trial: null, last: null };
  const chosenOf = (content: string, version = '1.0.0') => {
    writeFileSync(file, content);
    return new ReleaseChoice(folder, { version, main }).choice.chosen;
  };
  expect(chosenOf(JSON.stringify(kept))).toBe(NEXT);
  expect(chosenOf(JSON.stringify(kept), '1.1.0')).toBeNull();
  expect(chosenOf(JSON.stringify({ ...kept, chosen: '../../evil' }))).toBeNull();
  expect(chosenOf('{"program":')).toBeNull();
  keeper = new Keeper({
    choice: new ReleaseChoice(folder, { version: '1.0.0', main }),
    args: [],
    channel: KEEPER_CHANNEL,
    times: TIMES,
    say: () => {},
  });
  ended = keeper.run();
  await expect.poll(starts).toEqual(['null null new']);
});
