import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { ConfigError } from './config-error.ts';
import { readBounded, refusedFile } from './text-file.ts';

/** The authorities of a whole system are about a tenth of it. */
const MOST_BYTES = 4 * 2 ** 20;

const CERTIFICATE =
  /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/** A file of certificates, the first one the server's own if it is of a server. */
export interface CertificateFile {
  readonly pem: string;
  readonly certificates: readonly X509Certificate[];
}

/** @param field setting that names the file. @throws ConfigError */
export function readCertificates(file: string, field: string): CertificateFile {
  const pem = readPem(file, field);
  const blocks = pem.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) {
    throw new ConfigError(
      `${field}: expected a certificate (-----BEGIN CERTIFICATE-----), got ${contentOf(pem)} in ${file}: name the file of the certificate, in PEM`,
    );
  }
  const certificates = blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch {
      const which = blocks.length === 1 ? 'the certificate' : `certificate ${index + 1}`;
      throw new ConfigError(`${field}: ${which} in ${file} is damaged: copy the file again from where it was issued`);
    }
  });
  return { pem, certificates };
}

/** @param field setting that names the file. @throws ConfigError */
export function readPrivateKey(file: string, field: string): { readonly pem: string; readonly key: KeyObject } {
  const pem = readPem(file, field);
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    throw new ConfigError(
      `${field}: expected a key without a passphrase, got an encrypted one in ${file}: openssl pkey -in ${file} writes it without one`,
    );
  }
  try {
    return { pem, key: createPrivateKey(pem) };
  } catch {
    throw new ConfigError(
      `${field}: expected a private key (-----BEGIN PRIVATE KEY-----), got ${contentOf(pem)} in ${file}: name the file of the key, in PEM`,
    );
  }
}

function readPem(file: string, field: string): string {
  try {
    return readBounded(file, MOST_BYTES).bytes.toString('latin1');
  } catch (error) {
    throw refusedFile(field, file, error);
  }
}

/** For errors: never a part of the content. */
function contentOf(pem: string): string {
  if (pem.trim() === '') return 'nothing';
  const [, label] = /-----BEGIN ([A-Z0-9 ]{1,40})-----/.exec(pem) ?? [];
  if (label === undefined) return pem.startsWith('\x30') ? 'another form than PEM' : 'another content';
  if (label.endsWith('PRIVATE KEY')) return 'a private key';
  if (label.endsWith('CERTIFICATE')) return 'a certificate';
  return label === 'NEW CERTIFICATE REQUEST' || label === 'CERTIFICATE REQUEST'
    ? 'a request for a certificate'
    : `"${label}"`;
}
