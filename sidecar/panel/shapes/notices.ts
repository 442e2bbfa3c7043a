export type NoticeLevel = 'info' | 'warning' | 'error';

/** Events that a target may list, each with its level. */
export const NOTICE_EVENTS = {
  'server.started': 'info',
  'server.stopped': 'info',
  'server.crashed': 'error',
  'server.hung': 'error',
  'server.restarted': 'warning',
  'server.gaveUp': 'error',
  'restart.announced': 'info',
  'restart.skipped': 'info',
  'restart.delayed': 'info',
  'restart.missed': 'warning',
  'backup.made': 'info',
  'backup.failed': 'error',
  'backup.missed': 'warning',
  'backup.drillFailed': 'error',
  'queue.halted': 'error',
  'queue.recovered': 'info',
  'queue.deadLetters': 'warning',
  'database.away': 'error',
  'database.back': 'info',
  'disk.low': 'error',
  'certificate.ending': 'warning',
  'key.ending': 'warning',
  'signIn.newAddress': 'info',
  'signIn.limit': 'warning',
  'account.changed': 'info',
  'update.available': 'info',
  'job.failed': 'warning',
  'notice.dropped': 'warning',
  'notice.targetOff': 'warning',
} as const satisfies Readonly<Record<string, NoticeLevel>>;

export type NoticeEvent = keyof typeof NOTICE_EVENTS;

/** Stands for all events, also those of later versions. */
export const ALL_EVENTS = '*';

/** Events of a new target: errors, crashes, restarts and backups. */
export const USUAL_EVENTS: readonly NoticeEvent[] = [
  ...(['server.crashed', 'server.hung', 'server.restarted', 'server.gaveUp'] as const),
  ...(['restart.skipped', 'restart.missed'] as const),
  ...(['backup.made', 'backup.failed', 'backup.missed', 'backup.drillFailed'] as const),
  ...(['queue.halted', 'database.away', 'disk.low'] as const),
];

export const NOTICE_KINDS = ['discord', 'webhook', 'command'] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

export const MOST_NOTICE_TARGETS = 20;
export const MAX_NOTICE_NAME_CHARS = 64;

/** Hours in which only errors are told, if these; what else happened follows at their end as one notice. */
export interface QuietHours {
  /** Local times, such as `23:00`. */
  readonly from: string;
  readonly to: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly errors: boolean;
}

/** Since the start of the panel. Times are ISO 8601 UTC with milliseconds. */
export interface NoticeTargetState {
  readonly lastOkAt: string | null;
  readonly lastTryAt: string | null;
  /** Never more of an address than its origin. */
  readonly lastError: string | null;
  readonly waiting: number;
  readonly dropped: number;
}

/** Target of `GET /api/notices`. Its URL and its secret are never shown. */
export interface NoticeTarget {
  readonly id: string;
  readonly name: string;
  readonly kind: NoticeKind;
  readonly enabled: boolean;
  /** Origin of its URL; empty for a command. */
  readonly origin: string;
  /** Line of a command, else empty. */
  readonly line: string;
  /** PEM, which alone is trusted; empty: the authorities of the system. */
  readonly ca: string;
  readonly events: readonly string[];
  readonly quiet: QuietHours | null;
  readonly locale: string;
  readonly state: NoticeTargetState;
}

export interface NoticesAnswer {
  readonly targets: readonly NoticeTarget[];
  readonly events: readonly NoticeEvent[];
}

/** `POST /api/notices/test` */
export interface NoticeTestResult {
  readonly delivered: boolean;
  /** Status of the answer, exit code of the command, or null. */
  readonly status: number | null;
  readonly ms: number;
  /** Begin of the answer. */
  readonly answer: string;
  readonly error: NoticeFault | null;
}

export type NoticeFault = 'private' | 'dns' | 'connect' | 'tls' | 'timeout' | 'redirect' | 'status' | 'exit' | 'spawn';
