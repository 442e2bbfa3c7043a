import fc from 'fast-check';
import { expect, it } from 'vitest';
import { GrowingBody } from '#connector/client/growing-body.ts';

it('holds exactly the bytes that came, whatever was announced', () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 50 });
  fc.assert(
    fc.property(chunks, fc.nat(3000), (arrived, announced) => {
      const body = new GrowingBody();
      body.expect(announced);
      for (const chunk of arrived) body.add(Buffer.from(chunk));
      expect(body.bytes.equals(Buffer.concat(arrived))).toBe(true);
    }),
  );
});

it('takes a single chunk without a copy', () => {
  const chunk = Buffer.from('whole');
  const body = new GrowingBody();
  body.add(chunk);
  expect(body.bytes).toBe(chunk);
});

it('takes at most twice the memory of its bytes, in chunks of one byte', () => {
  const body = new GrowingBody();
  const byte = Buffer.alloc(1);
  for (let sent = 0; sent < 1_000_000; sent += 1) body.add(byte);
  expect(body.bytes).toHaveLength(1_000_000);
  expect(body.bytes.buffer.byteLength).toBeLessThanOrEqual(2_000_000 + 2);
});
