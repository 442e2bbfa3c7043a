import { useState } from 'preact/hooks';
import type { ComparedFile, DiffHunk } from '#panel/shapes/merging.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { t } from '../core/i18n.ts';

interface DiffFileProps {
  readonly file: ComparedFile;
  /** Side that a conflict takes whole; null: not chosen yet. */
  readonly take: 'base' | 'head' | null;
  readonly onTake: (take: 'base' | 'head') => void;
  /** Reads the hunks of a file that was too long for the whole answer. */
  readonly onMore: () => void;
}

/** A file with its changed lines, one column of text: it reads on a phone as well. */
export function DiffFile({ file, take, onTake, onMore }: DiffFileProps) {
  const { path, oldPath, status, additions, deletions, binary, conflict, hunks } = file;
  const [isOpen, setOpen] = useState(conflict || additions + deletions <= 100);
  return (
    <section class="diff-file" aria-label={path}>
      <button type="button" class="row-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="diff-path">{oldPath === null ? path : `${oldPath} → ${path}`}</span>
        <span class="soft">{t(`merge.file-${status}`)}</span>
        <span class="diff-count">
          +{additions} −{deletions}
        </span>
        {conflict && <Badge tone={take === null ? 'bad' : 'good'}>{t('merge.conflict')}</Badge>}
      </button>
      {conflict && <Sides path={path} take={take} onTake={onTake} />}
      {isOpen && binary && <p class="soft diff-note">{t('merge.binary')}</p>}
      {isOpen && hunks === null && (
        <p class="diff-note">
          <Button onClick={onMore}>{t('merge.showFile')}</Button>
        </p>
      )}
      {isOpen && hunks !== null && hunks.length > 0 && <Hunks hunks={hunks} />}
    </section>
  );
}

function Sides({ path, take, onTake }: Pick<DiffFileProps, 'take' | 'onTake'> & { path: string }) {
  return (
    <fieldset class="diff-sides">
      <legend class="unseen">{path}</legend>
      {(['base', 'head'] as const).map((side) => (
        <label key={side}>
          <input type="radio" name={`side ${path}`} checked={take === side} onChange={() => onTake(side)} />
          {t(side === 'base' ? 'merge.keepBase' : 'merge.takeHead')}
        </label>
      ))}
    </fieldset>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;

function Hunks({ hunks }: { hunks: readonly DiffHunk[] }) {
  return (
    <div class="diff-lines">
      {hunks.map((hunk) => (
        <div key={`${hunk.oldStart} ${hunk.newStart}`} class="diff-hunk">
          {numbered(hunk).map(({ key, number, kind, text }) => (
            <div key={key} class={`diff-line ${kind}`}>
              <span class="diff-number" aria-hidden="true">
                {number}
              </span>
              <span class="diff-sign">{SIGNS[kind]}</span>
              {kind === 'added' ? <ins>{text}</ins> : kind === 'removed' ? <del>{text}</del> : <span>{text}</span>}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

/** Each line with its number after the change; a removed one has that of before. */
function numbered({ oldStart, newStart, lines }: DiffHunk) {
  let [before, after] = [oldStart, newStart];
  return lines.map(({ kind, text }, key) => {
    const number = kind === 'removed' ? before : after;
    if (kind !== 'added') before += 1;
    if (kind !== 'removed') after += 1;
    return { key, number, kind, text };
  });
}
