import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { Log } from '#sidecar/log.ts';
import type { RunningSidecar } from '#sidecar/serve.ts';
import { withTerminal } from '#sidecar/with-terminal.ts';

it('lets no colour of a console line run on into what the terminal shows next', () => {
  const written: string[] = [];
  let tell: (lines: readonly { text: string }[]) => void = () => {};
  const console = {
    onLines: (listener: typeof tell) => {
      tell = listener;
    },
  };
  const running = { panel: { services: { server: {}, logs: { console } } } } as unknown as RunningSidecar;
  withTerminal(running, new PassThrough(), new Log({ write: (line) => void written.push(line) }, () => 0));
  tell([{ text: '\u001b[8mhidden' }, { text: 'plain' }]);
  const texts = written.map((line) => (JSON.parse(line) as { text: string }).text);
  expect(texts).toEqual(['\u001b[8mhidden\u001b[0m', 'plain']);
});
