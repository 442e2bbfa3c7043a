import { connect, type Socket } from 'node:net';

export interface RawConversation {
  readonly socket: Socket;
  /** Everything that came, once the other side closed the connection. */
  readonly closed: Promise<string>;
  /** Everything that came, once it holds `text`. */
  seen(text: string): Promise<string>;
}

/** Speaks bytes over TCP, for what no HTTP client would send. */
export function converse(address: string, bytes = ''): RawConversation {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  socket.write(bytes);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  const seen = (wanted: string) =>
    new Promise<string>((resolve) => {
      const look = () => text.includes(wanted) && resolve(text);
      look();
      socket.on('data', look);
    });
  return { socket, closed, seen };
}

/** Status and body of the first answer in `text`. */
export function readAnswer(text: string): { status: number; head: string; body: string } {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: rest.join('\r\n\r\n') };
}
