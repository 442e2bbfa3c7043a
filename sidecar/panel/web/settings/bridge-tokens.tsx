import { useState } from 'preact/hooks';
import type { BridgeToken } from '#panel/shapes/bridge.ts';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';
import { MadeToken } from './made-token.tsx';

/** Each machine has a token of its own, so that one can be locked out without the others. */
export function BridgeTokens() {
  const loaded = useLoaded<{ tokens: readonly BridgeToken[] }>('/api/bridge/tokens');
  const [made, setMade] = useState<string | null>(null);
  return (
    <Section title={t('settings.tokens')}>
      <p class="soft lead">{t('settings.tokensHint')}</p>
      <NewToken
        onMade={(token) => {
          setMade(token);
          loaded.reload();
        }}
      />
      <Ready of={loaded}>
        {({ tokens }) =>
          tokens.length > 0 && (
            <div class="below">
              <DataTable
                label={t('settings.tokens')}
                columns={columnsOf(loaded.reload)}
                rows={tokens}
                keyOf={({ id }) => id}
              />
            </div>
          )
        }
      </Ready>
      {made !== null && <MadeToken token={made} onClose={() => setMade(null)} />}
    </Section>
  );
}

function NewToken({ onMade }: { onMade: (token: string) => void }) {
  const [name, setName] = useState('');
  const [make, isBusy] = useAction(async () => {
    const { token } = await api.post<{ token: string }>('/api/bridge/tokens/create', { name: name.trim() });
    setName('');
    onMade(token);
  });
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        make();
      }}
    >
      <TextField label={t('settings.machine')} value={name} maxLength={64} required onInput={setName} />
      <Button type="submit" icon="key" busy={isBusy}>
        {t('settings.newToken')}
      </Button>
    </form>
  );
}

function columnsOf(onDone: () => void): Column<BridgeToken>[] {
  return [
    { title: t('settings.machine'), cell: ({ name }) => name },
    { title: t('settings.made'), cell: ({ createdAt }) => <Time iso={createdAt} /> },
    {
      title: t('settings.lastUsed'),
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? t('settings.never') : <Time iso={lastUsedAt} />),
    },
    { title: t('settings.actions'), isActions: true, cell: (token) => <Revoke token={token} onDone={onDone} /> },
  ];
}

function Revoke({ token, onDone }: { token: BridgeToken; onDone: () => void }) {
  const [revoke, isBusy] = useAction(async () => {
    const { id, name } = token;
    const isMeant = await confirmed({
      title: t('settings.askRevoke', { name }),
      text: t('settings.revokeText'),
      action: t('settings.revoke'),
      isDanger: true,
    });
    if (!isMeant) return;
    await api.post('/api/bridge/tokens/revoke', { id });
    tellDone(t('settings.revoked', { name }));
    onDone();
  });
  return (
    <Button kind="quiet" icon="trash" busy={isBusy} title={`${t('settings.revoke')}: ${token.name}`} onClick={revoke}>
      {t('settings.revoke')}
    </Button>
  );
}
