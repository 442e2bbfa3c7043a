import { useState } from 'preact/hooks';
import type { LetterInfo, LettersAnswer } from '#panel/shapes/database.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { Notice } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { useAction } from '../core/use-action.ts';
import { indentedJson, isJson } from './json-text.ts';

interface LettersTableProps {
  readonly letters: readonly LetterInfo[];
  readonly hasMore: boolean;
  readonly onDone: () => void;
}

/** Writes that can never succeed as they are. Their owner tries them again once the reason is gone, or gives them up. */
export function LettersTable({ letters, hasMore, onDone }: LettersTableProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const can = useCan();
  const ids = letters.map(({ id }) => id).filter((id) => chosen.has(id));
  const [act, isBusy] = useAction(async (action: 'retry' | 'discard') => {
    if (action === 'discard' && !(await isDiscardMeant(ids.length))) return;
    const told = await api.post<LettersAnswer>(`/api/database/dead-letters/${action}`, { ids });
    setChosen(new Set());
    tellDone(resultText(action, told));
    onDone();
  });
  return (
    <>
      {can('database.write') && (
        <div class="toolbar">
          <Button icon="restart" disabled={ids.length === 0} busy={isBusy} onClick={() => act('retry')}>
            {t('database.retry')}
          </Button>
          <Button kind="danger" icon="trash" disabled={ids.length === 0} busy={isBusy} onClick={() => act('discard')}>
            {t('common.discard')}
          </Button>
          <p class="soft" role="status">
            {t('database.chosen', { count: ids.length })}
          </p>
          <Button
            kind="quiet"
            onClick={() => setChosen(new Set(ids.length === letters.length ? [] : letters.map(({ id }) => id)))}
          >
            {t(ids.length === letters.length ? 'database.chooseNone' : 'database.chooseAll')}
          </Button>
        </div>
      )}
      <ul class="letters">
        {letters.map((letter) => (
          <Letter
            key={letter.id}
            letter={letter}
            isChosen={can('database.write') ? chosen.has(letter.id) : null}
            onChoose={(isChosen) => setChosen(changed(chosen, letter.id, isChosen))}
          />
        ))}
      </ul>
      {hasMore && <Notice>{t('database.moreLetters')}</Notice>}
    </>
  );
}

function changed(chosen: ReadonlySet<string>, id: string, isChosen: boolean): ReadonlySet<string> {
  const next = new Set(chosen);
  if (isChosen) next.add(id);
  else next.delete(id);
  return next;
}

function isDiscardMeant(count: number): Promise<boolean> {
  return confirmed({
    title: t('database.askDiscard', { count }),
    text: t('database.discardText'),
    action: t('common.discard'),
    isDanger: true,
  });
}

function resultText(action: 'retry' | 'discard', { done, prospects }: LettersAnswer): string {
  const text = t(`database.done-${action}`, { count: done.length });
  const waiting = prospects.filter(({ prospect }) => prospect === 'waits').map(({ namespace }) => namespace);
  return waiting.length === 0 ? text : `${text} ${t('database.waits', { names: waiting.join(', ') })}`;
}

interface LetterProps {
  readonly letter: LetterInfo;
  /** Null if there is nothing to choose for. */
  readonly isChosen: boolean | null;
  readonly onChoose: (isChosen: boolean) => void;
}

function Letter({ letter, isChosen, onChoose }: LetterProps) {
  const { id, op, namespace, table, code, message, time, payload, isCut, isRetryWanted } = letter;
  const title = `${op} ${namespace}${table === null ? '' : `.${table}`}`;
  return (
    <li class="letter">
      {isChosen !== null && (
        <input
          type="checkbox"
          aria-label={t('database.choose', { what: `${title} ${id}` })}
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
      )}
      <div>
        <p class="letter-head">
          <strong>{title}</strong> <Badge tone="bad">{code}</Badge>
          {isRetryWanted && <Badge tone="info">{t('database.retryWanted')}</Badge>}
          <span class="soft small">
            <Time iso={time} />
          </span>
        </p>
        <p>{message}</p>
        <details>
          <summary>{t('database.payload')}</summary>
          <pre class="shown">{!isCut && isJson(payload) ? indentedJson(payload) : `${payload}${isCut ? '…' : ''}`}</pre>
        </details>
      </div>
    </li>
  );
}
