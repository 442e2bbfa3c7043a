import { createSecureContext } from 'node:tls';
import { ConfigError, namingFile } from '../config/config-error.ts';
import { readCertificates, readPrivateKey } from '../config/pem-files.ts';

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A pair that can be served, in PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Checked before the server starts, so that an error names the configuration, the field and the file.
 * @param configFile path of sidecar.json, for errors. @throws ConfigError
 */
export function readTls(tls: TlsFiles | null, configFile: string): TlsPair | null {
  return tls === null ? null : namingFile(configFile, () => readPair(tls));
}

function readPair({ certFile, keyFile }: TlsFiles): TlsPair {
  const { pem: cert, certificates } = readCertificates(certFile, 'api.tls.certFile');
  const { pem, key } = readPrivateKey(keyFile, 'api.tls.keyFile');
  const place = certificates.findIndex((certificate) => certificate.checkPrivateKey(key));
  if (place > 0) {
    throw new ConfigError(
      `api.tls.certFile: expected the certificate of the key in ${keyFile} first, got it as number ${place + 1} in ${certFile}: move it to the top of the file`,
    );
  }
  if (place < 0) {
    throw new ConfigError(
      `api.tls.keyFile: expected the key of the certificate in ${certFile}, got another one in ${keyFile}: name the two files that belong together`,
    );
  }
  const pair = { cert, key: pem };
  try {
    createSecureContext(pair);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `api.tls: the certificate in ${certFile} and its key cannot be used (${code ?? message}): have another pair issued`,
    );
  }
  return pair;
}
