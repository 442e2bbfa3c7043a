import { useEffect, useState } from 'preact/hooks';
import type { ServerConfigView, ServerFileView } from '#panel/shapes/settings.ts';
import { Button } from '../components/button.tsx';
import { TextArea } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { Fault, Notice } from '../components/states.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { useCan } from '../core/session.ts';

interface FileFormProps {
  readonly file: ServerFileView;
  readonly onSaved: () => void;
}

/** The server's own file, as a whole. Where it was changed meanwhile both versions are shown before anything is lost. */
export function FileForm({ file, onSaved }: FileFormProps) {
  const isMine = useCan()('users.manage');
  const edit = useFileEdit({ file, onSaved });
  return (
    <Section title={file.name}>
      {!isMine && <Notice>{t('settings.needsManager')}</Notice>}
      <form class="file-form" onSubmit={edit.submit}>
        <TextArea
          label={t('settings.fileText')}
          hint={t('settings.fileHint')}
          rows={20}
          value={edit.text}
          readOnly={!isMine}
          onInput={edit.setText}
        />
        {edit.other !== null && <Conflict other={edit.other} onTake={edit.takeOther} onKeep={edit.keepMine} />}
        {edit.error !== null && edit.other === null && <Fault error={edit.error} />}
        {isMine && (
          <div class="form-actions">
            <Button
              type="submit"
              kind="primary"
              disabled={edit.text === file.text || edit.other !== null}
              busy={edit.isBusy}
            >
              {t('common.save')}
            </Button>
            <Button disabled={edit.text === file.text} onClick={() => edit.setText(file.text)}>
              {t('settings.dropChanges')}
            </Button>
          </div>
        )}
      </form>
    </Section>
  );
}

interface ConflictProps {
  readonly other: ServerFileView;
  readonly onTake: () => void;
  readonly onKeep: () => void;
}

function Conflict({ other, onTake, onKeep }: ConflictProps) {
  return (
    <div class="notice warn" role="alert">
      <div class="conflict">
        <p>{t('settings.conflict')}</p>
        <pre class="shown">{other.text}</pre>
        <div class="form-actions">
          <Button onClick={onTake}>{t('settings.takeOther')}</Button>
          <Button onClick={onKeep}>{t('settings.keepMine')}</Button>
        </div>
      </div>
    </div>
  );
}

function useFileEdit({ file, onSaved }: FileFormProps) {
  const [text, setText] = useState(file.text);
  // The version that the text was made from: another reading does not change it by itself.
  const [base, setBase] = useState(file);
  const [other, setOther] = useState<ServerFileView | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (text !== base.text) return;
    setText(file.text);
    setBase(file);
  }, [file.hash]);
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      await api.post('/api/server-config', { file: { text, hash: base.hash } });
      setBase({ ...base, text });
      tellDone(t('common.saved'));
      onSaved();
    } catch (fault) {
      setError(fault);
      if (fault instanceof PanelFault && fault.key === 'config.conflict') await readOther(setOther);
    }
    setBusy(false);
  };
  const settle = (kept: string) => {
    if (other === null) return;
    setBase(other);
    setText(kept);
    setOther(null);
    setError(null);
    onSaved();
  };
  return {
    ...{ text, other, error, isBusy, setText },
    takeOther: () => settle(other?.text ?? text),
    keepMine: () => settle(text),
    submit(event: Event) {
      event.preventDefault();
      if (!isBusy) void save();
    },
  };
}

async function readOther(show: (file: ServerFileView | null) => void): Promise<void> {
  const view = await api.get<ServerConfigView>('/api/server-config').catch(() => null);
  show(view?.file ?? null);
}
