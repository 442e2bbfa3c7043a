import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { S3Remote } from '../../config/backup-remote.ts';
import type { RemoteObject, RemoteStore } from './remote-store.ts';
import { isWorthRetrying, s3FailureOf } from './s3-failure.ts';
import { unlessIdle } from './unless-idle.ts';

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const CONNECT_MS = 10_000;
/** A server that sends and takes nothing for this long is asked again. */
const PATIENCE_MS = 60_000;
const ATTEMPTS = 5;
const BACK_OFF_MS = 500;
const PART_BYTES = 8 * 2 ** 20;
/** S3 takes 10,000 of them. */
const MOST_PARTS = 9000;
/** Parts on their way at once: they are the memory that an upload takes. */
const QUEUE = 2;

/** A bucket of any server that speaks S3. */
export class S3Store implements RemoteStore {
  readonly place: string;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #client: S3Client;
  readonly #patienceMs: number;

  constructor({ endpoint, region, bucket, prefix, pathStyle }: S3Remote, keys: S3Keys, patienceMs = PATIENCE_MS) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#patienceMs = patienceMs;
    this.place = `the bucket ${bucket} at ${endpoint ?? `AWS in ${region}`}`;
    this.#client = new S3Client({
      ...{ region, forcePathStyle: pathStyle, credentials: keys, maxAttempts: ATTEMPTS },
      ...(endpoint === null ? {} : { endpoint }),
      // No limit for a whole request: a part may take minutes on a slow line.
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: patienceMs },
      // Each body is signed with its SHA-256; further checksums are unknown to many servers.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  async list(signal: AbortSignal): Promise<RemoteObject[]> {
    return (await this.#listTop(signal)).objects;
  }

  async listFolders(signal: AbortSignal): Promise<string[]> {
    return (await this.#listTop(signal)).folders;
  }

  async #listTop(signal: AbortSignal): Promise<{ objects: RemoteObject[]; folders: string[] }> {
    const [objects, folders]: [RemoteObject[], string[]] = [[], []];
    const place = { Bucket: this.#bucket, Prefix: this.#prefix, Delimiter: '/' };
    const nameOf = (key = ''): string => key.slice(this.#prefix.length);
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({ ...place, ContinuationToken: token });
      const page = await this.#asking((options) => this.#client.send(command, options), signal);
      objects.push(...(page.Contents ?? []).map(({ Key, Size = 0 }) => ({ name: nameOf(Key), bytes: Size })));
      folders.push(...(page.CommonPrefixes ?? []).map(({ Prefix }) => nameOf(Prefix).replace(/\/$/, '')));
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
    // Some servers list the prefix itself.
    return { objects: objects.filter(({ name }) => name !== ''), folders };
  }

  async put(name: string, content: AsyncIterable<Uint8Array>, bytes: number, signal: AbortSignal): Promise<void> {
    const Body = Readable.from(content, { objectMode: false, highWaterMark: 2 ** 18 });
    const place = { Bucket: this.#bucket, Key: `${this.#prefix}${name}` };
    const upload = new Upload({
      ...{ client: this.#client, params: { ...place, Body }, queueSize: QUEUE },
      partSize: Math.max(PART_BYTES, Math.ceil(bytes / MOST_PARTS)),
      // Its own end of a failed upload would hide the failure behind one of its own.
      leavePartsOnError: true,
    });
    const abort = (): void => void upload.abort();
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      await upload.done();
    } catch (error) {
      // Completed by a request whose answer was lost, or ended by another process: the caller looks for the object.
      if (!signal.aborted && (error as Error).name === 'NoSuchUpload') return;
      if (!signal.aborted) await this.#endFailed(place, upload.uploadId);
      throw this.#failureOf(error, signal);
    } finally {
      signal.removeEventListener('abort', abort);
      Body.destroy();
    }
  }

  /** Never rejects: the next backup ends an upload that stays behind. */
  async #endFailed(place: { readonly Bucket: string; readonly Key: string }, UploadId?: string): Promise<void> {
    if (UploadId === undefined) return;
    const command = new AbortMultipartUploadCommand({ ...place, UploadId });
    const abortSignal = AbortSignal.timeout(this.#patienceMs);
    await this.#client.send(command, { abortSignal }).catch(() => undefined);
  }

  /** Goes on where a connection has broken, as long as the object is the same. */
  async *get(name: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const place = { Bucket: this.#bucket, Key: `${this.#prefix}${name}` };
    let [offset, total, attempt] = [0, Number.POSITIVE_INFINITY, 1];
    let etag: string | undefined;
    while (offset < total) {
      try {
        const rest = offset === 0 ? {} : { Range: `bytes=${offset}-`, IfMatch: etag };
        const answer = await this.#client.send(new GetObjectCommand({ ...place, ...rest }), { abortSignal: signal });
        if (offset === 0) [total, etag] = [answer.ContentLength ?? 0, answer.ETag];
        else if (answer.ContentRange?.startsWith(`bytes ${offset}-`) !== true) throw new Error('it sends no parts');
        for await (const chunk of unlessIdle(answer.Body as Readable, this.#patienceMs, signal)) {
          offset += chunk.length;
          attempt = 1;
          yield chunk;
        }
        if (offset < total) throw new Error('the connection was closed');
      } catch (error) {
        if (signal.aborted || attempt === ATTEMPTS || !isWorthRetrying(error)) throw this.#failureOf(error, signal);
        await wait(BACK_OFF_MS * 2 ** attempt, undefined, { signal });
        attempt += 1;
      }
    }
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    const command = new DeleteObjectCommand({ Bucket: this.#bucket, Key: `${this.#prefix}${name}` });
    await this.#asking((options) => this.#client.send(command, options), signal);
  }

  async abortUnfinished(isOwn: (name: string) => boolean, signal: AbortSignal): Promise<number> {
    let aborted = 0;
    let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
    for (;;) {
      const page = new ListMultipartUploadsCommand({ Bucket: this.#bucket, Prefix: this.#prefix, ...from });
      const found = await this.#asking((options) => this.#client.send(page, options), signal);
      for (const { Key = '', UploadId } of found.Uploads ?? []) {
        if (!isOwn(Key.slice(this.#prefix.length))) continue;
        const command = new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId });
        await this.#asking((options) => this.#client.send(command, options).catch(unlessGone), signal);
        aborted += 1;
      }
      if (found.IsTruncated !== true) return aborted;
      from = { KeyMarker: found.NextKeyMarker, UploadIdMarker: found.NextUploadIdMarker };
    }
  }

  close(): void {
    this.#client.destroy();
  }

  async #asking<T>(ask: (options: { abortSignal: AbortSignal }) => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await ask({ abortSignal: signal });
    } catch (error) {
      throw this.#failureOf(error, signal);
    }
  }

  #failureOf(error: unknown, signal: AbortSignal): unknown {
    return signal.aborted ? signal.reason : s3FailureOf(error, this.place);
  }
}

/** Ended already: by a request whose answer was lost, or by another process. */
function unlessGone(error: unknown): void {
  if ((error as Error).name !== 'NoSuchUpload') throw error;
}
