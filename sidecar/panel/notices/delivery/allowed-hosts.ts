import { isIP } from 'node:net';
import { AddressRanges, isRange, readAddress } from '#sidecar/security/addresses.ts';
import { isPublic } from '../../network/host-policy.ts';

/** Names of this machine by RFC 6761, without a question to the resolver. */
const LOCAL_NAME = /(^|\.)localhost$/i;

/** Judges where notices may go: public addresses, and what `panel.notices.privateHosts` lists. */
export class AllowedHosts {
  readonly #names: ReadonlySet<string>;
  readonly #ranges: AddressRanges;

  /** @param privateHosts names, addresses and CIDR ranges */
  constructor(privateHosts: readonly string[]) {
    const names = privateHosts.filter((entry) => !isRange(entry));
    this.#names = new Set(names.map((name) => name.toLowerCase()));
    this.#ranges = new AddressRanges(privateHosts.filter(isRange));
  }

  /** Needs no network. @throws Error with what was expected */
  originOf(text: string): string {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url?.protocol !== 'https:') throw new Error('an address that begins with https://');
    if (url.username !== '' || url.password !== '') throw new Error('an address without user and password');
    const host = hostOf(url);
    const address = isIP(host) !== 0 ? host : LOCAL_NAME.test(host) ? '127.0.0.1' : null;
    if (address !== null && this.firstOf(host, [address]) === null) {
      throw new Error(`a public address; ${host} is private: add it to panel.notices.privateHosts if it is yours`);
    }
    return url.origin;
  }

  /** The first address that may be reached; null: none. */
  firstOf(host: string, addresses: readonly string[]): string | null {
    return addresses.find((address) => this.#isAllowed(host, address)) ?? null;
  }

  #isAllowed(host: string, address: string): boolean {
    const plain = readAddress(address);
    if (plain === null) return false;
    return isPublic(address) || this.#names.has(host.toLowerCase()) || this.#ranges.has(plain);
  }
}

/** Without brackets, and without the dot at the end that a name may have. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
