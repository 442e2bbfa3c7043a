import { type IncomingHttpHeaders, request } from 'node:http';
import { Readable } from 'node:stream';

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer | Readable;
}

export interface PanelAnswer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
  /** Parsed JSON; undefined for anything else. */
  readonly body: Body;
}

/** A browser without a page: it keeps cookies, and sends the token with each POST. */
export class PanelClient {
  readonly address: string;
  readonly cookies = new Map<string, string>();
  csrf = '';

  constructor(address: string) {
    this.address = address;
  }

  get cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** `GET /api/session`, whose token the following POSTs send. */
  async session(): Promise<Record<string, unknown>> {
    const { body } = await this.get('/api/session');
    this.csrf = String(body.csrf);
    return body;
  }

  async login(username: string, password: string, remember = false): Promise<PanelAnswer> {
    await this.session();
    const answer = await this.post('/api/login', { username, password, remember });
    await this.session();
    return answer;
  }

  get<Body = Record<string, unknown>>(path: string): Promise<PanelAnswer<Body>> {
    return this.raw<Body>({ path });
  }

  post<Body = Record<string, unknown>>(path: string, body: unknown = {}): Promise<PanelAnswer<Body>> {
    const headers = { 'content-type': 'application/json', 'x-csrf': this.csrf };
    return this.raw<Body>({ method: 'POST', path, headers, body: JSON.stringify(body) });
  }

  /** As it is, but for cookies: those of the client, unless others are given. */
  raw<Body = Record<string, unknown>>({
    method = 'GET',
    path,
    headers = {},
    body,
  }: RawRequest): Promise<PanelAnswer<Body>> {
    const cookies = this.cookies.size > 0 ? { cookie: this.cookieHeader } : {};
    return new Promise((resolve, reject) => {
      const isSized = typeof body === 'string' || Buffer.isBuffer(body);
      const length = isSized && !('transfer-encoding' in headers) ? { 'content-length': Buffer.byteLength(body) } : {};
      const { hostname, port } = new URL(this.address);
      const options = { hostname, port, method, path, headers: { ...cookies, ...length, ...headers }, agent: false };
      const sent = request(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          this.#keep(response.headers['set-cookie'] ?? []);
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString('utf8');
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers, text, bytes, body: parsed(text) as Body });
        });
      });
      sent.on('error', reject);
      if (body instanceof Readable) body.pipe(sent);
      else sent.end(body);
    });
  }

  #keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split('=');
      if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
