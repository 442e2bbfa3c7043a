import { insertedRow, randomGroup, randomItem } from '../engines/items.ts';
import { nextTransfer, type TransferSpread } from '../transfer/transfers.ts';

/** Unsigned requests to servers that are no sidecar. */
const PEER_KINDS = ['pocketbaseFind', 'pocketbaseList', 'pocketbaseInsert', 'rpcUniform', 'rpcZipf'] as const;
export type PeerKind = (typeof PEER_KINDS)[number];

export function isPeerKind(kind: string): kind is PeerKind {
  return PEER_KINDS.some((name) => name === kind);
}

export interface PeerRequest {
  readonly method: 'GET' | 'POST';
  readonly target: string;
  /** Null for GET. */
  readonly body: string | null;
}

const RECORDS = '/api/collections';

/** Record id of PocketBase, 15 characters, for a number. */
export function recordId(id: number): string {
  return `i${String(id).padStart(14, '0')}`;
}

/** The next request of a kind, each time it is called. */
export function peerRequests(kind: PeerKind): () => PeerRequest {
  let sent = 0;
  switch (kind) {
    case 'pocketbaseFind':
      return () => get(`${RECORDS}/items/records/${recordId(randomItem())}`);
    case 'pocketbaseList':
      return () => get(`${RECORDS}/items/records?filter=(grp=${randomGroup()})&perPage=20&skipTotal=1`);
    case 'pocketbaseInsert':
      return () => post(`${RECORDS}/inserts/records`, insertedRow(sent++));
    case 'rpcUniform':
      return transfers('uniform');
    case 'rpcZipf':
      return transfers('zipf');
    default:
      return kind satisfies never;
  }
}

function get(target: string): PeerRequest {
  return { method: 'GET', target, body: null };
}

function post(target: string, body: object): PeerRequest {
  return { method: 'POST', target, body: JSON.stringify(body) };
}

function transfers(spread: TransferSpread): () => PeerRequest {
  const next = nextTransfer(spread);
  return () => {
    const { from, to, amount } = next();
    return post('/rpc', { name: 'transfer', args: { from_id: from, to_id: to, amount } });
  };
}
