import { useState } from 'preact/hooks';
import type { Backend } from '#panel/shapes/server.ts';
import type { ConfigValues } from '#panel/shapes/settings.ts';
import { TextArea, TextField } from '../components/field.tsx';
import { NumberField } from '../components/number-field.tsx';
import { Section } from '../components/page-frame.tsx';
import { type Form, SaveRow, useForm } from '../components/use-form.tsx';
import { api } from '../core/api.ts';
import { namesOf } from '../core/changed-fields.ts';
import { numberFault } from '../core/field-checks.ts';
import { t } from '../core/i18n.ts';
import { useCan } from '../core/session.ts';

interface LinesFormProps {
  readonly config: ConfigValues;
  readonly backend: Backend;
  readonly onSaved: () => void;
}

/** Lines with which the server is started, stopped and asked. Its own kinds know most of them. */
export function LinesForm({ config, backend, onSaved }: LinesFormProps) {
  const save = async (changes: Partial<ConfigValues>) => {
    await api.post('/api/server-config', { config: changes });
    onSaved();
  };
  const form = useForm<ConfigValues>(config, save, faultsOf);
  const isOther = backend === 'command';
  return (
    <Section title={t('settings.lines')}>
      <form class="form" noValidate onSubmit={form.submit}>
        {backend !== 'standalone' && (
          <Line form={form} name="startLine" isMine="users.manage" hint={t('settings.startLineHint')} />
        )}
        <Line
          form={form}
          name="stopLine"
          isMine="console.write"
          hint={isOther ? undefined : t('settings.stopLineOwn', { default: 'quit' })}
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

const LONGEST_WAIT_SECONDS = 600;

function faultsOf(values: ConfigValues) {
  const bundleLine = (line: string) => (line === '' || line.includes('{name}') ? null : t('settings.needsName'));
  const wait = (seconds: number) => numberFault(seconds, 0, LONGEST_WAIT_SECONDS);
  // The marks that the panel splits the line by.
  const isClosed = /^(?:[^"']|"[^"]*"|'[^']*')*$/.test(values.startLine);
  return {
    startLine: isClosed ? null : t('settings.openQuote'),
    bundleStartLine: bundleLine(values.bundleStartLine),
    bundleStopLine: bundleLine(values.bundleStopLine),
    bundleRestartLine: bundleLine(values.bundleRestartLine),
    stopWaitSeconds: wait(values.stopWaitSeconds),
    killWaitSeconds: wait(values.killWaitSeconds),
  };
}

type LineName = 'startLine' | 'stopLine' | 'bundleStartLine' | 'bundleStopLine' | 'bundleRestartLine';

interface LineProps {
  readonly form: Form<ConfigValues>;
  readonly name: LineName;
  /** Needed beside settings.write: naming the program runs any program, naming a line types it. */
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
    <NumberField
      label={t(`settings.${name}`)}
      min={0}
      max={LONGEST_WAIT_SECONDS}
      value={form.values[name]}
      error={form.faultOf(name)}
      onInput={(seconds) => form.set({ [name]: seconds })}
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
