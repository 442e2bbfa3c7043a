import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { Encrypter } from 'age-encryption';
import { ConfigError } from '../../config/config-error.ts';
import { MoveRefused } from '../../moving/report.ts';

type Bytes = AsyncIterable<Uint8Array>;

const LEVEL = 3;
const CHUNK_BYTES = 2 ** 17;

/** Compressed with zstd and, if there are recipients, encrypted with age. @throws ConfigError for a recipient that is none */
export async function sealed(content: Bytes, recipients: readonly string[]): Promise<Bytes> {
  const small = through(
    content,
    createZstdCompress({
      chunkSize: CHUNK_BYTES,
      params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
    }),
  );
  const encrypter = await encrypterTo(recipients);
  return encrypter === null ? small : fromWeb(await encrypter.encrypt(toWeb(small)));
}

/** Null without recipients. @throws ConfigError for a recipient that is none */
export async function encrypterTo(recipients: readonly string[]): Promise<Encrypter | null> {
  if (recipients.length === 0) return null;
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const [index, recipient] of recipients.entries()) {
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw new ConfigError(`backup.encryptTo[${index}]: expected the public key of an age identity; is it mistyped?`);
    }
  }
  return encrypter;
}

/**
 * The way back. `identities` are null for content that is not encrypted.
 * @throws MoveRefused for damaged content and identities that do not open it; errors of `content` as they are
 */
export async function* opened(content: Bytes, identities: readonly string[] | null): AsyncGenerator<Uint8Array> {
  const fault: { error: unknown } = { error: null };
  const source = noting(content, fault);
  try {
    const plain = identities === null ? source : await decrypted(source, identities);
    yield* through(plain, createZstdDecompress({ chunkSize: CHUNK_BYTES }));
  } catch (error) {
    if (fault.error !== null || error instanceof MoveRefused) throw fault.error ?? error;
    throw new MoveRefused(`the backup is damaged (${(error as Error).message})`);
  }
}

async function* noting(content: Bytes, fault: { error: unknown }): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    fault.error = error;
    throw error;
  }
}

async function decrypted(content: Bytes, identities: readonly string[]): Promise<Bytes> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  try {
    return fromWeb(await decrypter.decrypt(toWeb(content)));
  } catch (error) {
    if (!(error instanceof Error && /no identity matched/.test(error.message))) throw error;
    throw new MoveRefused('this identity does not open the backup: it was encrypted to another key');
  }
}

async function* through(content: Bytes, transform: Transform): AsyncGenerator<Uint8Array> {
  const feeding = pipeline(Readable.from(content, { objectMode: false }), transform);
  feeding.catch(() => undefined);
  yield* transform as AsyncIterable<Uint8Array>;
  await feeding;
}

function toWeb(content: Bytes): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(content, { objectMode: false })) as unknown as ReadableStream<Uint8Array>;
}

function fromWeb(stream: ReadableStream<Uint8Array>): Bytes {
  return stream as unknown as Bytes;
}
