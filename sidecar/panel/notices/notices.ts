import { randomBytes } from 'node:crypto';
import { AttemptLimit } from '../attempt-limit.ts';
import { PanelError } from '../panel-error.ts';
import { noticeTitle, type TitledEvent } from '../shapes/notice-titles.ts';
import {
  ALL_EVENTS,
  MOST_NOTICE_TARGETS,
  NOTICE_EVENTS,
  type NoticeEvent,
  type NoticesAnswer,
  type NoticeTarget,
  type NoticeTestResult,
} from '../shapes/notices.ts';
import type { Permission } from '../shapes/permissions.ts';
import type { Deliver } from './deliver.ts';
import type { News } from './news.ts';
import type { UnsentNotice } from './notice.ts';
import { readTarget, type TargetFields, type TargetRules } from './target-input.ts';
import { TargetQueue, type TargetQueueOptions } from './target-queue.ts';
import type { StoredTarget, TargetStore } from './target-store.ts';

export interface NoticesOptions {
  readonly targets: TargetStore;
  readonly deliver: Deliver;
  readonly rules: () => TargetRules;
  /** Names of the panel and of the server. */
  readonly names: () => { readonly panel: string; readonly server: string };
  /** Runs work that no request waits for, and reports its failures. */
  readonly attempt: (work: () => void) => void;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonicNow: () => number;
}

export interface NoticeAuthor {
  readonly accountId: number;
  readonly permissions: ReadonlySet<Permission>;
}

/** News of a service, or of the notices themselves. */
type ToldNews = Omit<News, 'event'> & { readonly event: TitledEvent };

interface Target extends StoredTarget {
  readonly queue: TargetQueue;
}

const LOOK_MS = 500;
const TESTS_A_MINUTE = 6;
const MINUTE_MS = 60_000;
/** Bytes of a secret that the panel makes: 43 characters of base64url. */
const SECRET_BYTES = 32;

/** Targets of notices, and what each of them is told. A notice delays nothing. */
export class Notices {
  readonly #options: NoticesOptions;
  readonly #tests: AttemptLimit;
  readonly #listeners = new Set<() => void>();
  #targets: readonly Target[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** State of the targets as it was last told. */
  #told = '';

