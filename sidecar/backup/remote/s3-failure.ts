import { RemoteFailure } from './remote-store.ts';

/** An error of the AWS client. */
interface S3Error {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

const REFUSED_KEYS = new Set([
  ...['AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch', 'ExpiredToken', 'InvalidToken'],
  ...['Forbidden', 'Unauthorized', 'TokenRefreshRequired'],
]);

/** Not for what the next try is refused too. */
export function isWorthRetrying(error: unknown): boolean {
  const status = (error as S3Error).$metadata?.httpStatusCode;
  return status === undefined || status >= 500 || status === 429 || status === 408;
}

/** A single line for the owner. Errors that are not of the server, as those of the backup's own files, stay as they are. */
export function s3FailureOf(error: unknown, place: string): unknown {
  const { name, code, message, $metadata } = error as S3Error;
  const status = $metadata?.httpStatusCode;
  const failed = (what: string): RemoteFailure => new RemoteFailure(`backup.remote: ${place} ${what}`);
  if (error instanceof RemoteFailure) return error;
  if (name === 'NoSuchBucket') return failed('does not exist; make it, or fix backup.remote.bucket');
  if (name === 'NoSuchKey' || name === 'NotFound') return failed('does not hold this backup any more');
  if (status === 412) return failed('now holds another object of this name; run it again');
  if (REFUSED_KEYS.has(String(name)) || status === 401 || status === 403) {
    return failed(`refuses these keys (${String(name)}); check accessKey… and secretKey…, and what they may do`);
  }
  if (status !== undefined) return failed(`answers ${status} (${oneLine(name)}: ${oneLine(message)})`);
  const isOwn = error instanceof Error && (code === undefined || String(code).startsWith('ERR_'));
  if (isOwn && name !== 'TimeoutError' && name !== 'RequestTimeout') return failed(`failed: ${oneLine(message)}`);
  return failed(
    `does not answer (${silenceOf(error as S3Error) ?? oneLine(code ?? name)}); check the network and backup.remote.endpoint`,
  );
}

/** A connection on which nothing moved, in the words of the client's time limit; null for another error. */
function silenceOf({ name, message }: S3Error): string | null {
  if (name !== 'TimeoutError') return null;
  const [, ms] = /(\d+) ms of inactivity/.exec(String(message)) ?? [];
  return ms === undefined ? 'no connection' : `nothing moved for ${Number(ms) / 1000} s`;
}

/** A server's own words: short, and of one line. */
function oneLine(text: unknown): string {
  return String(text)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .slice(0, 200);
}
