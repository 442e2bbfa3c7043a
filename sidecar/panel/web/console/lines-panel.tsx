import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { t } from '../core/i18n.ts';
import { type LineBuffer, newLines, sourcesOf } from './line-buffer.ts';
import { LineDetail } from './line-detail.tsx';
import { LineList } from './line-list.tsx';
import { EVERYTHING } from './line-query.ts';
import { LineTools } from './line-tools.tsx';
import { type ShownLines, useLineSearch, useLineView } from './use-line-view.ts';
import type { Wish } from './use-scroll-place.ts';

interface LinesPanelProps {
  readonly buffer: LineBuffer;
  /** Changes with the buffer. */
  readonly version: number;
  readonly label: string;
  /** Address of a line. */
  readonly linkOf: (seq: number) => string;
  /** A line to go to, from the address. */
  readonly target: number | null;
  /** New lines come in at the end. */
  readonly isLive: boolean;
  /** Shown where there are no lines. */
  readonly empty: string;
  /** Above the first line. */
  readonly before?: ComponentChildren;
}

/** Lines with all that helps to find one: the live console, a part of its history, a log file. */
export function LinesPanel(props: LinesPanelProps) {
  const { buffer, label, linkOf, isLive, target } = props;
  const [frozenAt, setFrozenAt] = useState<number | null>(null);
  const [leftAt, setLeftAt] = useState<number | null>(target === null ? null : -1);
  const [wish, setWish] = useState<Wish | null>(null);
  const [selected, setSelected] = useState<number | null>(null);
  const [isAtTop, setAtTop] = useState(false);
  const shown = useLineView(buffer, frozenAt);
  const search = useLineSearch(shown.view, shown.filter.search);
  const follows = frozenAt === null && leftAt === null;
  const leave = useCallback(() => setLeftAt((before) => before ?? buffer.lastSeq ?? -1), [buffer]);
  const select = useCallback(
    (seq: number | null) => {
      setSelected(seq);
      if (seq !== null) leave();
    },
    [leave],
  );
  const goTo = (seq: number | null) => {
    if (seq === null) return;
    select(seq);
    setWish({ seq });
  };
  useEffect(() => goTo(target), [target, buffer]);
  const entry = selected === null ? undefined : shown.view.entryAt(shown.view.numberOfSeq(selected));
  const fresh = frozenAt ?? leftAt;
  return (
    <>
      <LineTools
        {...shown}
        onFilter={shown.setFilter}
        onWrap={shown.setWraps}
        sources={sourcesOf(buffer)}
        match={search}
        onStep={(step) => goTo(search.step(step))}
      >
        {isLive && (
          <Button icon={frozenAt === null ? 'pause' : 'start'} onClick={() => setFrozenAt(toggled(frozenAt, buffer))}>
            {frozenAt === null ? t('console.pause') : t('console.resume')}
          </Button>
        )}
      </LineTools>
      <div class="lines-frame">
        {isAtTop && props.before}
        <LineList
          view={shown.view}
          label={label}
          follows={follows}
          wraps={shown.wraps}
          wish={wish}
          selected={selected}
          linkOf={linkOf}
          onTop={setAtTop}
          onFollow={(isAtEnd) => (isAtEnd ? setLeftAt(null) : leave())}
          onSelect={select}
          onColumns={shown.setColumns}
        />
        {shown.view.length === 0 && <NoLines shown={shown} empty={buffer.entries.length === 0 ? props.empty : null} />}
        {isLive && !follows && (
          <ToLatest
            isPaused={frozenAt !== null}
            count={fresh === null || fresh < 0 ? 0 : newLines(buffer, fresh)}
            onClick={() => {
              setFrozenAt(null);
              setLeftAt(null);
            }}
          />
        )}
      </div>
      {entry !== undefined && entry.seq === selected && (
        <LineDetail entry={entry} link={linkOf(entry.seq)} onClose={() => setSelected(null)} />
      )}
    </>
  );
}

function toggled(frozenAt: number | null, buffer: LineBuffer): number | null {
  return frozenAt === null ? (buffer.lastSeq ?? -1) : null;
}

function NoLines({ shown, empty }: { shown: ShownLines; empty: string | null }) {
  return (
    <div class="lines-none">
      <p>{empty ?? t('console.nothingWanted')}</p>
      {empty === null && <Button onClick={() => shown.setFilter(EVERYTHING)}>{t('console.clearFilter')}</Button>}
    </div>
  );
}

function ToLatest({ isPaused, count, onClick }: { isPaused: boolean; count: number; onClick: () => void }) {
  const text = isPaused
    ? t('console.paused', { count })
    : count > 0
      ? t('console.newLines', { count })
      : t('console.latest');
  return (
    <button type="button" class="lines-latest" onClick={onClick}>
      {text}
      <Icon name="down" />
    </button>
  );
}
