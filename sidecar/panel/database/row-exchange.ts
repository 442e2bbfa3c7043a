import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '#protocol/json.ts';
import { type ExportedPart, exportRows, type TableOfRows } from '#sidecar/exchange/export-rows.ts';
import { RowImport } from '#sidecar/exchange/import-rows.ts';
import { openRowFile } from '#sidecar/exchange/row-file.ts';
import { type FormatName, RowFileError } from '#sidecar/exchange/row-format.ts';
import { MoveRefused } from '#sidecar/moving/report.ts';
import { receiveUpload } from '../http/receive-upload.ts';
import type { Caller } from '../http/route.ts';
import { UploadPlaces } from '../http/upload-places.ts';
import { PanelError } from '../panel-error.ts';
import type { ImportAnswer } from '../shapes/database.ts';
import { Turn } from '../turn.ts';
import type { DatabaseAccess } from './database-access.ts';
import { asRefusal } from './refusals.ts';
import { jsonOf } from './table-rows.ts';

export interface ExportWish {
  readonly namespace: string;
  readonly table: string;
  readonly format: FormatName;
  /** Filter of the API as JSON; null: all rows. */
  readonly filter: string | null;
  readonly escapeFormulas: boolean;
}

export interface ImportWish {
  readonly namespace: string;
  readonly table: string;
  readonly format: FormatName;
}

interface Ticket {
  readonly accountId: number;
  readonly expiresAt: number;
  readonly wish: ExportWish;
}

const TICKET_MS = 60_000;
const MAX_TICKETS = 100;
const MAX_SHOWN_REFUSALS = 200;

/** Files that arrive, or wait for their turn to be written. */
const AT_ONCE = { most: 4, mostOfAnAccount: 1 };

/** Rows of a table as a file, out and in. One import is checked and written at a time. */
export class RowExchange {
  readonly #access: DatabaseAccess;
  /** Files that arrive. */
  readonly #folder: string;
  readonly #tickets = new Map<string, Ticket>();
  readonly #places = new UploadPlaces(AT_ONCE);
  readonly #writing = new Turn();

  constructor(access: DatabaseAccess, folder: string) {
    this.#access = access;
    this.#folder = folder;
    rmSync(folder, { recursive: true, force: true });
  }

  /**
   * A name for one download by the same account, so that no address holds a filter.
   *
   * Refuses what cannot be exported: a refused download would replace the page with its JSON.
   */
  async ticketFor(wish: ExportWish, accountId: number): Promise<string> {
    const { parts } = await this.#begin(wish);
    await parts.return(undefined);
    const now = performance.now();
    for (const [id, { expiresAt }] of this.#tickets) if (expiresAt <= now) this.#tickets.delete(id);
    if (this.#tickets.size >= MAX_TICKETS)
      throw new PanelError('rate.limited', { retryAfterSeconds: TICKET_MS / 1000 });
    const id = randomBytes(16).toString('hex');
    this.#tickets.set(id, { accountId, wish, expiresAt: now + TICKET_MS });
    return id;
  }

  /** @throws PanelError `database.unknown` */
  redeem(id: string, accountId: number): ExportWish {
    const ticket = this.#tickets.get(id);
    if (ticket === undefined || ticket.accountId !== accountId || ticket.expiresAt <= performance.now()) {
      throw new PanelError('database.unknown', { detail: 'the download has expired: press the button again' });
    }
    this.#tickets.delete(id);
    return ticket.wish;
  }

  /** Text of the file, the first part read already: a refusal comes before the first byte. */
  async export(wish: ExportWish): Promise<AsyncIterable<string>> {
    const { first, parts } = await this.#begin(wish);
    return textsOf(first, parts);
  }

  /** The first part is the head of the file; table and filter are judged by then. */
  async #begin(wish: ExportWish) {
    const { format, escapeFormulas, filter } = wish;
    const options = { format, escapeFormulas, nullText: null, filter: readFilterText(filter) };
    const parts = exportRows(this.#tableOf(wish), options);
    const first = await parts.next().catch((error: unknown) => {
      throw refusalOf(error);
    });
    return { first, parts };
  }

  /**
   * Receives a file, checks every line, and writes all of it or, if a line is refused, nothing. The same file sent again goes on
   * where it was cut.
   *
   * `run.judgeAgain` is called when the body has arrived and its turn has come: the account may have lost the right.
   */
  async import(request: IncomingMessage, wish: ImportWish, run: ImportRun): Promise<ImportAnswer> {
    const leave = this.#places.take(run.caller);
    const path = join(this.#folder, randomBytes(8).toString('hex'));
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      await receiveUpload(request, path);
      return await this.#inTurn(path, wish, run);
    } catch (error) {
      throw refusalOf(error);
    } finally {
      rmSync(path, { force: true });
      leave();
    }
  }

  async #inTurn(path: string, wish: ImportWish, { judgeAgain, signal }: ImportRun): Promise<ImportAnswer> {
    const giveOn = await this.#writing.take(signal);
    try {
      await judgeAgain();
      return await this.#write(path, wish, signal);
    } finally {
      giveOn();
    }
  }

  async #write(path: string, wish: ImportWish, signal: AbortSignal): Promise<ImportAnswer> {
    const file = await openRowFile(path);
    try {
      const options = { format: wish.format, nullText: null, now: this.#access.parts.now(), signal, onRows: () => {} };
      const rowImport = new RowImport(this.#tableOf(wish), file, options);
      const { refused, refusals } = await rowImport.check();
      if (refused > 0) return { rows: 0, refused, refusals: refusals.slice(0, MAX_SHOWN_REFUSALS) };
      return { rows: await rowImport.write(), refused: 0, refusals: [] };
    } finally {
      await file.close();
    }
  }

  #tableOf({ namespace, table }: ImportWish): TableOfRows {
    const { engine, catalog } = this.#access.parts;
    return { engine, catalog, namespace, table };
  }
}

interface ImportRun {
  readonly caller: Caller;
  readonly judgeAgain: () => Promise<void>;
  readonly signal: AbortSignal;
}

async function* textsOf(
  first: IteratorResult<ExportedPart>,
  rest: AsyncGenerator<ExportedPart>,
): AsyncGenerator<string> {
  if (first.done !== true) yield first.value.text;
  for await (const { text } of rest) yield text;
}

/** @throws PanelError `database.request` */
function readFilterText(text: string | null): JsonObject | null {
  if (text === null) return null;
  const filter = jsonOf(text, 'filter');
  if (!isJsonObject(filter))
    throw new PanelError('database.request', { field: 'filter', detail: 'filter: expected a JSON object' });
  return filter;
}

function refusalOf(error: unknown): unknown {
  if (error instanceof RowFileError) return new PanelError('database.request', { detail: error.message });
  if (error instanceof MoveRefused) return new PanelError('disk.full', { detail: error.message });
  return asRefusal(error);
}
