import type { ConfigFile } from './config-schema.ts';

const LOOPBACK = /^(127\.|localhost$|::1$)/;

/** Warnings about settings that are legal but have a consequence that an owner may not expect. */
export function adviceOn({ api, database, panel }: ConfigFile): string[] {
  return [...timeoutAdvice(api, database), ...apiAdvice(api), ...panelAdvice(panel)];
}

/** The limits nest so that a slow statement is a signed 504 and not a transport failure (contract section 2). */
function timeoutAdvice(
  { requestTimeoutMs }: ConfigFile['api'],
  { statementTimeoutMs }: ConfigFile['database'],
): string[] {
  if (statementTimeoutMs < requestTimeoutMs) return [];
  return [
    `database.statementTimeoutMs (${statementTimeoutMs}) is not below api.requestTimeoutMs (${requestTimeoutMs}): slow statements answer timeout`,
  ];
}

function apiAdvice({ host, socketPath, tls, requireHttps, trustedProxies }: ConfigFile['api']): string[] {
  if (socketPath !== null || LOOPBACK.test(host) || tls !== null || trustedProxies.length > 0) return [];
  const consequence =
    requireHttps === 'never'
      ? 'everyone on the network between can read the rows. Requests stay signed, so nobody can change them'
      : 'requests from other machines are refused with https_required';
  return [`api.host is ${host} without api.tls: ${consequence}. Set api.tls, or api.host to 127.0.0.1`];
}

function panelAdvice({ enabled, host, publicUrl }: ConfigFile['panel']): string[] {
  if (!enabled || LOOPBACK.test(host) || publicUrl?.startsWith('https://') === true) return [];
  return [
    `panel.host is ${host} without TLS: passwords cross the network in plain text. Set panel.host to 127.0.0.1 and use a web server with TLS in front (docs/panel-remote.md)`,
  ];
}
