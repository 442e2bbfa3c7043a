import { isLocale } from '#panel/shapes/locales.ts';
import { noticeTitle } from '#panel/shapes/notice-titles.ts';
import type { NoticeEvent } from '#panel/shapes/notices.ts';
import { Checkbox } from '../components/field.tsx';
import { language, t } from '../core/i18n.ts';
import type { NoticeDraft } from './notice-draft.ts';

/** Groups of the form, each with the beginnings of its events. */
const GROUPS = {
  server: ['server'],
  restart: ['restart'],
  backup: ['backup'],
  database: ['database', 'queue'],
  machine: ['disk', 'certificate', 'key'],
  account: ['signIn', 'account'],
  panel: ['update', 'job', 'notice'],
} as const;
type Group = keyof typeof GROUPS;

interface NoticeEventsProps {
  readonly draft: Pick<NoticeDraft, 'isAll' | 'events'>;
  readonly events: readonly NoticeEvent[];
  readonly fault: string | null;
  readonly set: (changes: Partial<NoticeDraft>) => void;
}

/** Events that a target is told, in groups. */
export function NoticeEvents({ draft: { isAll, events: chosen }, events, fault, set }: NoticeEventsProps) {
  const choose = (event: string, isOn: boolean) =>
    set({ events: isOn ? [...chosen, event] : chosen.filter((other) => other !== event) });
  return (
    <fieldset class="event-groups">
      <legend>{t('notices.events')}</legend>
      <Checkbox label={t('notices.all')} checked={isAll} onChange={(isOn) => set({ isAll: isOn })} />
      {!isAll &&
        (Object.keys(GROUPS) as Group[]).map((group) => (
          <fieldset key={group} class="event-group">
            <legend>{t(`notices.group-${group}`)}</legend>
            {events
              .filter((event) => isIn(group, event))
              .map((event) => (
                <Checkbox
                  key={event}
                  label={titleOf(event)}
                  checked={chosen.includes(event)}
                  onChange={(isOn) => choose(event, isOn)}
                />
              ))}
          </fieldset>
        ))}
      {fault !== null && <p class="fault">{fault}</p>}
    </fieldset>
  );
}

function isIn(group: Group, event: NoticeEvent): boolean {
  return GROUPS[group].some((beginning) => event.startsWith(`${beginning}.`));
}

/** The first line of its notices, in the language of the page. */
function titleOf(event: NoticeEvent): string {
  const { locale } = language.get();
  return noticeTitle(event, isLocale(locale) ? locale : 'en');
}
