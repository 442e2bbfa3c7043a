import { areCalm, calmText } from '../calm-windows.ts';
import { costTarget, factTarget, type Target } from '../target.ts';
import type { InstallFigure } from './measure-install.ts';
import type { UpdateFigure } from './measure-update.ts';

export interface PanelFigures {
  readonly install: InstallFigure;
  readonly update: UpdateFigure;
}

const MOST_TIMES = 1.5;
const MOST_LOOP_MS = 20;
const MOST_MEGABYTES = 100;
const MOST_AWAY_MS = 1000;

export function panelTargets({ install, update }: PanelFigures): Target[] {
  const { alone, beside, loopP99Ms, memoryMegabytes, megabytes, awayMs } = install;
  const meanwhile = `while a ZIP of ${megabytes.toFixed(0)} MB with 20,000 files is put in place`;
  const times = beside.p99Ms / alone.p99Ms;
  const detail = `${calmText(beside)}; without ${calmText(alone)}`;
  const memory: Target[] =
    memoryMegabytes === null
      ? []
      : [
          factTarget(
            'memory of the sidecar meanwhile',
            memoryMegabytes < MOST_MEGABYTES,
            `${memoryMegabytes.toFixed(0)} MB more`,
            `under ${MOST_MEGABYTES} MB more`,
          ),
        ];
  const delay = costTarget(`finds by key p99 ${meanwhile}, against without`, times, MOST_TIMES, detail);
  return [
    areCalm(alone, beside) ? delay : { ...delay, verdict: 'not judged' },
    factTarget(
      'event-loop delay p99 of the sidecar meanwhile',
      loopP99Ms < MOST_LOOP_MS,
      `${loopP99Ms.toFixed(1)} ms`,
      `under ${MOST_LOOP_MS} ms`,
    ),
    ...memory,
    factTarget(
      'a bundle of 200 files, from its stop to its start in the next version',
      awayMs < MOST_AWAY_MS,
      `${awayMs} ms`,
      `under ${MOST_AWAY_MS} ms`,
    ),
    factTarget(
      'lines of the game server lost by an update of the panel, at 200 a second',
      update.lost === 0 && update.twice === 0,
      `${update.lost} of ${update.lines}, ${update.twice} twice`,
      '0',
    ),
  ];
}

export function panelSection({ install, update }: PanelFigures): string {
  const { megabytes, seconds, alone, beside, loopP99Ms, memoryMegabytes, awayMs } = install;
  const memory = memoryMegabytes === null ? '' : `, ${memoryMegabytes.toFixed(0)} MB of memory more`;
  return `
## The panel's work beside the API

A ZIP of ${megabytes.toFixed(0)} MB with 20,000 files, uploaded, inspected and put in place again and again, ${seconds.toFixed(1)} s each time, beside 500
finds by key a second: p99 ${beside.p99Ms.toFixed(1)} ms, without it ${alone.p99Ms.toFixed(1)} ms; the sidecar's event loop late by ${loopP99Ms.toFixed(1)} ms (p99)${memory}.
A bundle of 200 files is away for ${awayMs} ms between its stop and its start in the next version. An update of the panel took
${update.seconds.toFixed(1)} s, and of ${update.lines.toLocaleString('en')} lines that the game server said meanwhile and around it, ${update.lost} were lost.
`;
}
