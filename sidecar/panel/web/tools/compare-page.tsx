import { useEffect, useState } from 'preact/hooks';
import { type ComparedFile, type Comparison, LAST_MERGE } from '#panel/shapes/merging.ts';
import { Fault, Loading, Notice } from '../components/states.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { CommitList } from './commit-list.tsx';
import { type ComparedPair, headWords } from './compared-pair.ts';
import { DiffFile } from './diff-view.tsx';
import { MergeForm } from './merge-form.tsx';
import { ReviewPanel } from './review-panel.tsx';
import { TakeBackLink } from './take-back-link.tsx';

type Takes = ReadonlyMap<string, 'base' | 'head'>;

/** `#/tools/sources/NAME/compare?base=…&head=…`: what head brings to base, and the merge. */
export function ComparePage({ project }: { project: string }) {
  const { query } = usePlace();
  const [base, head] = [query.get('base') ?? '', query.get('head') ?? ''];
  const [state, setState] = useState<{ compare: Comparison | null; error: unknown }>({ compare: null, error: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState({ compare: null, error: null });
    api.post<{ compare: Comparison }>('/api/bundle-tools/projects/compare', { project, base, head }, abort.signal).then(
      ({ compare }) => setState({ compare, error: null }),
      (error: unknown) => {
        if (!abort.signal.aborted) setState({ compare: null, error });
      },
    );
    return () => abort.abort();
  }, [project, base, head, turn]);
  const { compare, error } = state;
  return (
    <article>
      <p class="log-actions">
        <a href={linkTo('tools', ['sources', project])}>{project}</a>
      </p>
      <h2 class="diff-path">
        {headWords(head)} → {base}
      </h2>
      {head === LAST_MERGE ? (
        <Notice>{t('merge.takeBackHint')}</Notice>
      ) : (
        <p class="log-actions">
          <TakeBackLink project={project} base={base} />
        </p>
      )}
      {error !== null && <Fault error={error} onRetry={() => setTurn(turn + 1)} />}
      {compare === null ? (
        error === null && <Loading />
      ) : (
        <Compared key={compare.head} pair={{ project, base, head }} compare={compare} />
      )}
    </article>
  );
}

function Compared({ pair, compare }: { pair: ComparedPair; compare: Comparison }) {
  const [takes, setTakes] = useState<Takes>(new Map());
  const [read, setRead] = useState<ReadonlyMap<string, ComparedFile>>(new Map());
  const readFile = async (path: string) => {
    const answer = await api.post<{ compare: Comparison }>('/api/bundle-tools/projects/compare', { ...pair, path });
    const [file] = answer.compare.files;
    if (file !== undefined) setRead((before) => new Map([...before, [path, file]]));
  };
  const conflicts = compare.files.filter(({ conflict }) => conflict);
  return (
    <>
      <p class="soft">
        {t('merge.commits', { count: compare.ahead })} · {t('merge.files', { count: compare.files.length })}
      </p>
      {compare.files.length === 0 && (
        <Notice kind="good" icon="check">
          {t('merge.same')}
        </Notice>
      )}
      <CommitList commits={compare.commits} />
      {compare.more && <Notice>{t('merge.more')}</Notice>}
      {compare.files.map((file) => (
        <DiffFile
          key={file.path}
          file={read.get(file.path) ?? file}
          take={takes.get(file.path) ?? null}
          onTake={(side) => setTakes((before) => new Map([...before, [file.path, side]]))}
          onMore={() => void readFile(file.path).catch(() => {})}
        />
      ))}
      {pair.head !== 'installed' && compare.ahead > 0 && (
        <>
          <ReviewPanel pair={pair} compare={compare} />
          <MergeForm
            pair={pair}
            compare={compare}
            takes={takes}
            left={conflicts.filter(({ path }) => !takes.has(path)).length}
          />
        </>
      )}
    </>
  );
}
