import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePort } from '#scripts/servers/free-port.ts';
import { endedWithUs } from '#scripts/servers/private-command.ts';
import { provideSeaweed } from '#scripts/servers/python-program.ts';
import type { S3Remote } from '#sidecar/config/backup-remote.ts';
import { testFolder } from './test-folder.ts';

export const S3_KEYS = { accessKeyId: 'access', secretAccessKey: 'secret' } as const;

/** Judges a request before the server sees it; what it answers itself, the server never sees. False lets it pass. */
export type S3Fault = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/** A real server of S3 with one bucket, behind a proxy that can be told to fail. */
export interface S3Server {
  readonly remote: S3Remote;
  /** Requests so far, as `METHOD PATH`. */
  readonly requests: string[];
  fault: S3Fault;
  /** Number of long answers that break off in their middle. */
  breaks: number;
  stop(): Promise<void>;
}

/** Bytes after which an answer breaks off. */
const LONG_ANSWER = 1_000_000;

const NAMES = ['master.port', 'master.port.grpc', 'volume.port', 'volume.port.grpc', 'filer.port', 'filer.port.grpc'];

export async function startS3(): Promise<S3Server> {
  const weed = await provideSeaweed(() => undefined);
  const folder = testFolder();
  const port = await freePort();
  const ports = await Promise.all([...NAMES, 's3.port.grpc'].map(async (name) => `-${name}=${await freePort()}`));
  const identity = {
    name: 'test',
    credentials: [{ accessKey: S3_KEYS.accessKeyId, secretKey: S3_KEYS.secretAccessKey }],
    actions: ['Admin', 'Read', 'Write', 'List'],
  };
  writeFileSync(join(folder, 's3.json'), JSON.stringify({ identities: [identity] }));
  const argv = endedWithUs('SIGKILL', [
    ...[weed, 'server', `-dir=${folder}`, '-ip=127.0.0.1', '-ip.bind=127.0.0.1', ...ports, '-s3', `-s3.port=${port}`],
    ...['-s3.port.iceberg=0', '-s3.port.lance=0', '-s3.iam=false', `-s3.config=${join(folder, 's3.json')}`],
    ...['-volume.max=20', '-master.volumeSizeLimitMB=64'],
  ]);
  const child = spawn(`${argv[0]}`, argv.slice(1), { stdio: 'ignore' });
  await vi.waitFor(async () => void (await fetch(`http://127.0.0.1:${port}/`)), { timeout: 60_000, interval: 100 });
  const server = await startProxy(port, async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  await makeBucket(server.remote);
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
      ...{ type: 's3', endpoint, region: 'us-east-1', bucket: 'backups', prefix: 'town/', pathStyle: true, keep },
      ...{ accessKey: secret, secretKey: secret },
    },
    requests,
    fault: () => false,
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
  asked.on('error', () => forward.destroy()).pipe(forward);
}

async function makeBucket({ endpoint, region, bucket }: S3Remote): Promise<void> {
  const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ endpoint: `${endpoint}`, region, credentials: S3_KEYS, forcePathStyle: true });
  await vi.waitFor(() => client.send(new CreateBucketCommand({ Bucket: bucket })), { timeout: 30_000, interval: 200 });
  client.destroy();
}
