import type { Socket } from 'node:net';

/**
 * Answers malformed HTTP with 400 and `body`, a JSON text. A request that is too slow and a connection that is gone get no
 * answer.
 */
export function answerBrokenRequest(body: string): (error: NodeJS.ErrnoException, socket: Socket) => void {
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  const answer = `${head.join('\r\n')}\r\n\r\n${body}`;
  return (error, socket) => {
    const isSilent = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code === 'ECONNRESET' || !socket.writable;
    if (isSilent || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    socket.write(answer);
    socket.destroySoon();
  };
}

/** An answer is under way on this connection; Node.js keeps it there and asks the same in its own handler. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: message } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null };
  return message?.headersSent === true;
}
