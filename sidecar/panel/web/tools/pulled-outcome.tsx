import type { PullOutcome } from '#panel/shapes/sources.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { CommitList } from './commit-list.tsx';

interface PulledOutcomeProps {
  readonly outcome: PullOutcome;
  readonly project: string;
}

/** Commits and files that the remote has more, and the way to the project, where the next step is. */
export function PulledOutcome({ outcome: { behind, commits, files }, project }: PulledOutcomeProps) {
  return (
    <>
      {files.length > 0 && (
        <p class="soft lead">
          {t('merge.commits', { count: behind })} · {t('merge.files', { count: files.length })}
        </p>
      )}
      <CommitList commits={commits} />
      {files.length > 0 && (
        <ul class="plain-list long" aria-label={t('merge.files', { count: files.length })}>
          {files.map(({ path, status }) => (
            <li key={path}>
              <code>{path}</code> <span class="soft">{t(`merge.file-${status}`)}</span>
            </li>
          ))}
        </ul>
      )}
      <p class="row">
        <a class="button" href={linkTo('tools', ['sources', project])}>
          {t('sources.project')} · {project}
        </a>
      </p>
    </>
  );
}
