import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { PanelError } from '../panel-error.ts';

/** Settings of the owner for the network; entries are `host` or `host:port`, without a port 443. */
export interface NetworkSettings {
  /** Hosts that git and the forges may be at. */
  readonly gitHosts: readonly string[];
  /** Hosts that may have private and loopback addresses. */
  readonly privateHosts: readonly string[];
}

export interface HostPolicyOptions {
  readonly settings: () => NetworkSettings;
  /** Resolver; default: the system's. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
}

/** An address that was resolved and judged once. Connections go to it, whatever a second answer of DNS would be. */
export interface PinnedHost {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly address: string;
}

/** The API of github.com is at another host. */
const BELONGS_TO: Readonly<Record<string, string>> = { 'api.github.com:443': 'github.com:443' };

/** Judges which hosts the panel may reach, and resolves them. */
export class HostPolicy {
  readonly #settings: () => NetworkSettings;
  readonly #lookup: (host: string) => Promise<readonly string[]>;

  constructor({ settings, lookup: resolve = systemLookup }: HostPolicyOptions) {
    this.#settings = settings;
    this.#lookup = resolve;
  }

  /** Needs no network. @throws PanelError `bundleTools.host` */
  checkGitHost(url: URL): void {
    const named = placeOf(url);
    const place = BELONGS_TO[named] ?? named;
    if (this.#settings().gitHosts.some((entry) => placeOfEntry(entry) === place)) return;
    throw new PanelError('bundleTools.host', {
      detail: `${named} is none of the hosts for git; add it to gitHosts in the settings of the bundle tools`,
    });
  }

  /**
   * Resolves the host. A single private address among several refuses all: the next connection could meet it.
   *
   * @throws PanelError `bundleTools.host`, `bundleTools.network`
   */
  async pin(url: URL): Promise<PinnedHost> {
    const host = bareHost(url);
    const addresses = isIP(host) === 0 ? await this.#resolve(host) : [host];
    const isAllowed = this.#settings().privateHosts.some((entry) => placeOfEntry(entry) === placeOf(url));
    const inside = addresses.find((address) => !isPublic(address));
    if (inside !== undefined && !isAllowed) {
      throw new PanelError('bundleTools.host', {
        detail: `${host} has the private address ${inside}; add ${host} to privateHosts if it is yours`,
      });
    }
    return { host, port: portOf(url), address: addresses[0] as string };
  }

  /** For an address that the owner has set himself, such as the registry. @throws PanelError `bundleTools.network` */
  async pinChosen(url: URL): Promise<PinnedHost> {
    const host = bareHost(url);
    const [address = host] = isIP(host) === 0 ? await this.#resolve(host) : [host];
    return { host, port: portOf(url), address };
  }

  async #resolve(host: string): Promise<readonly string[]> {
    const addresses = await this.#lookup(host).catch(() => []);
    if (addresses.length === 0) {
      throw new PanelError('bundleTools.network', { detail: `the host ${host} was not found` });
    }
    return addresses;
  }
}

/** The part of IPv6 that is given out: it leaves out each form of an IPv4 address inside an IPv6 one, but for those with ranges of their own. */
const GIVEN_OUT = ipaddr.IPv6.parseCIDR('2000::/3');

/** Globally routed: not loopback, private, link-local, multicast, reserved, nor an IPv4 address inside an IPv6 one. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GIVEN_OUT);
}

async function systemLookup(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, order: 'ipv4first' })).map(({ address }) => address);
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'http:' ? 80 : 443;
}

function placeOf(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

function placeOfEntry(entry: string): string | null {
  return URL.canParse(`https://${entry}`) ? placeOf(new URL(`https://${entry}`)) : null;
}
