import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyConfig, type BusboyInstance } from '@fastify/busboy';
import { isFullDisk } from '#sidecar/full-disk.ts';
import { checkDiskSpace, namingFullDisk } from '../disk-space.ts';
import { PanelError } from '../panel-error.ts';
import { MAX_UPLOAD_BYTES } from '../shapes/uploads.ts';

/** Beside the file: boundary and head of its part. */
const MAX_FORM_BYTES = 16_384;
const MAX_HEADER_PAIRS = 20;
/** A slower sender would hold one of a few places for hours. */
const MIN_BYTES_PER_SECOND = 16 * 1024;
const GRACE_MS = 30_000;
const LOOK_MS = 5000;

export interface Received {
  /** As the sender named the file, without folders. */
  readonly name: string;
  readonly bytes: number;
}

/** Size of the body by its head: the most, if it has none. */
export function announcedBytes({ headers }: IncomingMessage): number {
  return Math.min(MAX_UPLOAD_BYTES, Number(headers['content-length'] ?? MAX_UPLOAD_BYTES));
}

/**
 * Writes the one part `file` of a multipart body to `target`, as it arrives. After the end, also that of a refused body, nothing
 * writes there any more.
 *
 * @throws PanelError `body.type`, `body.large`, `upload.form`, `disk.full`, `body.malformed` if the body ends too early or comes too
 * slowly
 */
export async function receiveUpload(request: IncomingMessage, target: string): Promise<Received> {
  const type = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(type)) throw new PanelError('body.type');
  if (Number(request.headers['content-length'] ?? 0) > MAX_UPLOAD_BYTES + MAX_FORM_BYTES)
    throw new PanelError('body.large');
  const parser = newParser({ ...request.headers, 'content-type': type });
  const [folder, needed] = [dirname(target), { bytes: announcedBytes(request) }];
  await checkDiskSpace(folder, needed);
  return await namingFullDisk(folder, needed, () => receivePart(request, parser, target));
}

async function receivePart(request: IncomingMessage, parser: BusboyInstance, target: string): Promise<Received> {
  const form = new UploadForm(parser, target);
  const pace = watchPace(request);
  try {
    await Promise.all([pipeline(request, parser, { end: true }), form.finished]);
  } catch (error) {
    throw await form.abandon(error);
  } finally {
    clearInterval(pace);
  }
  return form.received();
}

function newParser(headers: BusboyConfig['headers']): BusboyInstance {
  const limits = { fileSize: MAX_UPLOAD_BYTES, files: 1, fields: 0, parts: 1, headerPairs: MAX_HEADER_PAIRS };
  try {
    return new Busboy({ headers, limits });
  } catch {
    throw new PanelError('upload.form', { detail: 'expected a boundary' });
  }
}

/** The one part of the form; anything else ends the parser. */
class UploadForm {
  readonly #parser: BusboyInstance;
  readonly #finished = Promise.withResolvers<void>();
  readonly finished = this.#finished.promise;
  #fault: Error | null = null;
  #received: Received | null = null;
  #part: Readable | null = null;
  #writing: Promise<void> | null = null;

  constructor(parser: BusboyInstance, target: string) {
    this.#parser = parser;
    this.finished.catch(() => {});
    parser.on('file', (field, stream, name) => {
      if (field !== 'file' || this.#writing !== null) {
        stream.resume();
        this.#fail(new PanelError('upload.form', { detail: 'expected one part with the name file' }));
        return;
      }
      this.#part = stream.on('error', () => {});
      stream.once('limit', () => this.#fail(new PanelError('body.large')));
      const out = createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true });
      this.#writing = pipeline(stream, out).then(() => {
        this.#received = { name: String(name ?? '').slice(-200), bytes: out.bytesWritten };
      });
      this.#writing.catch((error) => this.#fail(error));
    });
    const tooMany = () => this.#fail(new PanelError('upload.form', { detail: 'expected one part, a file' }));
    parser.on('field', tooMany).on('partsLimit', tooMany).on('filesLimit', tooMany).on('fieldsLimit', tooMany);
    parser.once('finish', () => void this.#end());
    parser.once('error', (error: Error) => this.#fail(error));
  }

  /** Ends a body that failed. Resolves with the first fault when the file is closed: until then its folder cannot be removed. */
  async abandon(error: unknown): Promise<Error> {
    this.#fail(error);
    await this.#writing?.catch(() => {});
    return this.#fault ?? faultOf(error);
  }

  received(): Received {
    if (this.#received === null) throw new PanelError('upload.form', { detail: 'expected a part with the name file' });
    return this.#received;
  }

  async #end(): Promise<void> {
    await this.#writing?.catch(() => {});
    if (this.#fault !== null) this.#finished.reject(this.#fault);
    else this.#finished.resolve();
  }

  #fail(error: unknown): void {
    this.#fault ??= faultOf(error);
    this.#finished.reject(this.#fault);
    this.#parser.destroy(this.#fault);
    // The parser leaves its part open, and the file of it too.
    this.#part?.destroy(this.#fault);
  }
}

/** Ends a body that comes too slowly. */
export function watchPace(request: IncomingMessage): NodeJS.Timeout {
  const startedAt = performance.now();
  // A pipeline that fails takes the socket from its request (Node.js).
  const { socket } = request;
  const before = socket.bytesRead;
  return setInterval(() => {
    const ms = performance.now() - startedAt;
    const bytes = socket.bytesRead - before;
    if (ms > GRACE_MS && bytes < (ms / 1000) * MIN_BYTES_PER_SECOND) request.destroy(new Error('too slow'));
  }, LOOK_MS).unref();
}

function faultOf(error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof PanelError || isFullDisk(error)) return error as Error;
  const isCutOff = code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
  return new PanelError('body.malformed', {
    detail: isCutOff ? 'the body ended too early' : String(message).slice(0, 200),
  });
}
