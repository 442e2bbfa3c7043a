export const BRIDGE_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type BridgeLevel = (typeof BRIDGE_LEVELS)[number];

/** `status` of `GET /api/bridge`. */
export interface BridgeStatus {
  readonly enabled: boolean;
  readonly port: number;
  readonly listening: boolean;
  /** Why it does not listen although it is to; null else. */
  readonly problem: string | null;
  /** Machines that have sent lines in the last five minutes. */
  readonly peers: number;
  /** Disk space for the kept lines. */
  readonly megabytes: number;
  readonly retentionDays: number;
  readonly maxMegabytes: number;
}

/** Entry of `tokens` in `GET /api/bridge/tokens`. The token itself is shown once, when it is made. */
export interface BridgeToken {
  readonly id: number;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}
