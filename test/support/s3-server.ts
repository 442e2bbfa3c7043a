import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';
import type { S3Remote } from '#sidecar/config/backup-remote.ts';
import { S3_REGION, startS3Program } from './s3-program.ts';
import { testFolder } from './test-folder.ts';

export { S3_KEYS } from './s3-program.ts';

/** Judges a request before the server sees it; what it answers itself, the server never sees. False lets it pass. */
export type S3Fault = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/** A real server of S3 with one bucket, behind a proxy that can be told to fail. */
export interface S3Server {
  readonly remote: S3Remote;
  /** Requests so far, as `METHOD PATH`. */
  readonly requests: string[];
  fault: S3Fault;
  /** Milliseconds before each chunk of a request is passed on: 0 for none. */
  pauseMs: number;
  /** Number of uploads that the server completes, and whose answer is lost. */
  lostEnds: number;
  /** Number of long answers that break off in their middle. */
  breaks: number;
  stop(): Promise<void>;
}

/** Bytes after which an answer breaks off. */
const LONG_ANSWER = 1_000_000;

export async function startS3(): Promise<S3Server> {
  const program = await startS3Program(testFolder());
  const server = await startProxy(program.port, () => program.stop());
  await program.makeBucket(server.remote.bucket);
  return server;
}

async function startProxy(port: number, stopServer: () => Promise<void>): Promise<S3Server> {
  const requests: string[] = [];
  const proxy = createServer((asked, answer) => {
    requests.push(`${asked.method} ${asked.url}`);
    void Promise.resolve(server.fault(asked, answer)).then((isDone) => isDone || pass(port, asked, answer, server));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const secret = { variable: 'UNUSED' };
  const keep = { daily: 14, weekly: 8, monthly: 12 };
  const server: S3Server = {
    remote: {
      ...{ type: 's3', endpoint, region: S3_REGION, bucket: 'backups', prefix: 'town/', pathStyle: true, keep },
      ...{ accessKey: secret, secretKey: secret },
    },
    requests,
    fault: () => false,
    pauseMs: 0,
    lostEnds: 0,
    breaks: 0,
    async stop() {
      proxy.close();
      proxy.closeAllConnections();
      await stopServer();
    },
  };
  return server;
}

/** The Host header stays, as it is signed. */
function pass(port: number, asked: IncomingMessage, answer: ServerResponse, server: S3Server): void {
  const { method, url, headers } = asked;
  const forward = request({ host: '127.0.0.1', port, method, path: url, headers }, (response) => {
    if (method === 'POST' && url?.includes('uploadId=') === true && server.lostEnds > 0) {
      server.lostEnds -= 1;
      response.resume().on('end', () => asked.socket.destroy());
      return;
    }
    answer.writeHead(response.statusCode ?? 500, response.headers);
    response.pipe(answer).on('error', () => response.destroy());
    let left = LONG_ANSWER;
    response.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0 || left + chunk.length <= 0 || server.breaks === 0) return;
      server.breaks -= 1;
      asked.socket.destroy();
    });
  });
  forward.on('error', () => answer.destroy());
  asked.on('error', () => forward.destroy());
  if (server.pauseMs === 0) asked.pipe(forward);
  else asked.pipe(slowed(server.pauseMs)).pipe(forward);
}

/** A line on which bytes move, slowly. */
function slowed(pauseMs: number): Transform {
  return new Transform({
    highWaterMark: 1,
    transform: (chunk: Buffer, _encoding, done) => void setTimeout(() => done(null, chunk), pauseMs),
  });
}
