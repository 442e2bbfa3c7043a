import * as z from 'zod';

/** A JSON value of the document; OpenAPI 3.1 uses JSON Schema 2020-12 as it is. */
export type Node = { readonly [name: string]: unknown };

interface Converted extends Node {
  readonly $schema?: string;
  readonly $defs?: Record<string, Node>;
  readonly id?: string;
}

/** The JSON Schema of a zod schema; parts with an id of their own are moved into `components`. */
export function toJsonSchema(schema: z.ZodType, components: Record<string, Node>): Node {
  const converted = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Content with a reader of its own says itself what it takes (payloads.ts).
      const own: unknown = jsonSchema.jsonSchema;
      if (typeof own === 'object' && own !== null) {
        delete jsonSchema.jsonSchema;
        Object.assign(jsonSchema, own);
      }
    },
  });
  const { $schema: _dialect, $defs = {}, id, ...rest } = moved(converted) as Converted;
  for (const [name, definition] of Object.entries($defs)) components[name] = withoutId(definition);
  if (typeof id !== 'string') return rest;
  components[id] = rest;
  return componentRef(id);
}

export function componentRef(name: string): Node {
  return { $ref: `#/components/schemas/${name}` };
}

function withoutId({ id: _id, ...rest }: Node): Node {
  return rest;
}

function moved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moved);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === '$ref' && typeof member === 'string'
        ? member.replace('#/$defs/', '#/components/schemas/')
        : moved(member),
    ]),
  );
}

/** A string that is JSON text of its own. */
export function jsonText(contentSchema: Node, description: string): Node {
  return { type: 'string', contentMediaType: 'application/json', contentSchema, description };
}
