import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';

/**
 * Certificates that count for the panel's own connections: Node's, the system's, and those of `panel.caFile`. null if the file is
 * not set: each program's own default holds.
 */
export function readAuthorities(caFile: string | null): string | null {
  if (caFile === null) return null;
  const own = readOwn(caFile);
  const all = new Set([...getCACertificates('default'), ...getCACertificates('system')].map((text) => text.trim()));
  return `${[...all, own.trim()].join('\n')}\n`;
}

/** @throws Error with one line for the owner */
function readOwn(caFile: string): string {
  try {
    return readFileSync(caFile, 'utf8');
  } catch (error) {
    throw new Error(`panel.caFile: ${caFile} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
