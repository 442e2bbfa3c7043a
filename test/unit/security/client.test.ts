import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ClientReader } from '#sidecar/security/client.ts';

function request(remoteAddress: string | undefined, headers: Record<string, string> = {}): IncomingMessage {
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

describe('who a client is', () => {
  it('nobody, where a TCP connection was reset before its address was asked for', () => {
    const gone = request(undefined, { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https' });
    expect(new ClientReader([], false).read(gone)).toBeNull();
    expect(new ClientReader(['127.0.0.1'], false).read(gone)).toBeNull();
  });

  it('of this box, on the Unix socket, which knows no addresses', () => {
    const client = new ClientReader([], true).read(request(undefined));
    expect(client).toEqual({ address: 'socket', isLoopback: true, isSecure: false });
  });

  it('the rightmost entry that is no trusted proxy, however it is written', () => {
    const reader = new ClientReader(['10.0.0.0/8', '127.0.0.1'], false);
    const address = (peer: string, forwarded: string) =>
      reader.read(request(peer, { 'x-forwarded-for': forwarded }))?.address ?? null;
    expect(address('::ffff:10.0.0.1', '127.0.0.1, ::ffff:1.2.3.4, 10.0.0.2')).toBe('1.2.3.4');
    expect(address('10.0.0.1', 'evil, 1.2.3.4')).toBe('1.2.3.4');
    expect(address('10.0.0.1', '1.2.3.4, evil')).toBeNull();
    expect(address('10.0.0.1', '1.2.3.4,')).toBeNull();
    expect(address('10.0.0.1', '1.2.3.4:8080')).toBeNull();
    expect(address('8.8.8.8', '127.0.0.1')).toBe('8.8.8.8');
  });
});
