import { ERROR_STATUS, type ErrorKey, type FolderProblem } from './shapes/error-keys.ts';

export interface ErrorDetails {
  /** Which field of the document is at fault. */
  readonly field?: string;
  /** What exactly, in English, for fields whose key says too little: never a secret. */
  readonly detail?: string;
  /** Code of `detail`, for which pages have a text in each language. */
  readonly reason?: FolderProblem;
  /** The folder that the text of `reason` names. */
  readonly folder?: string;
  readonly retryAfterSeconds?: number;
  /** Methods that the path has. */
  readonly allow?: string;
}

/** A refusal: services throw it, `http/` alone makes an answer of it. */
export class PanelError extends Error {
  readonly key: ErrorKey;
  readonly details: ErrorDetails;

  constructor(key: ErrorKey, details: ErrorDetails = {}) {
    super(details.detail ?? key);
    this.name = 'PanelError';
    this.key = key;
    this.details = details;
  }

  get status(): number {
    return ERROR_STATUS[this.key];
  }
}
