/** A lock that was not renewed for so long belongs to a sidecar that is gone (contract section 6). */
export const LOCK_LIFETIME_MS = 10_000;
