import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

export type DecodedText =
  | { readonly text: string; readonly fault: null }
  | { readonly text: null; readonly fault: 'saved as UTF-16' | 'not valid UTF-8' };

/** Text of a file that a person saved, without a byte order mark; or the reason why it is no UTF-8. */
export function decodeText(bytes: Buffer): DecodedText {
  const isUtf16 = bytes.length >= 2 && [0xfeff, 0xfffe].includes(bytes.readUInt16BE(0));
  if (isUtf16 || bytes.includes(0)) return { text: null, fault: 'saved as UTF-16' };
  try {
    return { text: UTF_8.decode(bytes), fault: null };
  } catch {
    return { text: null, fault: 'not valid UTF-8' };
  }
}

/** A file that is read whole. */
interface ReadFile {
  readonly bytes: Buffer;
  /** Permissions, as `stat` has them. */
  readonly mode: number;
}

/** Looks at the size before it reads. @throws ConfigError for a file that is too long; else the error of the system */
export function readBounded(file: string, mostBytes: number): ReadFile {
  const descriptor = openSync(file, 'r');
  try {
    const { mode, size } = fstatSync(descriptor);
    if (size > mostBytes) {
      throw new ConfigError(
        `expected a file of at most ${mostBytes} bytes, got ${size} in ${file}: name the right one`,
      );
    }
    return { bytes: readFileSync(descriptor), mode };
  } finally {
    closeSync(descriptor);
  }
}

/** An error that names the field, for a file that `readBounded` or the look at its content refused. */
export function refusedFile(field: string, file: string, error: unknown): ConfigError {
  return new ConfigError(`${field}: ${error instanceof ConfigError ? error.message : fileFault(file, error)}`);
}

/** Sentence about a file that could not be read, with advice. @param ifMissing advice if there is no such file */
export function fileFault(file: string, error: unknown, ifMissing = 'put it there, or name the right one'): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `the file ${file} does not exist: ${ifMissing}`;
    case 'EACCES':
    case 'EPERM':
      return `this user may not read the file ${file}: make it its owner (chown), and the folders above searchable`;
    case 'EISDIR':
      return `${file} is a folder, not a file: name a file in it`;
    default:
      return `the file ${file} cannot be read (${code ?? message}): put another copy there`;
  }
}
