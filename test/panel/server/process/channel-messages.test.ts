import { expect, it } from 'vitest';
import { ChannelMessages } from '#panel/server/process/channel-messages.ts';

it('reads a message a line, in whatever pieces it comes', () => {
  const seen: unknown[] = [];
  const messages = new ChannelMessages((message) => seen.push(message));
  for (const byte of Buffer.from('{"name":"café 🚗"}\n[1]\n')) messages.write(Buffer.of(byte));
  expect(messages.write(Buffer.from('{"id":1}\n{"id":2}\n{"id"'))).toBe(2);
  messages.write(Buffer.from(':3}\n'));
  expect(seen).toEqual([{ name: 'café 🚗' }, [1], { id: 1 }, { id: 2 }, { id: 3 }]);
});

it('drops a line that is too long or no JSON, and reads the next one', () => {
  const seen: unknown[] = [];
  const messages = new ChannelMessages((message) => seen.push(message));
  const piece = Buffer.alloc(65_536, 'x');
  messages.write(Buffer.from('"'));
  for (let sent = 0; sent < 17; sent += 1) messages.write(piece);
  messages.write(Buffer.from('"\nnot JSON\n\n"next"\n'));
  expect(seen).toEqual(['next']);
});
