/** Parameters that the driver of PostgreSQL reads from a URL. */
const POSTGRES_PARAMETERS: readonly string[] = [
  ...['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat'],
  ...['host', 'port', 'options', 'application_name', 'fallback_application_name'],
];
/** Read by `mysqlPlace`. */
const MYSQL_PARAMETERS: readonly string[] = ['ssl', 'socketPath'];
const MYSQL_SSL: readonly string[] = ['true', 'unchecked', 'false'];
/** Parameters that name a single place. */
const OF_ONE_PLACE: ReadonlySet<string> = new Set(['host', 'port', 'socketPath']);

/** `SCHEME://ACCOUNT@HOST,HOST/REST` in its parts; the account keeps its `@`. */
interface UrlParts {
  readonly scheme: string;
  readonly account: string;
  readonly hosts: readonly string[];
  readonly rest: string;
}

function partsOf(url: string): UrlParts {
  const [, scheme = '', authority = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is.exec(url) ?? [];
  const hostsAt = authority.lastIndexOf('@') + 1;
  const hosts = authority.slice(hostsAt).split(',');
  return { scheme, account: authority.slice(0, hostsAt), hosts, rest };
}

/** The URL once for each host that it names, in their order. */
export function urlsOfHosts(url: string): string[] {
  const { scheme, account, hosts, rest } = partsOf(url);
  return hosts.map((host) => `${scheme}${account}${host}${rest}`);
}

/** Hosts with their ports, or the socket, as the URL has them. Without account and password. */
export function hostsOf(url: string): readonly string[] {
  const { hosts, rest } = partsOf(url);
  const parameters = new URLSearchParams(/\?([^#]*)/.exec(rest)?.[1]);
  const place = parameters.get('host') ?? parameters.get('socketPath');
  return place === null ? hosts : [place];
}

/**
 * The rule that a readable URL of PostgreSQL or MySQL breaks, in words; null if it breaks none. Parameters without effect are
 * refused: an owner who wrote `target_session_attrs` relies on it.
 */
export function faultOfServerUrl(provider: 'postgres' | 'mysql', url: string): string | null {
  const { hosts } = partsOf(url);
  const parameters = new URL(urlsOfHosts(url)[0] ?? url).searchParams;
  if (hosts.length > 1 && hosts.some((host) => host.trim() === '')) return 'expected a host between commas, got none';
  const known = provider === 'postgres' ? POSTGRES_PARAMETERS : MYSQL_PARAMETERS;
  for (const name of parameters.keys()) {
    if (!known.includes(name)) {
      const advice = name === 'target_session_attrs' ? ' (of several hosts, one that takes writes is chosen)' : '';
      return `expected no parameters but ${known.join(', ')}, got ${name}, which has no effect${advice}: remove it`;
    }
    if (hosts.length > 1 && OF_ONE_PLACE.has(name)) return `expected no parameter ${name} beside several hosts`;
  }
  const ssl = parameters.get('ssl');
  const isKnown = provider !== 'mysql' || ssl === null || MYSQL_SSL.includes(ssl);
  return isKnown ? null : `expected ${MYSQL_SSL.map((value) => `ssl=${value}`).join(' or ')}, got ssl=${ssl}`;
}
