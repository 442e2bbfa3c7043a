import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '#scripts/servers/free-port.ts';
import { endedWithUs } from '#scripts/servers/private-command.ts';
import { provideSeaweed } from '#scripts/servers/python-program.ts';

export const S3_KEYS = { accessKeyId: 'access', secretAccessKey: 'secret' } as const;
export const S3_REGION = 'us-east-1';

const START_MS = 60_000;
const POLL_MS = 100;
const PORTS = ['master.port', 'master.port.grpc', 'volume.port', 'volume.port.grpc', 'filer.port', 'filer.port.grpc'];

export interface S3Program {
  readonly port: number;
  /** Makes a bucket that is not there yet; the server may be too young for one at first. */
  makeBucket(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** A real server of S3 on the loopback, which keeps everything in `folder`. */
export async function startS3Program(folder: string): Promise<S3Program> {
  const weed = await provideSeaweed(() => undefined);
  const port = await freePort();
  const ports = await Promise.all([...PORTS, 's3.port.grpc'].map(async (name) => `-${name}=${await freePort()}`));
  const identity = {
    name: 'test',
    credentials: [{ accessKey: S3_KEYS.accessKeyId, secretKey: S3_KEYS.secretAccessKey }],
    actions: ['Admin', 'Read', 'Write', 'List'],
  };
  writeFileSync(join(folder, 's3.json'), JSON.stringify({ identities: [identity] }));
  const argv = endedWithUs('SIGKILL', [
    ...[weed, 'server', `-dir=${folder}`, '-ip=127.0.0.1', '-ip.bind=127.0.0.1', ...ports, '-s3', `-s3.port=${port}`],
    ...['-s3.port.iceberg=0', '-s3.port.lance=0', '-s3.iam=false', `-s3.config=${join(folder, 's3.json')}`],
    ...['-volume.max=20', '-master.volumeSizeLimitMB=512'],
  ]);
  const child = spawn(`${argv[0]}`, argv.slice(1), { stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  await untilDone(() => fetch(endpoint));
  return {
    port,
    makeBucket: (name) => makeBucket(endpoint, name),
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

async function makeBucket(endpoint: string, name: string): Promise<void> {
  const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ endpoint, region: S3_REGION, credentials: S3_KEYS, forcePathStyle: true });
  await untilDone(() => client.send(new CreateBucketCommand({ Bucket: name })));
  client.destroy();
}

async function untilDone(attempt: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await wait(POLL_MS);
    }
  }
}
