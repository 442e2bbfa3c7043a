import { indexBytes, stringBytes } from '#protocol/columns.ts';
import type { Json, JsonObject } from '#protocol/json.ts';
import { MAX_INDEX_BYTES, MAX_INDEX_COLUMNS, MAX_STRING_BYTES_OF_TABLE, MAX_TABLE_INDEXES } from '#protocol/limits.ts';
import { parseColumn } from '#protocol/schema-column.ts';
import { SchemaReader } from '#protocol/schema-reader.ts';
import { newNames } from './new-names.ts';
import type { Note } from './proposal.ts';
import { count, proposeColumn } from './propose-column.ts';
import { type ColumnFacts, primaryKeyOf, type SourceIndex, type SourceTable, type TableFacts } from './source.ts';

export interface ProposedTable {
  readonly json: JsonObject;
  /** New names by old ones, of all columns. */
  readonly names: ReadonlyMap<string, string>;
  readonly notes: readonly Note[];
}

/** Proposed table for a source table, and the reasons for every difference. Pure. */
export function proposeTable(source: SourceTable, name: string, facts: TableFacts): ProposedTable {
  return new TableProposal(source, facts).propose(name);
}

class TableProposal {
  readonly #source: SourceTable;
  readonly #facts: TableFacts;
  readonly #names: ReadonlyMap<string, string>;
  readonly #notes: Note[] = [];
  #columns: JsonObject[] = [];

