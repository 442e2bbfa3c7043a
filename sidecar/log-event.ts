/**
 * Codes in the field `event` of those log lines that another part of the program reads. The text of a line is for people
 * and may change; a code may not. (The texts `listening` and `setup key` are codes by contract, section 1.)
 */
export const LOG_EVENT = {
  /** A failure that was logged before is over. Shown to the owner although its level is info. */
  recovered: 'recovered',
  /** A file of the first start. */
  fileMade: 'file-made',
  /** A line of the game server's console. */
  consoleLine: 'console-line',
  /** When backups are made, and where. */
  backupPlan: 'backup-plan',
  backupMade: 'backup-made',
  /** A backup that was not made, or could not be sent. */
  backupFailed: 'backup-failed',
  drillFailed: 'drill-failed',
  /** A request of the API or the panel. */
  request: 'request',
  /** A count of requests that have no line of their own. */
  requestsCounted: 'requests-counted',
} as const;
