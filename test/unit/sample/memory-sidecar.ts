/**
 * As much of a sidecar as the sample's money needs, in memory: tables, filters, single updates that are atomic, and an
 * idempotency memory that can be emptied. It imports nothing of the project.
 */
type Cell = string | number | boolean | null | object;
type Row = Record<string, Cell>;
type Filter = { field?: string; op?: string; value?: Cell; and?: Filter[]; or?: Filter[]; not?: Filter };
interface Payload {
  namespace: string;
  table: string;
  row?: Row;
  keys?: string[];
  schema?: { tables: { name: string }[] };
  filter?: Filter;
  rows?: Row[];
  set?: Row;
  inc?: Record<string, number>;
  fields?: string[];
  sort?: { field: string; dir?: string }[];
  limit?: number;
  offset?: number;
  operations?: (Payload & { op: string; expect?: { affected: number } })[];
  idempotencyKey?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: object;
}

export class MemorySidecar {
  /** Namespaces whose writes wait in a queue, in order, until they are flushed or read. */
  readonly buffered = new Set<string>();
  /** Namespaces that the connector's configuration does not list. */
  readonly refused = new Map<string, Answer>();
  /** Tables that somebody has synced. */
  readonly declared = new Set<string>();
  /** The database does not take what is queued. */
  isHalted = false;
  readonly #queue: (Payload & { operation: string })[] = [];
  readonly tables = new Map<string, Row[]>();
  readonly #remembered = new Map<string, { text: string; answer: Answer }>();

  rows(table: string): Row[] {
    const rows = this.tables.get(table) ?? [];
    this.tables.set(table, rows);
    return rows;
  }

  /** As if ten minutes had passed. */
  forget(): void {
    this.#remembered.clear();
  }

  run(operation: string, text: string): Answer {
    const payload = JSON.parse(text) as Payload;
    const key = payload.idempotencyKey;
    const known = key === undefined ? undefined : this.#remembered.get(key);
    if (known) return known.text === text ? known.answer : refuse(422, 'idempotency_conflict');
    const refusal = this.refused.get(payload.namespace);
    const answer = refusal ?? this.#answer(operation, payload);
    if (key !== undefined && answer.status === 200) this.#remembered.set(key, { text, answer });
    return answer;
  }

  /** As after an hour: what waits is in the tables. A fault may lose the first write, or do it twice. */
  drain(fault: 'none' | 'loses one' | 'doubles one' = 'none'): number {
    const waiting = this.#queue.splice(0);
    const [first] = waiting;
    const faulty = { none: waiting, 'loses one': waiting.slice(1), 'doubles one': first ? [first, ...waiting] : [] };
    for (const payload of faulty[fault]) this.#execute(payload);
    return waiting.length;
  }

  #answer(operation: string, payload: Payload): Answer {
    if (operation === 'flush') {
      const enabled = this.buffered.has(payload.namespace);
      const flushed = this.isHalted ? 0 : this.drain();
      const left = { deadLettered: 0, remaining: this.#queue.length, halted: this.isHalted };
      return { status: 200, body: { flushed, ...left, enabled } };
    }
    const isWrite = ['insert', 'update', 'upsert', 'batch'].includes(operation);
    if (isWrite && this.buffered.has(payload.namespace)) {
      this.#queue.push({ ...payload, operation });
      return { status: 200, body: { queued: true, id: `j-${this.#queue.length}`, pending: this.#queue.length } };
    }
    this.drain();
    return this.#execute({ ...payload, operation });
  }

  #execute(payload: Payload & { operation?: string }): Answer {
    const rows = this.rows(payload.table);
    const matching = rows.filter((row) => payload.filter === undefined || matches(payload.filter, row));
    switch (payload.operation) {
      case 'schema.describe':
        return { status: 200, body: { schema: { tables: [...this.declared].map((name) => ({ name })) } } };
      case 'schema.sync':
        return this.#sync(payload);
      case 'find':
        return find(matching, payload);
      case 'insert':
        return insert(rows, payload.rows ?? []);
      case 'upsert':
        return upsert(rows, payload.row ?? {}, payload.keys ?? []);
      case 'update':
        for (const row of matching) change(row, payload);
        return { status: 200, body: { affected: matching.length } };
      case 'batch':
        return this.#batch(payload);
      default:
        throw new Error(`the memory sidecar does not know ${payload.operation}`);
    }
  }

  /** All of them or none. */
  #batch({ operations = [] }: Payload): Answer {
    const before = new Map([...this.tables].map(([name, rows]) => [name, structuredClone(rows)]));
    const results: object[] = [];
    for (const operation of operations) {
      const answer = this.#execute({ ...operation, operation: operation.op });
      const { affected } = answer.body as { affected?: number };
      const isMet = operation.expect === undefined || operation.expect.affected === affected;
      if (answer.status !== 200 || !isMet) {
        for (const [name, rows] of this.tables) rows.splice(0, rows.length, ...(before.get(name) ?? []));
        return answer.status === 200 ? refuse(409, 'expectation_failed') : answer;
      }
      results.push(answer.body);
    }
    return { status: 200, body: { results } };
  }

