import { createHmac } from 'node:crypto';
import { AllowedHosts } from './delivery/allowed-hosts.ts';
import type { Delivery } from './delivery/delivery.ts';
import { discordBody } from './delivery/discord-body.ts';
import { post, type Resolve, systemResolve } from './delivery/post.ts';
import { type CommandPlace, runCommand } from './delivery/run-command.ts';
import { type Notice, type UnsentNotice, wireNotice } from './notice.ts';
import type { StoredTarget } from './target-store.ts';

/** A try of a notice at a target. Never throws. */
export type Deliver = (target: StoredTarget, notice: UnsentNotice, signal: AbortSignal) => Promise<Delivery>;

export interface DeliverOptions {
  /** Names, addresses and CIDR ranges of private networks that may be reached. */
  readonly privateHosts: readonly string[];
  /** Certificates of `panel.caFile` and of the system; null: Node's own. */
  readonly authorities: string | null;
  /** Where a command runs. */
  readonly place: () => CommandPlace;
  /** Default: the system's. */
  readonly resolve?: Resolve;
}

export interface Delivering {
  readonly deliver: Deliver;
  /** Origin of an address that may be reached. @throws Error with what was expected */
  readonly originOf: (url: string) => string;
}

/** The secrets cannot be opened: `secrets/panel.key` is another one. */
const NO_SECRETS: Delivery = { delivered: false, status: null, ms: 0, answer: '', error: 'spawn', retryAfterMs: null };

export function createDeliver({
  privateHosts,
  authorities,
  place,
  resolve = systemResolve,
}: DeliverOptions): Delivering {
  const hosts = new AllowedHosts(privateHosts);
  const deliver: Deliver = async (target, notice, signal) => {
    const { kind, line, ca, secrets } = target;
    const json = JSON.stringify(wireNotice(notice));
    if (kind === 'command') return runCommand(line, `${json}\n`, place(), signal);
    if (secrets === null) return NO_SECRETS;
    const { url, secret } = secrets;
    const body = kind === 'discord' ? JSON.stringify(discordBody(notice, target.locale)) : json;
    const headers = kind === 'discord' ? {} : signedHeaders(notice, json, secret);
    const to = new URL(url);
    if (kind === 'discord') to.searchParams.set('wait', 'true');
    const trusted = ca === '' ? authorities : ca;
    return post({ url: to, body, headers, authorities: trusted, secret, hosts, resolve, signal });
  };
  return { deliver, originOf: (url) => hosts.originOf(url) };
}

function signedHeaders({ event, id }: Notice, body: string, secret: string): Record<string, string> {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return { 'x-event': event, 'x-delivery': id, 'x-signature': `sha256=${signature}` };
}
