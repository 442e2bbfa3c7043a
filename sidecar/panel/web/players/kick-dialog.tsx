import { useState } from 'preact/hooks';
import { isKickReason, LONGEST_REASON, type Player } from '#panel/shapes/players.ts';
import { TextField } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Fault } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { useSend } from '../components/use-send.ts';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';

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
    <FormDialog
      title={t('players.kickPlayer', { name })}
      form={{ ...form, submit }}
      send={t('players.kick')}
      kind="danger"
      onClose={onClose}
    >
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
    </FormDialog>
  );
}
