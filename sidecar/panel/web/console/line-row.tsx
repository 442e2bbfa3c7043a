import { Component, Fragment } from 'preact';
import { levelOf } from '#panel/shapes/console.ts';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import type { Entry } from './entry.ts';
import { markMatches } from './line-query.ts';
import { cutAtBreaks, cutSpans, MAX_SHOWN, rowBreaks, shownText } from './row-layout.ts';
import { parseSgr } from './sgr.ts';

interface LineRowProps {
  readonly entry: Entry;
  readonly pattern: RegExp | null;
  /** Cells of a row. */
  readonly columns: number;
  readonly height: number;
  readonly link: string;
  readonly isSelected: boolean;
  readonly onSelect: (seq: number) => void;
}

/** A line. Rendered again only if it has changed: there are dozens, many times a second. */
export class LineRow extends Component<LineRowProps> {
  override shouldComponentUpdate(next: LineRowProps): boolean {
    const now = this.props;
    return (
      next.entry !== now.entry ||
      next.pattern !== now.pattern ||
      next.columns !== now.columns ||
      next.height !== now.height ||
      next.isSelected !== now.isSelected
    );
  }

  override render() {
    const { entry, height, isSelected, link, onSelect } = this.props;
    if (entry.missingFrom !== null) return <MissingLines entry={entry} height={height} />;
    const hidden = entry.plain.length - MAX_SHOWN;
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: the list has the keys for it
      // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys for it
      <div
        class={`line line-${entry.stream} level-${levelOf(entry.stream, entry.plain)}${isSelected ? ' selected' : ''}`}
        data-seq={entry.seq}
        style={{ height: `${height}px` }}
        onClick={() => onSelect(entry.seq)}
      >
        <a class="line-time" href={link} tabIndex={-1} title={entry.time}>
          {clock(entry.time)}
        </a>
        <span class="line-text">
          <LineText {...this.props} />
        </span>
        {hidden > 0 && <span class="line-rest">{t('console.more', { count: hidden })}</span>}
      </div>
    );
  }
}

/** Each row after the first begins at a `wbr`: a copied text stays whole. */
function LineText({ entry, pattern, columns }: LineRowProps) {
  const breaks = rowBreaks(shownText(entry.plain), columns);
  let end = 0;
  return (
    <>
      {markMatches(cutSpans(parseSgr(entry.text)), pattern).map((span, index) => {
        const Tag = span.marked ? 'mark' : 'span';
        const from = end;
        end += span.text.length;
        const isBroken = from > 0 && breaks.includes(from);
        const [first, ...rest] = cutAtBreaks(span.text, from, breaks);
        return (
          <Fragment key={index}>
            {isBroken && <wbr />}
            <Tag class={span.classes}>
              {first}
              {rest.map((text) => [<wbr key={text} />, text])}
            </Tag>
          </Fragment>
        );
      })}
    </>
  );
}

function MissingLines({ entry, height }: { entry: Entry; height: number }) {
  const count = entry.seq - (entry.missingFrom ?? entry.seq) + 1;
  return (
    <div class="line line-missing" style={{ height: `${height}px` }}>
      {t('console.missing', { count: number(count) })}
    </div>
  );
}

/** Time of the reader's own clock; formatted by hand, as it is needed thousands of times a second. */
function clock(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return '--:--:--';
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
