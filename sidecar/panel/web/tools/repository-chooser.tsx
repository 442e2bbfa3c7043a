import { useState } from 'preact/hooks';
import type { RemoteOwner, RemoteRepositoryPage, RemoteRepositoryView } from '#panel/shapes/sources.ts';
import { Tag } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { Fault, Loading } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { useAction } from '../core/use-action.ts';

interface RepositoryChooserProps {
  readonly account: string;
  readonly onChoose: (repository: RemoteRepositoryView) => void;
}

const BASE = '/api/bundle-tools/remote';

/** Repositories that the token of an account may see. Asked on request alone: the other server counts the questions. */
export function RepositoryChooser({ account, onChoose }: RepositoryChooserProps) {
  const [owners, setOwners] = useState<readonly RemoteOwner[] | null>(null);
  const [owner, setOwner] = useState('');
  const [search, setSearch] = useState('');
  const [page, setPage] = useState(1);
  const [found, setFound] = useState<RemoteRepositoryPage | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [ask, isBusy] = useAction(async (work: () => Promise<void>) => {
    setError(null);
    await work().catch(setError);
  });
  const list = async (of: string, wanted: number) => {
    const answer = await api.post<RemoteRepositoryPage>(`${BASE}/repositories`, {
      ...{ account, owner: of, page: wanted, search: search.trim() },
    });
    const before = wanted === 1 ? [] : (found?.repositories ?? []);
    setFound({ repositories: [...before, ...answer.repositories], more: answer.more });
    setPage(wanted);
  };
  const open = async () => {
    const answer = await api.post<{ owners: readonly RemoteOwner[] }>(`${BASE}/owners`, { account });
    const first = answer.owners[0]?.name ?? '';
    setOwners(answer.owners);
    setOwner(first);
    if (first !== '') await list(first, 1);
  };
  if (owners === null) {
    return (
      <div class="chooser">
        {error !== null && <Fault error={error} />}
        <Button icon="search" busy={isBusy} onClick={() => ask(open)}>
          {t('sources.choose')}
        </Button>
      </div>
    );
  }
  return (
    <div class="chooser">
      <div class="toolbar">
        <SelectField
          label={t('sources.owner')}
          value={owner}
          options={owners.map(({ name }) => [name, name])}
          onChange={(name) => {
            setOwner(name);
            setFound(null);
            ask(() => list(name, 1));
          }}
        />
        <TextField label={t('common.search')} type="search" value={search} onInput={setSearch} />
        <Button icon="search" busy={isBusy} onClick={() => ask(() => list(owner, 1))}>
          {t('common.search')}
        </Button>
      </div>
      {error !== null && <Fault error={error} />}
      {found === null && error === null && isBusy && <Loading />}
      {found !== null && <Repositories found={found} onChoose={onChoose} />}
      {found?.more === true && (
        <Button icon="down" busy={isBusy} onClick={() => ask(() => list(owner, page + 1))}>
          {t('sources.more')}
        </Button>
      )}
    </div>
  );
}

interface RepositoriesProps {
  readonly found: RemoteRepositoryPage;
  readonly onChoose: (repository: RemoteRepositoryView) => void;
}

function Repositories({ found: { repositories }, onChoose }: RepositoriesProps) {
  if (repositories.length === 0) return <p class="soft">{t('sources.noneFound')}</p>;
  return (
    <ul class="repositories" aria-label={t('sources.repositories')}>
      {repositories.map((repository) => (
        <li key={repository.url}>
          <button type="button" class="row-button" onClick={() => onChoose(repository)}>
            <span class="file-name">{repository.name}</span>
            {repository.private && <Tag>{t('sources.private')}</Tag>}
            {repository.updated !== null && (
              <span class="soft">
                <Time iso={repository.updated} />
              </span>
            )}
          </button>
        </li>
      ))}
    </ul>
  );
}
