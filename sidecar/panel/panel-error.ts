import { ERROR_STATUS, type ErrorKey, type FolderProblem } from './shapes/error-keys.ts';
import type { EditedBundle } from './shapes/installs.ts';
import type { FactorKind } from './shapes/second-factor.ts';

export interface ErrorDetails {
  /** Field of the document at fault. */
  readonly field?: string;
  /** Exact reason in English for keys that say too little; never a secret. */
  readonly detail?: string;
  /** Code of `detail`, for which pages have a text in each language. */
  readonly reason?: FolderProblem;
  /** The folder that the text of `reason` names. */
  readonly folder?: string;
  /** Bundles that the refusal names, with their files. */
  readonly bundles?: readonly EditedBundle[];
  /** Entry of an archive, a tree or a folder at fault. */
  readonly entry?: string;
  /** Files of a project that the refusal names. */
  readonly paths?: readonly string[];
  /** Ticket of a sign-in that goes on with a code of one of `kinds`. */
  readonly ticket?: string;
  readonly kinds?: readonly FactorKind[];
  readonly retryAfterSeconds?: number;
  /** Methods that the path has. */
  readonly allow?: string;
}

/** Refusal that services throw; only `http/` turns it into an answer. */
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
