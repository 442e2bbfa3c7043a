export const PALETTE_SIZE = 16;

type Rgb = readonly [number, number, number];

/** The sixteen colours of xterm. What is shown are the theme's colours of the same names, which can be read on its ground. */
const XTERM: readonly Rgb[] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
];

/** The one of the sixteen that is nearest to a number of the table of 256, or to red, green and blue; null where it is none. */
export function nearestColour(colour: number | Rgb): number | null {
  if (typeof colour !== 'number') return colour.every(isByte) ? nearest(colour) : null;
  if (!isByte(colour)) return null;
  if (colour < PALETTE_SIZE) return colour;
  if (colour >= 232) return nearest([8 + 10 * (colour - 232), 8 + 10 * (colour - 232), 8 + 10 * (colour - 232)]);
  const cube = colour - 16;
  return nearest([level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)]);
}

function isByte(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 255;
}

function level(step: number): number {
  return step === 0 ? 0 : 55 + 40 * step;
}

function nearest([red, green, blue]: Rgb): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, [r, g, b]] of XTERM.entries()) {
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
    if (distance < least) {
      least = distance;
      best = index;
    }
  }
  return best;
}
