import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendItem, removeItem, removeProperty, setProperty } from '#sidecar/config/json-edit.ts';

/** Owners write JSON in their own way; what a command does not change stays as they wrote it. */

const json = fc.jsonValue({ maxDepth: 2 });
const object = fc.dictionary(
  fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
  json,
  { maxKeys: 4 },
);
const file = fc.record({ before: json, keys: fc.array(object, { maxLength: 4 }), after: json });
const indent = fc.constantFrom(undefined, 2, 4, '\t');

describe('a changed text', () => {
  it('reads as the changed value, whatever its form', () => {
    fc.assert(
      fc.property(file, indent, object, fc.nat(3), (root, space, added, at) => {
        const text = JSON.stringify(root, null, space);
        const { keys } = JSON.parse(text) as { keys: Record<string, unknown>[] };
        const item = JSON.parse(JSON.stringify(added)) as Record<string, unknown>;
        const parsed = (changed: string) => (JSON.parse(changed) as { keys: unknown }).keys;
        expect(parsed(appendItem(text, ['keys'], item))).toEqual([...keys, item]);
        if (keys.length === 0) return;
        const index = at % keys.length;
        expect(parsed(removeItem(text, ['keys'], index))).toEqual(keys.toSpliced(index, 1));
        const changed = keys.with(index, { ...keys[index], kid: 'x' });
        expect(parsed(setProperty(text, ['keys', index], 'kid', 'x'))).toEqual(changed);
        const [name] = Object.keys(keys[index] ?? {});
        if (name === undefined) return;
        const { [name]: _, ...rest } = keys[index] ?? {};
        expect(parsed(removeProperty(text, ['keys', index], name))).toEqual(keys.with(index, rest));
      }),
    );
  });

  it('gives back every byte when what was added is taken away', () => {
    fc.assert(
      fc.property(file, indent, object, (root, space, added) => {
        fc.pre(root.keys.length > 0);
        const text = JSON.stringify(root, null, space);
        const item = JSON.parse(JSON.stringify(added)) as Record<string, unknown>;
        expect(removeItem(appendItem(text, ['keys'], item), ['keys'], root.keys.length)).toBe(text);
      }),
    );
  });

  it('takes the form that stands around it', () => {
    const text = '{\n    "keys": [\n        {"kid": "a",  "operations": ["*"]}\n    ],\n\n    "x":1 }\n';
    expect(appendItem(text, ['keys'], { kid: 'b', list: [] })).toBe(
      '{\n    "keys": [\n        {"kid": "a",  "operations": ["*"]},\n        { "kid": "b", "list": [] }\n    ],\n\n    "x":1 }\n',
    );
    const tall = '{\n  "keys": [\n    {\n      "kid": "a"\n    }\n  ]\n}\n';
    expect(appendItem(tall, ['keys'], { kid: 'b' })).toBe(
      '{\n  "keys": [\n    {\n      "kid": "a"\n    },\n    {\n      "kid": "b"\n    }\n  ]\n}\n',
    );
    expect(setProperty(tall, ['keys', 0], 'until', 'x')).toBe(
      '{\n  "keys": [\n    {\n      "kid": "a",\n      "until": "x"\n    }\n  ]\n}\n',
    );
  });
});
