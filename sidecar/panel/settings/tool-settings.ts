import { isIP } from 'node:net';
import { PanelError } from '../panel-error.ts';
import type { ToolSettings } from '../shapes/bundle-tools.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';

const MAX_HOSTS = 100;
const MAX_URL_CHARS = 500;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

type Rule = (given: unknown) => boolean;

const isWithin =
  (least: number, most: number): Rule =>
  (given) =>
    Number.isInteger(given) && Number(given) >= least && Number(given) <= most;
const isHostList: Rule = (given) => Array.isArray(given) && given.length <= MAX_HOSTS && given.every(isHost);

const RULES: Readonly<Record<keyof ToolSettings, Rule>> = {
  gateSeconds: isWithin(1, 600),
  keepVersions: isWithin(0, 20),
  trashDays: isWithin(0, 365),
  buildMinutes: isWithin(1, 60),
  minReleaseAgeDays: isWithin(0, 365),
  registry: isRegistry,
  gitHosts: isHostList,
  privateHosts: isHostList,
};

/** @throws PanelError `bundleTools.<field>` for the first invalid value, `bundleTools.field` for an unknown name */
export function readToolSettings(given: Readonly<Record<string, unknown>>): Partial<ToolSettings> {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(RULES, name)) throw new PanelError('bundleTools.field', { field: name.slice(0, 40) });
    if (!RULES[name as keyof ToolSettings](value)) {
      throw new PanelError(`bundleTools.${name}` as ErrorKey, { field: name });
    }
  }
  return given;
}

/** `host` or `host:port`, in lower case; an IPv6 address in brackets. */
function isHost(given: unknown): boolean {
  if (typeof given !== 'string' || given.length > 260) return false;
  const [, host = '', port = '443'] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(given) ?? [];
  const isAddress = isIP(host.replace(/^\[|\]$/g, '')) !== 0;
  return (isAddress || HOST_NAME.test(host)) && Number(port) >= 1 && Number(port) <= 65_535;
}

/** Empty, or https without user part, query and fragment; plain http on this machine alone. */
function isRegistry(given: unknown): boolean {
  if (given === '') return true;
  if (typeof given !== 'string' || given.length > MAX_URL_CHARS || !URL.canParse(given)) return false;
  const { protocol, username, password, search, hash, hostname } = new URL(given);
  const isHere = protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
  return (protocol === 'https:' || isHere) && username + password + search + hash === '';
}
