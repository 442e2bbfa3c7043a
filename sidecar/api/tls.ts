import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { fileFault } from '../config/text-file.ts';

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Checked before the server starts, so that an error names the field. */
export function readTls(tls: TlsFiles | null): { readonly cert: Buffer; readonly key: Buffer } | null {
  if (tls === null) return null;
  const { certFile, keyFile } = tls;
  const files = { cert: readPem('certFile', certFile), key: readPem('keyFile', keyFile) };
  try {
    createSecureContext(files);
  } catch (error) {
    throw new Error(`api.tls: expected a certificate and its key, got ${(error as NodeJS.ErrnoException).code}`);
  }
  return files;
}

function readPem(field: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`api.tls.${field}: ${fileFault(file, error)}`);
  }
}
