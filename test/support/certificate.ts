import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** The certificate itself: it is its own authority. */
  readonly ca: string;
}

/** A throw-away certificate for 127.0.0.1 and localhost, made now by `openssl`. */
export function makeCertificate(folder: string): Certificate {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost';
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  const request = ['req', '-x509', ...key, '-out', certFile, '-days', '2', '-subj', '/CN=localhost', '-addext', names];
  execFileSync('openssl', request, { stdio: 'pipe' });
  return { certFile, keyFile, ca: readFileSync(certFile, 'utf8') };
}

/** Signs it again with an end that was yesterday. */
export function endCertificate({ certFile, keyFile }: Certificate): Certificate {
  const again = ['x509', '-in', certFile, '-signkey', keyFile, '-days', '-1', '-out', certFile];
  execFileSync('openssl', again, { stdio: 'pipe' });
  return { certFile, keyFile, ca: readFileSync(certFile, 'utf8') };
}
