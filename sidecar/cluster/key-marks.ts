import { isJsonObject, parseJson } from '#protocol/json.ts';
import type { Engine } from '../engine/engine.ts';
import type { CallBounds } from '../engine/rows.ts';
import type { KeyRow } from '../security/keyring.ts';

/** Fingerprints of the secrets that a sidecar accepts, by key: the present one, and one from before a rotation. */
export type KeyMarks = ReadonlyMap<string, readonly string[]>;

type Marks = { readonly transfer: Pick<Engine['transfer'], 'readMark' | 'writeMark'> };

/** No request has this text, so its signature signs none. */
const SIGNED_TEXT = 'fingerprint';
/** 48 bits tell two secrets apart, and too little for a search for one. */
const FINGERPRINT_CHARS = 8;

const nameOf = (instance: string): string => `sidecar_keys:${instance}`;

export function keyMarks(keys: readonly KeyRow[]): KeyMarks {
  return new Map(
    keys.map(({ kid, secret, previous }) => {
      const secrets = previous === null ? [secret] : [secret, previous.secret];
      return [kid, secrets.map((each) => each.sign(SIGNED_TEXT).slice(0, FINGERPRINT_CHARS))];
    }),
  );
}

/** Null takes them away. */
export function writeKeyMarks(
  engine: Marks,
  instance: string,
  marks: KeyMarks | null,
  bounds: CallBounds,
): Promise<void> {
  const text = marks === null ? null : JSON.stringify(Object.fromEntries(marks));
  return engine.transfer.writeMark(nameOf(instance), text, bounds);
}

/** Null for a sidecar that has told none, as one of an older version. */
export async function readKeyMarks(engine: Marks, instance: string, bounds: CallBounds): Promise<KeyMarks | null> {
  const text = await engine.transfer.readMark(nameOf(instance), bounds);
  const json = text === null ? null : parseJson(text);
  if (!isJsonObject(json)) return null;
  return new Map(Object.entries(json).map(([kid, marks]) => [kid, Array.isArray(marks) ? marks.map(String) : []]));
}

/** Keys whose requests one of two sidecars would refuse: it lacks the key, or the present secret of the other one. */
export function unequalKeys(own: KeyMarks, other: KeyMarks): string[] {
  const kids = new Set([...own.keys(), ...other.keys()]);
  return [...kids].filter((kid) => {
    const [ours, theirs] = [own.get(kid) ?? [], other.get(kid) ?? []];
    return !accepts(ours, theirs) || !accepts(theirs, ours);
  });
}

function accepts(accepted: readonly string[], [present]: readonly string[]): boolean {
  return present !== undefined && accepted.includes(present);
}
