/** A piece of a line in one look. The look is classes only: the page's policy allows no inline style. */
export interface Span {
  readonly text: string;
  /** Names of classes with a space between; empty for plain text. */
  readonly classes: string;
}

/** A sequence of the terminal: CSI with its parameters and final letter, OSC and its like up to their end, any other. */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\u001b\[|\u009b)([0-9:;<=>?]*)[ -/]*([@-~])|\u001b[PX\]^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|\u001b[ -/]*[0-~]?|[\u009d\u0090\u0098\u009e\u009f][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)/g;

/** Invisible characters, and those that reverse the order of letters: a line must not pass for another. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSEEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Most lines have neither, and there are thousands of them a second. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const PECULIAR = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** Beyond it a line goes on in its last look: no line is worth ten thousand elements. */
const MAX_SPANS = 100;

interface Look {
  foreground: number | null;
  background: number | null;
  readonly styles: Set<string>;
}

const STYLES: Readonly<Record<number, string>> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 9: 'strike' };
const STYLES_OFF: Readonly<Record<number, readonly string[]>> = {
  21: ['bold'],
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
};

/** The line as people read it: without colours, everything invisible made visible. */
export function plainText(text: string): string {
  return PECULIAR.test(text) ? visible(text.replace(SEQUENCE, '')) : text;
}

/** The pieces of a line in their looks. Their texts together are `plainText(text)`. */
export function parseSgr(text: string): Span[] {
  if (!PECULIAR.test(text)) return text === '' ? [] : [{ text, classes: '' }];
  const spans: Span[] = [];
  const look: Look = { foreground: null, background: null, styles: new Set() };
  let classes = '';
  let from = 0;
  for (const match of text.matchAll(SEQUENCE)) {
    addSpan(spans, text.slice(from, match.index), classes);
    from = match.index + match[0].length;
    if (match[2] === 'm' && match[1] !== undefined) {
      applyParameters(look, match[1]);
      classes = classesOf(look);
    }
  }
  addSpan(spans, text.slice(from), classes);
  return spans;
}

function addSpan(spans: Span[], text: string, classes: string): void {
  if (text === '') return;
  const shown = visible(text);
  const last = spans.at(-1);
  if (last !== undefined && (last.classes === classes || spans.length >= MAX_SPANS)) {
    spans[spans.length - 1] = { text: last.text + shown, classes: last.classes };
  } else {
    spans.push({ text: shown, classes });
  }
}

function visible(text: string): string {
  return text.replaceAll('\t', '    ').replace(UNSEEN, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

function applyParameters(look: Look, parameters: string): void {
  const codes = parameters.split(';');
  for (let index = 0; index < codes.length; index++) {
    const [code, ...parts] = (codes[index] ?? '').split(':').map(Number);
    if (code === 38 || code === 48) {
      const rest = parts.length > 0 ? parts : codes.slice(index + 1, index + 5).map(Number);
      const colour = extendedColour(rest, parts.length > 0);
      if (parts.length === 0) index += rest[0] === 5 ? 2 : rest[0] === 2 ? 4 : 0;
      if (code === 38) look.foreground = colour;
      else look.background = colour;
    } else {
      applyCode(look, code ?? 0);
    }
  }
}

/** `5;n` of the table of 256, `2;r;g;b`; with colons the latter may name a colour space before the red. */
function extendedColour(parts: readonly number[], colons: boolean): number | null {
  if (parts[0] === 5) return nearestColour(parts[1] ?? Number.NaN);
  if (parts[0] !== 2) return null;
  const [red, green, blue] = colons && parts.length > 4 ? parts.slice(2) : parts.slice(1);
  return nearestColour([red ?? 0, green ?? 0, blue ?? 0]);
}

function applyCode(look: Look, code: number): void {
  const style = STYLES[code];
  if (code === 0) {
    look.foreground = null;
    look.background = null;
    look.styles.clear();
  } else if (code === 7) look.styles.add('inverse');
  else if (style !== undefined) look.styles.add(style);
  else if (code >= 30 && code <= 37) look.foreground = code - 30;
  else if (code >= 90 && code <= 97) look.foreground = code - 90 + PALETTE_SIZE / 2;
  else if (code === 39) look.foreground = null;
  else if (code >= 40 && code <= 47) look.background = code - 40;
  else if (code >= 100 && code <= 107) look.background = code - 100 + PALETTE_SIZE / 2;
  else if (code === 49) look.background = null;
  else for (const name of STYLES_OFF[code] ?? []) look.styles.delete(name);
}

/** Backgrounds are tints on which every text colour can be read, so inverse is a tint of the text's colour. */
function classesOf(look: Look): string {
  const inverse = look.styles.has('inverse');
  const background = inverse ? (look.foreground ?? 7) : look.background;
  return [
    ...(look.foreground !== null && !inverse ? [`fg-${look.foreground}`] : []),
    ...(background !== null ? [`bg-${background}`] : []),
    ...[...look.styles].filter((name) => name !== 'inverse').map((name) => `sgr-${name}`),
  ].join(' ');
}

const PALETTE_SIZE = 16;

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

/** Nearest of the sixteen colours to a number of the table of 256, or to red, green and blue; null if it is no colour. */
function nearestColour(colour: number | Rgb): number | null {
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
