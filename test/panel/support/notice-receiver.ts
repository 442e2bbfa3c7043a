import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Certificate, makeCertificate } from '#support/certificate.ts';
import { testFolder } from '#support/test-folder.ts';

export interface ReceivedNotice {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  /** The answer never comes, or never ends. */
  readonly isSilent?: boolean;
}

/** A real server of webhooks on 127.0.0.1, with a certificate of its own; it answers as it is told, else 204. */
export class NoticeReceiver {
  readonly received: ReceivedNotice[] = [];
  /** Answers of the next requests. */
  readonly answers: ReceiverAnswer[] = [];
  readonly ca: string;
  readonly #server;

  private constructor({ certFile, keyFile, ca }: Certificate) {
    this.ca = ca;
    this.#server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const { url: path = '', headers } = request;
        this.received.push({ path, headers, text, body: JSON.parse(text) as Record<string, unknown> });
        const { status, headers: given, text: answer = '', isSilent } = this.answers.shift() ?? { status: 204 };
        if (isSilent === true && answer === '') return;
        response.writeHead(status, given);
        if (isSilent === true) response.write(answer);
        else response.end(answer);
      });
    });
  }

  static async start(certificate = makeCertificate(testFolder())): Promise<NoticeReceiver> {
    const receiver = new NoticeReceiver(certificate);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** @param host a name that leads to 127.0.0.1 */
  url(path = '/hook/of-a-secret-token', host = '127.0.0.1'): string {
    return `https://${host}:${this.port}${path}`;
  }

  of(event: string): ReceivedNotice[] {
    return this.received.filter(({ body }) => body.event === event);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The signature as its documentation says it is made. */
export function signatureOf(text: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(text, 'utf8').digest('hex')}`;
}
