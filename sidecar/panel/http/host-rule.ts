import type { IncomingMessage } from 'node:http';
import type { Client } from '#sidecar/security/client.ts';
import { PanelError } from '../panel-error.ts';

export interface HostSettings {
  /** Where browsers reach the panel, if not at its own address. */
  readonly publicUrl: string | null;
  readonly allowedHosts: readonly string[];
}

const OWN_NAMES = ['127.0.0.1', 'localhost', 'panel.localhost', '[::1]'];
const HAS_PORT = /:\d+$/;

/** Which names the panel answers to, so that no page can reach it under a name of its own (DNS rebinding). */
export class HostRule {
  readonly #allowed: ReadonlySet<string>;
  readonly #public: URL | null;

  constructor({ publicUrl, allowedHosts }: HostSettings, port: number) {
    this.#public = publicUrl === null ? null : new URL(publicUrl);
    const isDefaultPort = this.#public?.port === '';
    const names = allowedHosts.map((name) => name.toLowerCase());
    const bare = names.filter((name) => !HAS_PORT.test(name));
    this.#allowed = new Set([
      ...[...OWN_NAMES, ...bare].map((name) => `${name}:${port}`),
      ...names.filter((name) => HAS_PORT.test(name)),
      ...(isDefaultPort ? bare : []),
      ...(this.#public === null ? [] : hostsOf(this.#public)),
    ]);
  }

  /** @throws PanelError host.invalid */
  checkHost(request: IncomingMessage): string {
    const host = request.headers.host?.toLowerCase() ?? '';
    // Node.js keeps the first of several, a proxy in front may have judged another.
    const hosts = request.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
    if (hosts.length !== 1 || !this.#allowed.has(host)) throw new PanelError('host.invalid');
    return host;
  }

  /** A page of another origin, also of another port of this machine, is another site. @throws PanelError origin.invalid */
  checkOrigin(request: IncomingMessage, host: string, client: Client): void {
    const { origin } = request.headers;
    if (origin === undefined) return;
    if (origin.toLowerCase() !== `${this.#scheme(host, client)}://${host}`) throw new PanelError('origin.invalid');
  }

  #scheme(host: string, client: Client): string {
    const isPublic = this.#public !== null && hostsOf(this.#public).includes(host);
    return isPublic ? (this.#public as URL).protocol.slice(0, -1) : client.isSecure ? 'https' : 'http';
  }
}

/** With the port, and without if it is the scheme's own. */
function hostsOf(url: URL): string[] {
  if (url.port !== '') return [url.host];
  return [url.hostname, `${url.hostname}:${url.protocol === 'https:' ? 443 : 80}`];
}
