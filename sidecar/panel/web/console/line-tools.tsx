import type { ComponentChildren } from 'preact';
import { IconButton } from '../components/button.tsx';
import { Checkbox } from '../components/field.tsx';
import { Icon } from '../components/icon.tsx';
import { t } from '../core/i18n.ts';
import { type LineFilter, STREAMS } from './line-query.ts';

interface LineToolsProps {
  readonly filter: LineFilter;
  readonly onFilter: (filter: LineFilter) => void;
  readonly wraps: boolean;
  readonly onWrap: (wraps: boolean) => void;
  /** Names that lines bear. */
  readonly sources: readonly string[];
  /** Which of how many lines the search is at, from 1; 0 before the first step. */
  readonly match: { readonly position: number; readonly count: number };
  readonly onStep: (step: 1 | -1) => void;
  /** Buttons of the page. */
  readonly children?: ComponentChildren;
}

/** Above the lines: search, bundle, kinds of lines. */
export function LineTools(props: LineToolsProps) {
  const { filter, onFilter, sources } = props;
  const shown = filter.source === '' || sources.includes(filter.source) ? sources : [filter.source, ...sources];
  return (
    <div class="line-tools">
      <SearchField {...props} />
      <select
        aria-label={t('console.source')}
        value={filter.source}
        onChange={(event) => onFilter({ ...filter, source: event.currentTarget.value })}
      >
        <option value="">{t('console.everySource')}</option>
        {shown.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <MoreFilters {...props} />
      {props.children}
    </div>
  );
}

function SearchField({ filter, onFilter, match, onStep }: LineToolsProps) {
  return (
    <search class="line-search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={t('console.search')}
        placeholder={t('console.search')}
        value={filter.search}
        spellcheck={false}
        autocapitalize="none"
        onInput={(event) => onFilter({ ...filter, search: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onStep(event.shiftKey ? 1 : -1);
        }}
      />
      {filter.search !== '' && (
        <>
          <span class="line-matches" role="status">
            {match.count === 0
              ? t('console.noMatch')
              : t('console.matches', { position: match.position, count: match.count })}
          </span>
          <IconButton
            icon="up"
            label={t('console.searchPrevious')}
            disabled={match.count === 0}
            onClick={() => onStep(-1)}
          />
          <IconButton
            icon="down"
            label={t('console.searchNext')}
            disabled={match.count === 0}
            onClick={() => onStep(1)}
          />
        </>
      )}
    </search>
  );
}

function MoreFilters({ filter, onFilter, wraps, onWrap }: LineToolsProps) {
  const isNarrowed = filter.streams.length < STREAMS.length || filter.onlyMatches;
  return (
    <details class="line-filters" onKeyDown={closeOnEscape} onFocusOut={closeWhenLeft}>
      <summary class="button plain" data-narrowed={isNarrowed}>
        {t('console.filters')}
        <Icon name="down" />
      </summary>
      <div class="line-filters-body">
        <fieldset>
          <legend>{t('console.streams')}</legend>
          {STREAMS.map((stream) => (
            <Checkbox
              key={stream}
              label={t(`console.stream-${stream}`)}
              checked={filter.streams.includes(stream)}
              onChange={(isOn) =>
                onFilter({
                  ...filter,
                  streams: STREAMS.filter((name) => (name === stream ? isOn : filter.streams.includes(name))),
                })
              }
            />
          ))}
        </fieldset>
        <Checkbox
          label={t('console.onlyMatches')}
          checked={filter.onlyMatches}
          onChange={(onlyMatches) => onFilter({ ...filter, onlyMatches })}
        />
        <Checkbox label={t('console.wrap')} checked={wraps} onChange={onWrap} />
      </div>
    </details>
  );
}

function closeOnEscape(event: KeyboardEvent): void {
  const details = event.currentTarget as HTMLDetailsElement;
  if (event.key !== 'Escape' || !details.open) return;
  details.open = false;
  details.querySelector('summary')?.focus();
}

function closeWhenLeft(event: FocusEvent): void {
  const details = event.currentTarget as HTMLDetailsElement;
  // A click on plain ground inside has no new focus.
  if (event.relatedTarget instanceof Node && !details.contains(event.relatedTarget)) details.open = false;
}
