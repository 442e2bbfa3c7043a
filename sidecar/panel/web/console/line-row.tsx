import { Component } from 'preact';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import type { Entry } from './entry.ts';
import { markMatches } from './line-query.ts';
import { cutSpans, MAX_SHOWN } from './row-layout.ts';
import { parseSgr } from './sgr.ts';

export interface LineRowProps {
  readonly entry: Entry;
  readonly pattern: RegExp | null;
  readonly height: number;
  readonly link: string;
  readonly isSelected: boolean;
  readonly onSelect: (seq: number) => void;
}

/** One line. Rendered anew only where something of it has changed: there are dozens, many times a second. */
export class LineRow extends Component<LineRowProps> {
  override shouldComponentUpdate(next: LineRowProps): boolean {
    const now = this.props;
    return (
      next.entry !== now.entry ||
      next.pattern !== now.pattern ||
      next.height !== now.height ||
      next.isSelected !== now.isSelected
    );
  }

  override render() {
    const { entry, height, isSelected, link, onSelect, pattern } = this.props;
    if (entry.missingFrom !== null) return <MissingLines entry={entry} height={height} />;
    const hidden = entry.plain.length - MAX_SHOWN;
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: the list has the keys for it
      // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys for it
      <div
        class={`line line-${entry.stream}${isSelected ? ' selected' : ''}`}
        data-seq={entry.seq}
        style={{ height: `${height}px` }}
        onClick={() => onSelect(entry.seq)}
      >
        <a class="line-time" href={link} tabIndex={-1} title={entry.time}>
          {clock(entry.time)}
        </a>
        <span class="line-text">
          {markMatches(cutSpans(parseSgr(entry.text)), pattern).map((span, index) => {
            const Tag = span.marked ? 'mark' : 'span';
            return (
              <Tag key={index} class={span.classes}>
                {span.text}
              </Tag>
            );
          })}
        </span>
        {hidden > 0 && <span class="line-rest">{t('console.more', { count: hidden })}</span>}
      </div>
    );
  }
}

function MissingLines({ entry, height }: { entry: Entry; height: number }) {
  const count = entry.seq - (entry.missingFrom ?? entry.seq) + 1;
  return (
    <div class="line line-missing" style={{ height: `${height}px` }}>
      {t('console.missing', { count: number(count) })}
    </div>
  );
}

/** Of the reader's own clock; by hand, for it is needed thousands of times a second. */
function clock(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return '--:--:--';
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
