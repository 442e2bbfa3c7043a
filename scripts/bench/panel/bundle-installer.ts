import { setTimeout as pause } from 'node:timers/promises';
import type { JobView } from '#panel/shapes/jobs.ts';
import type { Upload } from '#panel/shapes/uploads.ts';
import type { PanelAnswer, PanelClient } from '#test/panel/support/panel-client.ts';

const BOUNDARY = 'b'.repeat(30);
const LOOK_MS = 100;

/** Puts archives of bundles in place through the routes of the page. */
export class BundleInstaller {
  readonly #client: PanelClient;

  constructor(client: PanelClient) {
    this.#client = client;
  }

  /** Resolves once the job has ended well. */
  async install(name: string, archive: Buffer): Promise<void> {
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${name}.zip"\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), archive, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'x-csrf': this.#client.csrf };
    const path = '/api/bundle-tools/upload';
    const { upload } = must(await this.#client.raw<{ upload: Upload }>({ method: 'POST', path, headers, body }));
    const bundles = upload.bundles.map(({ from }) => ({ from, name }));
    const order = { upload: upload.id, bundles, apply: 'now' };
    const { status } = must(await this.#client.post<{ status: JobView }>(`${path}/install`, order));
    await this.#ended(status.id);
  }

  async #ended(id: string): Promise<void> {
    for (;;) {
      const { status } = must(await this.#client.get<{ status: JobView }>(`/api/bundle-tools/jobs/${id}`));
      if (status.state === 'succeeded') return;
      if (status.endedAt !== null) throw new Error(`the job ended ${status.state}: ${JSON.stringify(status)}`);
      await pause(LOOK_MS);
    }
  }
}

export function must<Body>({ status, text, body }: PanelAnswer<Body>): Body {
  if (status !== 200) throw new Error(`the panel refused: ${status} ${text}`);
  return body;
}
