import { duplexPair } from 'node:stream';
import { expect, it } from 'vitest';
import { answerCredentials } from '#panel/sources/git/git-credentials.ts';

/** The answer to a question of git about this origin. */
async function answered(...question: readonly string[]): Promise<string> {
  const [ours, gits] = duplexPair();
  answerCredentials(new URL('https://forge.example:8443/town/shop'), { username: 'ada', token: 'secret' })(ours);
  gits.setEncoding('utf8').write(`${question.join('\n')}\n\n`);
  for await (const text of gits) return text as string;
  return '';
}

it('the token is told to the one origin that it is for', async () => {
  expect(await answered('protocol=https', 'host=forge.example:8443')).toBe('username=ada\npassword=secret\n\n');
});

it.each([
  ['another host', 'protocol=https', 'host=evil.example'],
  ['another port', 'protocol=https', 'host=forge.example'],
  ['plain http', 'protocol=http', 'host=forge.example:8443'],
  ['no host', 'protocol=https'],
])('and to no other: %s', async (_what, ...question) => {
  expect(await answered(...question)).toBe('\n');
});
