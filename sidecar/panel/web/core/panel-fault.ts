/** A refusal of the panel, or `network` where no answer came. `key` is one of the error table. */
export class PanelFault extends Error {
  readonly key: string;
  readonly status: number;
  readonly field: string | null;
  /** What exactly, in English; empty where the key says it all. */
  readonly detail: string;
  /** A folder that does not exist; null if the refusal is of another kind. */
  readonly folder: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(key: string, status: number, reply: Readonly<Record<string, unknown>> = {}, retryAfter?: number | null) {
    super(key);
    this.key = key;
    this.status = status;
    this.field = typeof reply.field === 'string' ? reply.field : null;
    this.detail = typeof reply.detail === 'string' ? reply.detail : '';
    this.folder = typeof reply.folder === 'string' ? reply.folder : null;
    this.retryAfterSeconds = retryAfter ?? null;
  }
}
