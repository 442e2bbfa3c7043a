/** A refusal of the panel, or `network` where no answer came. `key` is one of the error table. */
export class PanelFault extends Error {
  readonly key: string;
  readonly status: number;
  readonly field: string | null;
  /** Detail in English; empty if the key says it all. */
  readonly detail: string;
  /** Code of `detail` that has a text of its own (`errors.<reason>`), or null. */
  readonly reason: string | null;
  /** The folder that this text names. */
  readonly folder: string;
  /** Entry of an archive at fault; empty if the refusal names none. */
  readonly entry: string;
  /** Ticket of a sign-in that asks for a second factor; empty else. */
  readonly ticket: string;
  readonly retryAfterSeconds: number | null;

  constructor(key: string, status: number, reply: Readonly<Record<string, unknown>> = {}, retryAfter?: number | null) {
    super(key);
    this.key = key;
    this.status = status;
    this.field = typeof reply.field === 'string' ? reply.field : null;
    this.detail = typeof reply.detail === 'string' ? reply.detail : '';
    this.reason = typeof reply.reason === 'string' ? reply.reason : null;
    this.folder = typeof reply.folder === 'string' ? reply.folder : '';
    this.entry = typeof reply.entry === 'string' ? reply.entry : '';
    this.ticket = typeof reply.ticket === 'string' ? reply.ticket : '';
    this.retryAfterSeconds = retryAfter ?? null;
  }
}
