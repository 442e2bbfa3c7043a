import { useState } from 'preact/hooks';
import type { Backend } from '../../shapes/server.ts';
import type { ConfigValues } from '../../shapes/settings.ts';
import { TextArea, TextField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';
import { namesOf } from './changed-fields.ts';
import { SaveRow } from './save-row.tsx';
import { type Form, useForm } from './use-form.ts';

interface LinesFormProps {
  readonly config: ConfigValues;
  readonly backend: Backend;
  readonly onSaved: () => void;
}

/** Lines with which the server is started, stopped and asked. Its own kinds know most of them. */
export function LinesForm({ config, backend, onSaved }: LinesFormProps) {
  const form = useForm<ConfigValues>(config, async (changes) => {
    await api.post('/api/server-config', { config: changes });
    onSaved();
  });
  const isOther = backend === 'command';
  return (
    <Section title={t('settings.lines')}>
      <form class="form" onSubmit={form.submit}>
        {backend !== 'standalone' && (
          <Line form={form} name="startLine" isMine="users.manage" hint={t('settings.startLineHint')} />
        )}
        <Line
          form={form}
          name="stopLine"
          isMine="console.write"
          hint={isOther ? undefined : t('settings.stopLineOwn')}
        />
        <div class="pair">
          <Wait form={form} name="stopWaitSeconds" />
          <Wait form={form} name="killWaitSeconds" />
        </div>
        <p class="soft small">{t('settings.waitsHint')}</p>
        <Line form={form} name="bundleStartLine" isMine="console.write" />
        <Line form={form} name="bundleStopLine" isMine="console.write" />
        <Line form={form} name="bundleRestartLine" isMine="console.write" />
        <p class="soft small">{t(isOther ? 'settings.bundleLinesHint' : 'settings.bundleLinesOwn')}</p>
        {isOther && <Bundles form={form} />}
        <SaveRow form={form} />
      </form>
    </Section>
  );
}

type LineName = 'startLine' | 'stopLine' | 'bundleStartLine' | 'bundleStopLine' | 'bundleRestartLine';

interface LineProps {
  readonly form: Form<ConfigValues>;
  readonly name: LineName;
  /** Beside settings.write: whoever names the program runs any, whoever names a line types it. */
  readonly isMine: 'users.manage' | 'console.write';
  readonly hint?: string | undefined;
}

function Line({ form, name, isMine, hint }: LineProps) {
  const isAllowed = useCan()(isMine);
  const needed = t('settings.needsPermission', { permission: t(`permissions.${isMine}`) });
  return (
    <TextField
      label={t(`settings.${name}`)}
      hint={isAllowed ? hint : needed}
      mono
      maxLength={4096}
      value={form.values[name]}
      readOnly={!isAllowed}
      error={form.faultOf(name)}
      onInput={(text) => form.set({ [name]: text })}
    />
  );
}

function Wait({ form, name }: { form: Form<ConfigValues>; name: 'stopWaitSeconds' | 'killWaitSeconds' }) {
  return (
    <TextField
      label={t(`settings.${name}`)}
      type="number"
      min={0}
      max={600}
      value={String(form.values[name])}
      error={form.faultOf(name)}
      onInput={(text) => form.set({ [name]: Number(text) })}
    />
  );
}

function Bundles({ form }: { form: Form<ConfigValues> }) {
  // As it is being written: an empty last line is one that is about to be filled.
  const [text, setText] = useState(form.values.bundles.join('\n'));
  return (
    <TextArea
      label={t('settings.bundles')}
      hint={t('settings.bundlesHint')}
      rows={4}
      value={text}
      error={form.faultOf('bundles')}
      onInput={(written) => {
        setText(written);
        form.set({ bundles: namesOf(written) });
      }}
    />
  );
}