  constructor(source: SourceTable, facts: TableFacts) {
    this.#source = source;
    this.#facts = facts;
    this.#names = newNames(
      'column',
      source.columns.map((column) => column.name),
    );
  }

  propose(name: string): ProposedTable {
    const { counter, key, others } = this.#keys();
    const indexed = new Set([...(key ?? []), ...others.flatMap((index) => index.columns)]);
    this.#proposeColumns(counter, key ?? [], indexed);
    const primaryKey = key !== null && this.#fits(key, 'the primary key') ? key : null;
    const singles = others.filter((index) => index.isUnique && index.columns.length === 1);
    for (const { columns } of singles) this.#makeUnique(columns[0] ?? '');
    const indexes = this.#indexes(others.filter((index) => !singles.includes(index)));
    this.#shortenRow(indexed);
    for (const check of this.#source.checks) this.#note(null, `CHECK ${check}: not checked any more`);
    const json: JsonObject = {
      name,
      ...(primaryKey === null ? {} : { primaryKey: primaryKey.map((column) => this.#newName(column)) }),
      columns: this.#columns,
      ...(indexes.length === 0 ? {} : { indexes }),
    };
    return { json, names: this.#names, notes: this.#notes };
  }

  /** A column that counts must be the whole key here; the old key stays unique. */
  #keys(): { counter: string | null; key: readonly string[] | null; others: SourceIndex[] } {
    const primary = primaryKeyOf(this.#source);
    const others = this.#source.indexes.filter((index) => index !== primary && this.#isCarried(index));
    const counter = this.#source.columns.find((column) => column.isAutoIncrement)?.name ?? null;
    const key = primary?.columns ?? null;
    if (primary !== null && primary.prefixed.length > 0) {
      this.#note(
        null,
        `the primary key counts the first characters of ${primary.prefixed.join(', ')}: the whole value counts here`,
      );
    }
    if (counter === null || (key?.length === 1 && key[0] === counter)) return { counter, key, others };
    const { values, distinct } = this.#factsOf(counter);
    if (values !== this.#facts.rows || distinct !== this.#facts.rows) {
      this.#note(counter, 'AUTO_INCREMENT, but not the primary key and not unique: nothing numbers new rows');
      return { counter: null, key, others };
    }
    const old =
      key === null ? [] : [{ name: 'old_primary_key', columns: key, prefixed: [], isUnique: true, isOrdered: true }];
    this.#note(
      counter,
      key === null
        ? 'AUTO_INCREMENT: the primary key'
        : `AUTO_INCREMENT, so it becomes the primary key; ${key.join(', ')}, the old one, stays unique`,
    );
    return { counter, key: [counter], others: [...others.filter((index) => !isOver(index, [counter])), ...old] };
  }

  #isCarried(index: SourceIndex): boolean {
    if (!index.isOrdered) {
      this.#note(null, `index ${index.name}: a search or expression index, left out`);
      return false;
    }
    const isText = index.columns.some((name) => this.#isLongText(name));
    if (!index.isUnique && isText) {
      this.#note(null, `index ${index.name} over the first characters of a text: left out`);
      return false;
    }
    if (index.prefixed.length > 0) {
      this.#note(
        null,
        `index ${index.name} counts the first characters of ${index.prefixed.join(', ')}: the whole value counts here`,
      );
    }
    return true;
  }

  #isLongText(name: string): boolean {
    const column = this.#source.columns.find((candidate) => candidate.name === name);
    return /text|blob|json/.test(column?.dataType ?? '');
  }

  #proposeColumns(counter: string | null, key: readonly string[], indexed: ReadonlySet<string>): void {
    this.#columns = this.#source.columns.map((source) => {
      const use = {
        name: this.#newName(source.name),
        isKey: key.includes(source.name),
        isIndexed: indexed.has(source.name),
      };
      const { json, notes } = proposeColumn(source, this.#factsOf(source.name), use);
      for (const text of notes) this.#note(source.name, text);
      this.#noteTwins(source.name);
      if (source.isAutoIncrement && source.name !== counter) return { ...json, nullable: true };
      if (source.name !== counter) return json;
      if (json.type === 'int32' || json.type === 'int64') return { ...json, autoIncrement: true };
      this.#note(source.name, `AUTO_INCREMENT, which counts no ${String(json.type)} here: nothing numbers new rows`);
      return json;
    });
  }

  #noteTwins(name: string): void {
    const { distinct, distinctBytes } = this.#factsOf(name);
    const column = this.#source.columns.find((candidate) => candidate.name === name);
    if (distinctBytes <= distinct || column?.collation === null) return;
    this.#note(
      name,
      `${count(distinctBytes - distinct, 'spelling')} beyond the first that only case, accents or trailing spaces tell from another: one and the same value to MySQL, different ones here`,
    );
  }

  #makeUnique(name: string): void {
    if (!this.#fits([name], `the unique ${name}`)) return;
    this.#columns = this.#columns.map((json) => (json.name === this.#newName(name) ? { ...json, unique: true } : json));
  }

  #indexes(indexes: readonly SourceIndex[]): JsonObject[] {
    const names = newNames(
      'column',
      indexes.map((index) => index.name),
    );
    const fitting = indexes.filter((index) => this.#fits(index.columns, `index ${index.name}`));
    for (const index of fitting.slice(MAX_TABLE_INDEXES))
      this.#note(null, `index ${index.name}: one too many, left out`);
    return fitting.slice(0, MAX_TABLE_INDEXES).map(
      (index): JsonObject => ({
        name: names.get(index.name) ?? index.name,
        columns: index.columns.map((column): Json => this.#newName(column)),
        ...(index.isUnique ? { unique: true } : {}),
      }),
    );
  }

  #fits(columns: readonly string[], what: string): boolean {
    const unfit = columns.find((name) => /^(text|json|bytes)$/.test(this.#parsed(name).type));
    if (unfit !== undefined) {
      this.#note(null, `${what}: ${unfit} is too long for an index: left out`);
      return false;
    }
    const bytes = columns.reduce((sum, name) => sum + indexBytes(this.#parsed(name)), 0);
    if (bytes <= MAX_INDEX_BYTES && columns.length <= MAX_INDEX_COLUMNS) return true;
    this.#note(null, `${what}: ${bytes} bytes wide, of ${MAX_INDEX_BYTES} that every engine carries: left out`);
    return false;
  }

  /** The longest strings that stand in no index become text, until a row is as short as every engine needs it. */
  #shortenRow(indexed: ReadonlySet<string>): void {
    const kept = new Set([...indexed].map((name) => this.#newName(name)));
    const bytesOf = (json: JsonObject): number => stringBytes(parsed(json));
    const widest = this.#columns
      .filter((json) => !kept.has(String(json.name)))
      .toSorted((a, b) => bytesOf(b) - bytesOf(a));
    for (const wide of widest) {
      if (this.#columns.reduce((sum, json) => sum + bytesOf(json), 0) <= MAX_STRING_BYTES_OF_TABLE) return;
      const { length: _, ...rest } = wide;
      this.#columns = this.#columns.map((json) => (json === wide ? { ...rest, type: 'text' } : json));
      this.#note(null, `${String(wide.name)}: text without a length, because the row would be too wide`);
    }
  }

  #parsed(name: string) {
    const json = this.#columns.find((candidate) => candidate.name === this.#newName(name));
    if (json === undefined) throw new Error(`column ${name} was not proposed`);
    return parsed(json);
  }

  #newName(name: string): string {
    return this.#names.get(name) ?? name;
  }

  #factsOf(name: string): ColumnFacts {
    const facts = this.#facts.columns.get(name);
    if (facts === undefined) throw new Error(`column ${name} was not read`);
    return facts;
  }

  #note(column: string | null, text: string): void {
    this.#notes.push({ table: this.#source.name, column, text });
  }
}

function parsed(json: JsonObject) {
  return parseColumn(new SchemaReader(), json, 'column').column;
}

function isOver(index: SourceIndex, columns: readonly string[]): boolean {
  return index.columns.join('\n') === columns.join('\n');
}
