import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Name of a client of the Unix socket in logs and counts; in ranges it stands for 127.0.0.1. */
export const SOCKET_CLIENT = 'socket';

/** Canonical text of an address: IPv4-mapped IPv6 as IPv4, no zone. Null if it is not an address. */
export function readAddress(text: string): string | null {
  const withoutZone = text.split('%', 1)[0] as string;
  if (isIP(withoutZone) === 0) return null;
  return ipaddr.process(withoutZone).toString();
}

/** `ADDRESS/BITS`, or a single address. */
export function isRange(text: string): boolean {
  return parseRange(text) !== null;
}

export function isLoopback(address: string): boolean {
  return address === SOCKET_CLIENT || address === '::1' || address.startsWith('127.');
}

/** Ranges of addresses. An address is parsed once: the verdicts of the last few are kept. */
export class AddressRanges {
  readonly isEmpty: boolean;
  readonly #ranges: readonly [Address, number][];
  readonly #verdicts = new Map<string, boolean>();

  constructor(ranges: readonly string[]) {
    this.#ranges = ranges.flatMap((range) => {
      const parsed = parseRange(range);
      return parsed === null ? [] : [parsed];
    });
    this.isEmpty = this.#ranges.length === 0;
  }

  has(address: string): boolean {
    const known = this.#verdicts.get(address);
    if (known !== undefined) return known;
    const parsed = ipaddr.parse(address === SOCKET_CLIENT ? '127.0.0.1' : address);
    const verdict = this.#ranges.some(
      ([base, bits]) => base.kind() === parsed.kind() && parsed.match([base, bits] as never),
    );
    if (this.#verdicts.size >= 1000) this.#verdicts.clear();
    this.#verdicts.set(address, verdict);
    return verdict;
  }
}

function parseRange(text: string): [Address, number] | null {
  const [base = '', bits, ...rest] = text.split('/');
  if (rest.length > 0 || isIP(base) === 0 || base.includes('%')) return null;
  const address = ipaddr.parse(base);
  const most = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return mapped(address, most);
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > most) return null;
  return mapped(address, Number(bits));
}

/** `::ffff:10.0.0.0/104` is `10.0.0.0/8`: addresses are compared in their IPv4 form. */
function mapped(address: Address, bits: number): [Address, number] {
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96) {
    return [(address as ipaddr.IPv6).toIPv4Address(), bits - 96];
  }
  return [address, bits];
}

/** Network that counts as one source: an IPv4 address, or the /64 that one household has of IPv6. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const { parts } = ipaddr.parse(address) as ipaddr.IPv6;
  return `${parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
