import { AddressRanges, readAddress } from '#sidecar/security/addresses.ts';

/** Networks that nobody routes over the internet (RFC 1918, 3927, 4193, 4291) and this machine. */
const PRIVATE = new AddressRanges([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
]);

export function isPrivateAddress(address: string): boolean {
  const read = readAddress(address);
  return read !== null && PRIVATE.has(read);
}
