import { type TokenRoute, tokenRoutes } from './token-routes.ts';

const HEAD = `# The panel for programs

<!-- \`node scripts/panel-api.ts\` writes this page from the panel's tables of routes. -->

A script, a bot or a monitor calls the panel with a token. Make one in the panel under Settings, Tokens: choose its name, its
permissions, the addresses it may come from, and its end. The panel shows it once and keeps only a hash.

\`\`\`
curl -H 'Authorization: Bearer pnl_…' http://127.0.0.1:20772/api/status
curl -H 'Authorization: Bearer pnl_…' -X POST http://127.0.0.1:20772/api/server/restart
\`\`\`

- A token may do what it lists and the account that made it holds at that moment. No token has \`settings.write\` or
  \`users.manage\`.
- It ends when it is revoked, at its own end, and with the account: a new password, disabling, deleting. Its event streams
  end with it.
- It makes 10 calls a second after a burst of 60; above that the answer is 429 with \`Retry-After\`.
- Keep it out of addresses: only the header counts. The panel reads and sets no cookie on such a call.
- The audit log and the console name the account and the token.
- A body is JSON with \`Content-Type: application/json\`. An answer is \`{"ok":true, …}\`, a refusal
  \`{"ok":false,"error":"KEY"}\`: 401 \`token.invalid\` and \`token.expired\`, 403 \`token.address\`, \`token.route\` and
  \`permission.missing\`, 429 \`rate.limited\`.

Bodies in full, for generators of clients: [panel-openapi.json](panel-openapi.json).

| Route | For | Needs | Body | Answer |
| --- | --- | --- | --- | --- |
`;

/** `docs/panel-api.md` */
export function panelPage(): string {
  return HEAD + tokenRoutes().map(line).join('');
}

function line({ method, path, summary, needs, body, answer, query = {} }: TokenRoute): string {
  const { kind, permissions } = needs;
  const needed = permissions.length === 0 ? 'any token' : permissions.join(kind === 'all' ? ' and ' : ' or ');
  const properties = Object.keys((body?.properties ?? {}) as object).map((name) => `\`${name}\``);
  const asked = Object.keys(query).map((name) => `\`?${name}\``);
  const sent = [...properties, ...asked].join(', ');
  return `| \`${method} ${path}\` | ${summary} | ${needed} | ${sent} | ${answer} |\n`;
}
