import type { CrashRecord } from '../shapes/crashes.ts';
import { describeExit } from './describe-run.ts';

/** A record as a text to send to somebody who can read it. */
export function describeCrash(crash: CrashRecord): string {
  const { exit, failure, lines, actions, changes, starting } = crash;
  return [
    `Crash ${crash.id} of the game server, ${crash.time}`,
    describeExit({ ...exit, failure, isAsked: false }),
    `Started: ${crash.startedAt ?? 'not known'}${crash.wasUp ? '' : '; it had not come up yet'}`,
    `Bundles that were starting: ${starting.join(', ') || 'none'}`,
    ...section('Changed since the last good run', changes === null ? ['not known'] : changes),
    ...section(
      'Last actions of accounts (newest first)',
      actions.map(({ time, username, action, subject, result }) => [time, username, action, subject, result].join(' ')),
    ),
    ...section(
      'Last lines of the console',
      lines.map(({ seq, time, stream, text }) => `${seq} ${time} ${stream} ${text}`),
    ),
    '',
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', `${title}:`, ...(lines.length === 0 ? ['none'] : lines).map((line) => `  ${line}`)];
}
