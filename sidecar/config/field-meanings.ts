/**
 * Meaning of every field of sidecar.json, by its path, for docs/configuration.md. A test holds that this table and the
 * schema have the same fields.
 */
export const SIDECAR_MEANINGS: Readonly<Record<string, string>> = {
  'api.host': 'address of the API',
  'api.port': 'port of the API; 0 is any free port, and the log names it',
  'api.socketPath':
    "a Unix socket in place of TCP, on Windows a named pipe (`\\\\\\\\.\\\\pipe\\\\NAME`); the connector's `url` is then `unix:` and the path",
  'api.tls.certFile': 'PEM file of the certificate; without `api.tls` (null) there is no TLS',
  'api.tls.keyFile': 'PEM file of the private key',
  'api.requireHttps': 'addresses that must use HTTPS; probes are exempt',
  'api.trustedProxies': 'addresses of proxies whose `X-Forwarded-*` headers count',
  'api.maxStreams': 'streams at once, 16 of them from one address; 0 offers none, and connectors use POST',
  'api.maxSkewSeconds': "largest difference between a request's time stamp and the sidecar's clock",
  'api.requestTimeoutMs': 'limit for head, body and handling of a request',
  'api.metrics': 'addresses that may read `/metrics`',
  'database.provider': 'the database; `mysql` is MySQL and MariaDB ([databases.md](databases.md))',
  'database.file': 'SQLite: the database file; if omitted, `data/database.sqlite`',
  'database.url':
    'a server: its URL, for PostgreSQL and MySQL with one host or [several](databases.md#several-hosts). Exactly one of `url`, `urlFile` and `urlEnv`; keep a URL with a password in a file or variable',
  'database.urlFile': 'a server: a file of mode 0600 that holds the URL',
  'database.urlEnv': 'a server: the environment variable that holds the URL',
  'database.poolSize': 'connections; with SQLite threads (one writes, the others read)',
  'database.statementTimeoutMs':
    'limit for a statement; a longer one ends with 504 `database_timeout`. Keep it below `api.requestTimeoutMs`',
  'database.causalReads':
    'on a Galera cluster, a read waits until its node has every write that was answered before; `false` reads what the node has',
  'keys[].kid': "id of the key, equal to the connector's `keyId`",
  'keys[].secretFile':
    'file of the secret, at least 32 bytes; a missing file is created. Exactly one of `secretFile`, `secretEnv` and `secret`',
  'keys[].secretEnv': 'environment variable that holds the secret',
  'keys[].secret': 'the secret itself',
  'keys[].previousSecretFile': 'file of the secret before a rotation; needs `previousUntil`',
  'keys[].previousUntil': 'time until which the previous secret is accepted',
  'keys[].operations': 'operations that the key may use ([api.md](api.md)), or `["*"]`',
  'keys[].namespaces': 'namespaces that the key may use, or `["*"]`',
  'keys[].allowUnfilteredWrites': 'whether the key may `update` and `delete` with `all`',
  'keys[].addresses': 'addresses from which the key may be used; an empty list allows all',
  'schema.removed':
    'handling of tables and columns that a schema no longer declares: `quarantine` keeps them aside, `drop` deletes them, `deny` refuses the sync',
  'limits.maxRows': 'rows of one find',
  'limits.maxInsertRows': 'rows of one insert',
  'limits.maxBodyBytes':
    'size of a body; a body is also limited to 6 bytes per character of `maxPayloadChars` and 64 KiB',
  'limits.maxPayloadChars': 'length of a payload in UTF-16 code units',
  'limits.maxAnswerBytes': 'size of an answer',
  'limits.perKeyPerSecond': 'requests of one key per second',
  'limits.perAddressPerSecond': 'requests of one address per second',
  'limits.authFailuresPerMinute': 'failed authentications per minute before an address is locked out',
  'limits.lockoutSeconds': 'length of a lock-out',
  'panel.enabled': 'whether the panel runs',
  'panel.host': 'address of the panel',
  'panel.port': 'port of the panel; 0 is any free port',
  'panel.data': 'file of the accounts, settings, audit log and charts of the panel',
  'panel.bridgeHost': 'address of the LAN bridge, if it is switched on in the panel',
  'panel.publicUrl': 'address of the panel behind a web server ([panel-remote.md](panel-remote.md))',
  'panel.allowedHosts': 'further names of the panel',
  'panel.caFile': "certificates (PEM) that count beside the system's for git and for the panel's own requests",
  'panel.git': 'the program git, if it is not the first along `PATH`',
  'panel.trustedProxies': 'addresses of proxies whose `X-Forwarded-*` headers count',
  'panel.updates.keys':
    'keys that may sign releases of the sidecar, beside those of the running release ([operations.md](operations.md#releases-and-their-keys))',
  'panel.notices.privateHosts':
    'hosts of private networks that [notices](panel.md#notices) may go to; others are refused, also those that a name leads to',
  'panel.updates.allowUnsigned': 'whether releases that no known key has signed can be put in place',
  'writeBehind.journal': 'folder of the queued writes; its disk must keep what it has confirmed',
  'writeBehind.flushIntervalMs': 'age of the oldest queued write that starts a batch',
  'writeBehind.flushAtPending': 'number of queued writes that starts a batch',
  'writeBehind.maxPending': 'number of queued writes; beyond it writes are refused with `write_buffer_full`',
  'writeBehind.maxJournalMegabytes': 'size of the journal; beyond it writes are refused with `write_buffer_full`',
  'writeBehind.haltAfterFailures': 'consecutive failures of the database after which the queue is `halted`',
  'writeBehind.drainOnStopMs': 'limit for writing queued writes during a stop; the rest stays in the journal',
  'writeBehind.namespaces.NAME.consistentReads':
    'writes of namespace `NAME` are queued ([write-behind.md](write-behind.md)); if true, a read first waits for the queue. The first start lists `stats`',
  'backup.folder': 'folder of scheduled backups ([backup.md](backup.md))',
  'backup.everyHours': 'hours between two scheduled backups; not with `at`',
  'backup.at': 'time of day of the daily backup; not with `everyHours`',
  'backup.keep': 'number of scheduled backups to keep',
  'backup.remote.type': 'second place of the backups, off this machine; without `backup.remote` (null) there is none',
  'backup.remote.path': 'folder: a folder on another disk, such as a mounted one',
  'backup.remote.endpoint': 's3: address of the server; if omitted, that of AWS for the region',
  'backup.remote.region': 's3: region of the bucket; if omitted, `us-east-1`',
  'backup.remote.bucket': 's3: the bucket',
  'backup.remote.prefix': 's3: beginning of the names of the objects',
  'backup.remote.pathStyle':
    "s3: whether the bucket stands in the path, as most servers besides AWS need it; if omitted, it is part of the host's name",
  'backup.remote.accessKeyFile': 's3: a file of mode 0600 that holds the access key. Exactly one of both',
  'backup.remote.accessKeyEnv': 's3: the environment variable that holds the access key',
  'backup.remote.secretKeyFile': 's3: a file of mode 0600 that holds the secret key. Exactly one of both',
  'backup.remote.secretKeyEnv': 's3: the environment variable that holds the secret key',
  'backup.remote.keep.daily': 'number of days (UTC) whose newest backup is kept there; the newest of all always is',
  'backup.remote.keep.weekly': 'number of ISO weeks whose newest backup is kept there',
  'backup.remote.keep.monthly': 'number of months whose newest backup is kept there',
  'backup.encryptTo':
    'public keys of `main.js backup keygen`; with any, backups leave the machine encrypted, and only the other half of a key opens them',
  'backup.identityFile':
    'file of the other half, for drills that open backups; it opens every backup, so keep it elsewhere if drills may compare bytes only',
  'backup.continuous.program':
    'SQLite: an installed Litestream 0.5, which copies each write to `backup.remote` within seconds ([backup.md](backup.md#each-write-sqlite)); without `backup.continuous` (null) there is none',
  'backup.continuous.allowClear': 'whether rows may lie there in the clear although `backup.encryptTo` is set',
  'backup.drill.everyDays':
    'days between two drills, which restore the newest backup off the machine into a database that is thrown away ([backup.md](backup.md#drills)); without `backup.drill` (null) there are none',
  'backup.secrets': 'whether encrypted backups off the machine hold the secrets too; needs `backup.encryptTo`',
};
