/** A part of a JSON text: from the first character of a value to after its last one. */
interface Span {
  readonly start: number;
  readonly end: number;
}

interface Member {
  /** Name of a property; null in a list. */
  readonly name: string | null;
  /** With its name. */
  readonly whole: Span;
  readonly value: Span;
}

type Path = readonly (string | number)[];

/**
 * Changes of a JSON text that leave everything else as its owner has written it. The text must be well-formed JSON, and
 * the path lead to what the function says.
 */
export function setProperty(text: string, path: Path, name: string, value: unknown): string {
  const object = spanAt(text, path);
  const members = membersOf(text, object.start);
  const found = members.find((member) => member.name === name);
  if (found !== undefined) return splice(text, found.value, JSON.stringify(value));
  return append(text, object, members, `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
}

export function removeProperty(text: string, path: Path, name: string): string {
  const members = membersOf(text, spanAt(text, path).start);
  const index = members.findIndex((member) => member.name === name);
  return index < 0 ? text : remove(text, members, index);
}

/** Puts `value` at the end of a list, in the form of the member before it. */
export function appendItem(text: string, path: Path, value: Readonly<Record<string, unknown>>): string {
  const list = spanAt(text, path);
  const members = membersOf(text, list.start);
  const last = members.at(-1);
  const isOneLine = last !== undefined && !text.slice(last.value.start, last.value.end).includes('\n');
  if (isOneLine) return append(text, list, members, oneLine(value));
  const outer = indentationAt(text, last?.whole.start ?? list.start);
  const inner = last === undefined ? `${outer}  ` : outer;
  const lines = JSON.stringify(value, null, innerStep(text, last, outer)).split('\n');
  return append(text, list, members, lines.join(`\n${inner}`));
}

export function removeItem(text: string, path: Path, index: number): string {
  return remove(text, membersOf(text, spanAt(text, path).start), index);
}

function oneLine(value: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${JSON.stringify(item)}`);
  return `{ ${members.join(', ')} }`;
}

/** How much deeper the properties of the item before stand. */
function innerStep(text: string, last: Member | undefined, outer: string): string {
  const [first] = last === undefined ? [] : membersOf(text, last.value.start);
  return first === undefined ? '  ' : indentationAt(text, first.whole.start).slice(outer.length) || '  ';
}

function append(text: string, container: Span, members: readonly Member[], added: string): string {
  const last = members.at(-1);
  if (last === undefined) return splice(text, { start: container.start + 1, end: container.end - 1 }, added);
  const before = text.slice(lastBreak(text, members, container), last.whole.start);
  const gap = /\n/.test(before) ? `\n${indentationAt(text, last.whole.start)}` : ' ';
  return splice(text, { start: last.whole.end, end: last.whole.end }, `,${gap}${added}`);
}

/** Where the white space before the last member begins. */
function lastBreak(text: string, members: readonly Member[], container: Span): number {
  const before = members.at(-2);
  return before === undefined ? container.start + 1 : text.indexOf(',', before.whole.end) + 1;
}

function remove(text: string, members: readonly Member[], index: number): string {
  const { whole } = members[index] as Member;
  const before = members[index - 1];
  const after = members[index + 1];
  if (before !== undefined) return splice(text, { start: before.whole.end, end: whole.end }, '');
  return splice(text, { start: whole.start, end: after?.whole.start ?? whole.end }, '');
}

function splice(text: string, { start, end }: Span, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

function indentationAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function spanAt(text: string, path: Path): Span {
  let start = blank(text, 0);
  for (const step of path) {
    const members = membersOf(text, start);
    const member = typeof step === 'number' ? members[step] : members.find(({ name }) => name === step);
    if (member === undefined) throw new Error(`${String(step)} is not in the text`);
    start = member.value.start;
  }
  return { start, end: endOf(text, start) };
}

/** Members of the list or object that begins at `start`. */
function membersOf(text: string, start: number): Member[] {
  const members: Member[] = [];
  const isObject = text[start] === '{';
  let at = blank(text, start + 1);
  while (text[at] !== '}' && text[at] !== ']') {
    const first = at;
    let name: string | null = null;
    if (isObject) {
      const end = endOf(text, at);
      name = JSON.parse(text.slice(at, end)) as string;
      at = blank(text, blank(text, end) + 1);
    }
    const value = { start: at, end: endOf(text, at) };
    members.push({ name, value, whole: { start: first, end: value.end } });
    at = blank(text, value.end);
    if (text[at] === ',') at = blank(text, at + 1);
  }
  return members;
}

/** After the value that begins at `start`. */
function endOf(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first !== '{' && first !== '[') return (/[\s,\]}]|$/.exec(text.slice(start))?.index as number) + start;
  const last = membersOf(text, start).at(-1);
  return blank(text, last?.whole.end ?? start + 1) + 1;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function blank(text: string, from: number): number {
  let at = from;
  while (/[\s\uFEFF]/.test(text[at] ?? '')) at += 1;
  return at;
}
