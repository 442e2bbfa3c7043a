import { useState } from 'preact/hooks';
import { isKickReason, LONGEST_REASON, type Player } from '#panel/shapes/players.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { TextField } from '../components/field.tsx';
import { Fault } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';

const FORM = 'kick';

/** Asks for the reason, which the player reads. */
export function KickDialog({ player: { id, name }, onClose }: { player: Player; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const form = useSend(['reason'], async () => {
    await api.post('/api/players/kick', { id, name, reason });
    tellDone(t('players.kicked', { name }));
    onClose();
  });
  const submit = (event: Event) => {
    event.preventDefault();
    const fault = isKickReason(reason) ? null : t('errors.players.reason');
    if (form.check({ reason: fault }, event.currentTarget as HTMLElement)) form.submit(event);
  };
  return (
    <Dialog
      title={t('players.kickPlayer', { name })}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button kind="danger" type="submit" form={FORM} busy={form.isBusy}>
            {t('players.kick')}
          </Button>
        </>
      }
    >
      <form id={FORM} class="form" noValidate onSubmit={submit}>
        <TextField
          label={t('players.reason')}
          hint={t('players.reasonHint')}
          value={reason}
          maxLength={LONGEST_REASON}
          error={form.faultOf('reason')}
          onInput={(text) => {
            form.forget(['reason']);
            setReason(text);
          }}
        />
        {form.error !== null && <Fault error={form.error} />}
      </form>
    </Dialog>
  );
}
