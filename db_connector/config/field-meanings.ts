/**
 * Meaning of every field of database.json, by its path, for docs/configuration.md. A test holds that this table and
 * `FIELDS` have the same fields.
 */
export const CONNECTOR_MEANINGS: Readonly<Record<string, string>> = {
  url: 'address of the sidecar, or a list of addresses, the nearest first ([cluster.md](cluster.md)); not used with an embedded sidecar',
  keyId: 'a `kid` of `sidecar.json`; with an embedded sidecar `local` if omitted',
  secretFile: 'file of the secret; `DB_CONNECTOR_SECRET` has priority',
  namespaces: "namespaces that this server's bundles may use; with an embedded sidecar all if omitted",
  timeoutMs: 'limit for one attempt of a call',
  maxConcurrent: 'requests at once; 512 more calls may wait',
  maxAnswerBytes: 'size of an answer',
  allowedHosts: 'hosts that may be connected to; if omitted, the host of `url` if it is a loopback address',
  slowCallMs: 'duration from which a call is logged on the console; 0 logs none',
  transport:
    '`auto`: one connection for all calls (a stream) if the sidecar offers it, otherwise a POST for each call; `stream` or `post`: only that',
  worker:
    "`auto`: signing and sockets in a thread of their own if the host allows threads ([install-fivem.md](install-fivem.md)); `off`: in the game's thread",
  caFile: 'PEM file of the certificate authority; if omitted, the authorities of Node.js',
  'sidecar.mode':
    'whether the game server runs the sidecar itself ([embedded.md](embedded.md)); `embedded` if there is no `database.json`',
  'sidecar.node': 'embedded: the Node.js program',
  'sidecar.folder': 'embedded: the data folder, relative to `vfs/`',
};
