/** Cost of a kind of call, as a share of the cost of what owners have today. */
export interface CostRow {
  readonly what: string;
  readonly bars: readonly { readonly name: string; readonly ratio: number }[];
}

const WIDTH = 720;
const LABEL_WIDTH = 190;
const VALUE_WIDTH = 46;
const BAR = 16;
const ROW_GAP = 18;
const TOP = 62;
const LEGEND_STEP = 170;
/** Legible on light and dark, and told apart without colours by their order. */
const COLOURS = ['#2f6fb7', '#1f9d8a', '#b3742c'] as const;
const STYLE = `text{font:13px system-ui,sans-serif;fill:#24292f}.value{font-size:12px}.base{stroke:#8a6d00;stroke-width:1.5;stroke-dasharray:5 3}
.title{font-weight:600}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.base{stroke:#e3b341}}`;

/** Horizontal bars, and a line at 1: the cost of the driver in the game's thread. */
export function costPlot(title: string, base: string, rows: readonly CostRow[]): string {
  const names = [...new Set(rows.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  const most = Math.max(1, ...rows.flatMap(({ bars }) => bars.map(({ ratio }) => ratio)));
  const scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / most;
  const shapes: string[] = [];
  let y = TOP;
  for (const { what, bars } of rows) {
    shapes.push(text(0, y + (bars.length * BAR) / 2 + 4, what));
    for (const { name, ratio } of bars) {
      const width = (ratio * scale).toFixed(1);
      const colour = COLOURS[names.indexOf(name) % COLOURS.length];
      shapes.push(`<rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR - 3}" fill="${colour}"/>`);
      shapes.push(text(LABEL_WIDTH + ratio * scale + 5, y + BAR - 6, ratio.toFixed(2), 'value'));
      y += BAR;
    }
    y += ROW_GAP;
  }
  const lineX = (LABEL_WIDTH + scale).toFixed(1);
  const line = `<line class="base" x1="${lineX}" y1="${TOP - 6}" x2="${lineX}" y2="${y - ROW_GAP + 6}"/>`;
  const summary = rows.map(
    ({ what, bars }) => `${what}: ${bars.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`).join(', ')}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(`${base} is 1. ${summary.join('; ')}.`)}</desc>
<style>${STYLE}</style>
${text(0, 16, title, 'title')}
${legend(names, base)}
${line}
${shapes.join('\n')}
</svg>
`;
}

function legend(names: readonly string[], base: string): string {
  const keys = names.map((name, index) => {
    const x = index * LEGEND_STEP;
    return `<rect x="${x}" y="28" width="12" height="12" fill="${COLOURS[index % COLOURS.length]}"/>${text(x + 17, 39, name)}`;
  });
  const x = names.length * LEGEND_STEP;
  return [...keys, `<line class="base" x1="${x}" y1="34" x2="${x + 14}" y2="34"/>${text(x + 19, 39, base)}`].join('\n');
}

function text(x: number, y: number, content: string, kind = ''): string {
  const attribute = kind === '' ? '' : ` class="${kind}"`;
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${attribute}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
