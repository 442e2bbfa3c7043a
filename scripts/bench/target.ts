/** A figure beside its target: a row of the table at the end of `npm run bench`. */
export interface Target {
  readonly what: string;
  readonly figure: string;
  readonly atLeast: string;
  readonly verdict: 'met' | 'missed' | 'not judged';
}

export const count = (value: number): string => Math.round(value).toLocaleString('en');
export const ratioText = (value: number): string => value.toFixed(2);
const judge = (isMet: boolean): Target['verdict'] => (isMet ? 'met' : 'missed');

/** A ratio of costs: judged on a busy machine as well, which touches both sides alike. */
export function costTarget(what: string, ratio: number, most: number, detail = ''): Target {
  const figure = `${ratioText(ratio)}${detail === '' ? '' : ` (${detail})`}`;
  return { what, figure, atLeast: `${most} at most`, verdict: judge(ratio <= most) };
}

/** A ratio of speeds. */
export function speedTarget(what: string, ratio: number, least: number, detail: string, isQuiet: boolean): Target {
  const verdict = isQuiet ? judge(ratio >= least) : 'not judged';
  return { what, figure: `${ratioText(ratio)} (${detail})`, atLeast: `${least}`, verdict };
}

/** Calls a second: a busy machine says nothing about them. */
export function rateTarget(what: string, perSecond: number, least: number, isQuiet: boolean): Target {
  const verdict = isQuiet ? judge(perSecond >= least) : 'not judged';
  return { what, figure: `${count(perSecond)}/s`, atLeast: `${count(least)}/s`, verdict };
}

export function factTarget(what: string, isMet: boolean, figure: string, atLeast: string): Target {
  return { what, figure, atLeast, verdict: judge(isMet) };
}

export function notMeasured(what: string, reason: string): Target {
  return { what, figure: `not measured: ${reason}`, atLeast: '', verdict: 'not judged' };
}

export function targetTable(targets: readonly Target[]): string {
  const rows = targets.map(({ what, figure, atLeast, verdict }) => {
    const shown = verdict === 'missed' ? '**missed**' : verdict;
    return `| ${what} | ${figure} | ${atLeast} | ${shown} |`;
  });
  return ['| What | Figure | At least | Verdict |', '|---|---|---|---|', ...rows].join('\n');
}