  constructor(options: NoticesOptions) {
    this.#options = options;
    this.#tests = new AttemptLimit(TESTS_A_MINUTE, options.monotonicNow, MINUTE_MS);
    this.#targets = options.targets
      .list()
      .map((target) => this.#withQueue(target))
      .sort(byName);
    this.#told = JSON.stringify(this.list().targets);
  }

  open(): void {
    this.#timer ??= setInterval(() => this.#options.attempt(() => this.look()), LOOK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const { queue } of this.#targets) queue.close();
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  list(): NoticesAnswer {
    const events = Object.keys(NOTICE_EVENTS) as NoticeEvent[];
    return { targets: this.#targets.map(viewOf), events };
  }

  /** Tells every target that lists the event. A fault of it breaks nothing of what is told. @param except id of a target that is not told */
  tell(news: News, except: string | null = null): void {
    this.#options.attempt(() => this.#tell(news, except));
  }

  /** Sends what is due. */
  look(): void {
    for (const { queue } of this.#targets) queue.look();
    this.#tellChange();
  }

  /** `secret` if one was made. @throws PanelError `notices.<field>`, `.unknown`, `.tooMany`, `permission.missing` */
  save(
    given: Readonly<Record<string, unknown>>,
    author: NoticeAuthor,
  ): { readonly id: string; readonly secret?: string } {
    const { targets, rules } = this.#options;
    const earlier = given.id === undefined ? null : this.#find(given.id);
    if (earlier !== null) checkPermission(earlier.kind, author);
    const { fields, secrets } = readTarget(given, earlier === null ? null : partsOf(earlier), rules());
    checkPermission(fields.kind, author);
    if (earlier === null && this.#targets.length >= MOST_NOTICE_TARGETS) throw new PanelError('notices.tooMany');
    const made = secrets.secret === undefined ? randomBytes(SECRET_BYTES).toString('base64url') : undefined;
    const secret = secrets.secret ?? made ?? '';
    const id = earlier?.id ?? randomBytes(8).toString('hex');
    const target = { ...fields, id, secrets: { url: secrets.url, secret } };
    targets.save(target);
    // The owner mends a target because of what waits for it. Another kind is another place: nothing of the old one is sent there.
    const isSamePlace = fields.enabled && earlier?.kind === fields.kind;
    const changed = this.#withQueue(target, isSamePlace ? earlier.queue : null);
    earlier?.queue.close();
    this.#replace(id, changed);
    return made === undefined ? { id } : { id, secret: made };
  }

  /** @throws PanelError `notices.unknown` */
  nameOf(id: unknown): string {
    return this.#find(id).name;
  }

  /** @throws PanelError `notices.unknown`, `permission.missing` */
  remove(id: unknown, author: NoticeAuthor): void {
    const target = this.#find(id);
    checkPermission(target.kind, author);
    this.#options.targets.remove(target.id);
    target.queue.close();
    this.#replace(target.id, null);
  }

  /** A try at once, whatever the target lists. @throws PanelError `notices.unknown`, `permission.missing`, `rate.limited` */
  async test(id: unknown, author: NoticeAuthor): Promise<NoticeTestResult> {
    const target = this.#find(id);
    checkPermission(target.kind, author);
    const source = String(author.accountId);
    const retryAfterSeconds = this.#tests.blockedSeconds(source);
    if (retryAfterSeconds > 0) throw new PanelError('rate.limited', { retryAfterSeconds });
    this.#tests.count(source);
    const notice = this.#noticeFor(target, ofOwn('test', [this.#options.names().panel], {}));
    const result = await this.#options.deliver(target, notice, new AbortController().signal);
    target.queue.note(result);
    this.#tellChange();
    const { delivered, status, ms, answer, error } = result;
    return { delivered, status, ms, answer, error };
  }

  #tell(news: News, except: string | null): void {
    for (const target of this.#targets) {
      const isListed = target.events.includes(news.event) || target.events.includes(ALL_EVENTS);
      if (!target.enabled || !isListed || target.id === except) continue;
      target.queue.tell(this.#noticeFor(target, news));
    }
  }

  #withQueue(target: StoredTarget, earlier: TargetQueue | null = null): Target {
    const { deliver, now, monotonicNow } = this.#options;
    const options: TargetQueueOptions = {
      ...{ quiet: target.quiet, now, monotonicNow },
      deliver: (notice, signal) => deliver(target, notice, signal),
      digestOf: (events) => {
        const facts = events.map(({ event, count }) => `${noticeTitle(event as TitledEvent, target.locale)}: ${count}`);
        return this.#noticeFor(target, ofOwn('digest', facts, { events }));
      },
      onDropped: (notice, cause) => this.#dropped(target, notice, cause),
      onFailingDay: () => this.#tellOthers(target, { event: 'notice.targetOff', data: {} }),
    };
    return { ...target, queue: new TargetQueue(options, earlier) };
  }

  #dropped(target: StoredTarget, { event }: UnsentNotice, cause: string): void {
    this.#options.log('a notice could not be delivered, and was dropped', { target: target.name, event, cause });
    // News of notices are told once: two targets that are away would tell each other for ever.
    if (!event.startsWith('notice.')) {
      this.#tellOthers(target, { event: 'notice.dropped', data: { event }, story: [cause] });
    }
  }

  #tellOthers({ id, name }: StoredTarget, { event, data, story = [] }: Omit<News, 'facts'>): void {
    this.tell({ event, facts: [name, ...story], data: { target: name, ...data }, story }, id);
  }

  #noticeFor({ locale }: StoredTarget, { event, facts, data, story = [], since = null }: ToldNews): UnsentNotice {
    const { now, names } = this.#options;
    const time = new Date(now()).toISOString();
    const level = event === 'test' || event === 'digest' ? 'info' : NOTICE_EVENTS[event];
    return {
      ...{ version: 1, id: randomBytes(12).toString('hex'), event, level, time, firstTime: time, count: 1 },
      ...{ ...names(), title: noticeTitle(event, locale), text: facts.filter((fact) => fact !== '').join('\n') },
      ...{ data, story, since },
    };
  }

  #find(id: unknown): Target {
    const target = this.#targets.find((one) => one.id === id);
    if (target === undefined) throw new PanelError('notices.unknown', { field: 'id' });
    return target;
  }

  #replace(id: string, target: Target | null): void {
    const others = this.#targets.filter((one) => one.id !== id);
    this.#targets = target === null ? others : [...others, target].sort(byName);
    this.#tellChange();
  }

  #tellChange(): void {
    const shown = JSON.stringify(this.#targets.map(viewOf));
    if (shown === this.#told) return;
    this.#told = shown;
    for (const listener of this.#listeners) listener();
  }
}

/** All of it is text. */
function ofOwn(event: TitledEvent, facts: readonly string[], data: News['data']): ToldNews {
  return { event, facts, data, story: facts };
}

/** A command runs a program of this machine as the panel's user. */
function checkPermission(kind: TargetFields['kind'], { permissions }: NoticeAuthor): void {
  if (kind === 'command' && !permissions.has('users.manage')) throw new PanelError('permission.missing');
}

function partsOf({ id: _, secrets, queue: __, ...fields }: Target) {
  return { fields, secrets };
}

function viewOf({ secrets: _, queue, ...fields }: Target): NoticeTarget {
  return { ...fields, state: queue.state };
}

function byName(a: Target, b: Target): number {
  return a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);
}
