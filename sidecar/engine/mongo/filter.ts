import type { Document } from 'mongodb';
import type { Column } from '#protocol/columns.ts';
import type { ComparisonOp, Filter } from '#protocol/filter.ts';
import type { Value } from '#protocol/values.ts';
import { endOfPrefix } from '../model/text-prefix.ts';
import { fieldOf, toBson } from './documents.ts';

const OPPOSITE = { eq: 'ne', ne: 'eq', gt: 'lte', gte: 'lt', lt: 'gte', lte: 'gt' } as const satisfies Record<
  ComparisonOp,
  ComparisonOp
>;

export const NOTHING: Document = { _id: { $in: [] } };

/** What a document must be like for the filter to be true; null matches all. */
export function matchOf(filter: Filter | null): Document {
  return filter === null ? {} : match(filter, false);
}

/** All of them; few, since MongoDB plans better with less around. */
export function allOf(conditions: readonly Document[]): Document {
  const said = conditions.filter((condition) => Object.keys(condition).length > 0);
  const [first = {}] = said;
  return said.length < 2 ? first : { $and: said };
}

/**
 * Where the filter is true or, negated, false. Negation goes down to the conditions (De Morgan), each of which is neither
 * where its column is NULL: that is SQL's three-valued logic, which MongoDB's own `$not` and `$nor` lack.
 */
function match(filter: Filter, negated: boolean): Document {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const members = filter.filters.map((member) => match(member, negated));
      return (filter.kind === 'and') === negated ? { $or: members } : { $and: members };
    }
    case 'not':
      return match(filter.filter, !negated);
    case 'compare':
      return comparison(filter.column, negated ? OPPOSITE[filter.op] : filter.op, filter.value);
    case 'in': {
      const values = filter.values.map((value) => bsonOf(filter.column, value));
      // NULL is in no list here, and not outside of one either.
      return condition(filter.column, filter.negated === negated ? { $in: values } : { $nin: [...values, null] });
    }
    case 'null':
      return condition(filter.column, { $exists: filter.negated !== negated });
    case 'text':
      return filter.op === 'startsWith' ? startsWith(filter, negated) : contains(filter, negated);
    case 'constant':
      return filter.value === negated ? NOTHING : condition(filter.column, { $exists: true });
    default:
      return filter satisfies never;
  }
}

function condition(column: Column, operators: Document): Document {
  return { [fieldOf(column.name)]: operators };
}

function bsonOf(column: Column, value: Value) {
  return value === null ? null : toBson(column, value);
}

function comparison(column: Column, op: ComparisonOp, value: Value): Document {
  const operand = bsonOf(column, value);
  return condition(column, op === 'ne' ? { $nin: [operand, null] } : { [`$${op}`]: operand });
}

/** A range, which an index serves. */
function startsWith({ column, value }: Filter & { readonly kind: 'text' }, negated: boolean): Document {
  const end = endOfPrefix(value);
  if (!negated) return condition(column, end === null ? { $gte: value } : { $gte: value, $lt: end });
  const below = condition(column, { $lt: value });
  return end === null ? below : { $or: [below, condition(column, { $gte: end })] };
}

/** Bytes are compared as they are, and of any length; a pattern of a regular expression may be 32 KiB at most. */
function contains({ column, value }: Filter & { readonly kind: 'text' }, negated: boolean): Document {
  const position = { $indexOfBytes: [`$${fieldOf(column.name)}`, { $literal: value }] };
  // NULL has the position NULL, which is neither.
  return { $expr: negated ? { $eq: [position, -1] } : { $gte: [position, 0] } };
}
