import { getCACertificates } from 'node:tls';
import { namingFile } from '../config/config-error.ts';
import type { SidecarConfig } from '../config/load-config.ts';
import { readCertificates } from '../config/pem-files.ts';

/**
 * Certificates that count for the panel's own connections: Node's, the system's, and those of `panel.caFile`. null if the file is
 * not set: each program's own default holds. @throws ConfigError
 */
export function readAuthorities({ file, panel: { caFile } }: Pick<SidecarConfig, 'file' | 'panel'>): string | null {
  if (caFile === null) return null;
  const { pem } = namingFile(file, () => readCertificates(caFile, 'panel.caFile'));
  const all = new Set([...getCACertificates('default'), ...getCACertificates('system')].map((text) => text.trim()));
  return `${[...all, pem.trim()].join('\n')}\n`;
}
