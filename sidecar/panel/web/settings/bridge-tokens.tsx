import { useState } from 'preact/hooks';
import type { BridgeToken } from '#panel/shapes/bridge.ts';
import { Button } from '../components/button.tsx';
import { confirmed } from '../components/confirm.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Dialog } from '../components/dialog.tsx';
import { TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Notice, Ready } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { useAction } from '../core/use-action.ts';
import { useLoaded } from '../core/use-loaded.ts';

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

/** The only time that it is shown. */
function MadeToken({ token, onClose }: { token: string; onClose: () => void }) {
  const [copy] = useAction(async () => {
    await navigator.clipboard.writeText(token);
    tellDone(t('settings.copied'));
  });
  return (
    <Dialog
      title={t('settings.tokenMade')}
      onClose={onClose}
      actions={
        <>
          {/* Browsers have a clipboard only where the address is this machine's or https. */}
          {isSecureContext && <Button onClick={copy}>{t('settings.copy')}</Button>}
          <Button kind="primary" onClick={onClose}>
            {t('common.close')}
          </Button>
        </>
      }
    >
      <Notice kind="warn">{t('settings.tokenOnce')}</Notice>
      <TextField label={t('settings.token')} value={token} readOnly mono onInput={() => {}} />
    </Dialog>
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