  #sync({ schema }: Payload): Answer {
    const names = schema?.tables.map(({ name }) => name) ?? [];
    const made = names.filter((name) => !this.tables.has(name));
    for (const name of names) this.declared.add(name);
    for (const name of made) this.rows(name);
    return { status: 200, body: { plan: made.map((table) => ({ kind: 'createTable', table })) } };
  }
}

function refuse(status: number, code: string): Answer {
  return { status, body: { error: { code, message: code } } };
}

function find(matching: Row[], { sort = [], offset = 0, limit = 1000 }: Payload): Answer {
  const sorted = matching.toSorted((a, b) => {
    for (const { field, dir } of [...sort, { field: 'id', dir: 'asc' }]) {
      const order = compare(a[field] ?? null, b[field] ?? null) * (dir === 'desc' ? -1 : 1);
      if (order !== 0) return order;
    }
    return 0;
  });
  return {
    status: 200,
    body: { rows: sorted.slice(offset, offset + limit), hasMore: sorted.length > offset + limit },
  };
}

function insert(rows: Row[], added: Row[]): Answer {
  if (added.some(({ id }) => rows.some((row) => row.id === id))) return refuse(409, 'constraint_violation');
  rows.push(...added.map((row) => ({ changed_at: '', ...row })));
  return { status: 200, body: { inserted: added.length, ids: added.map(({ id }) => id) } };
}

function upsert(rows: Row[], row: Row, keys: string[]): Answer {
  const known = rows.find((candidate) => keys.every((key) => candidate[key] === row[key]));
  if (known) Object.assign(known, row);
  else rows.push({ ...row });
  return { status: 200, body: { affected: 1 } };
}

function change(row: Row, { set = {}, inc = {} }: Payload): void {
  Object.assign(row, set);
  for (const [name, amount] of Object.entries(inc)) row[name] = Number(row[name] ?? 0) + amount;
}

function compare(a: Cell, b: Cell): number {
  if (a === b) return 0;
  return a === null || (b !== null && a < b) ? -1 : 1;
}

function matches(filter: Filter, row: Row): boolean {
  if (filter.and) return filter.and.every((part) => matches(part, row));
  if (filter.or) return filter.or.some((part) => matches(part, row));
  if (filter.not) return !matches(filter.not, row);
  const cell = row[filter.field ?? ''] ?? null;
  const value = filter.value ?? null;
  switch (filter.op) {
    case 'eq':
      return cell === value;
    case 'in':
      return Array.isArray(value) && value.includes(cell);
    case 'gt':
      return cell !== null && value !== null && cell > value;
    case 'gte':
      return cell !== null && value !== null && Number(cell) >= Number(value);
    default:
      throw new Error(`the memory sidecar does not know ${filter.op}`);
  }
}
