import { useState } from 'preact/hooks';
import type { ProjectRef, ProjectView } from '#panel/shapes/sources.ts';
import { Button } from '../components/button.tsx';
import { SelectField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { useAction } from '../core/use-action.ts';

interface CheckoutFormProps {
  readonly project: ProjectView;
  readonly refs: readonly ProjectRef[];
  readonly onChange: () => void;
}

/** Branch or tag that the next build takes. */
export function CheckoutForm({ project: { name, branch, commit }, refs, onChange }: CheckoutFormProps) {
  const [ref, setRef] = useState(branch);
  const [checkout, isBusy] = useAction(async () => {
    await api.post('/api/bundle-tools/projects/checkout', { name, ref });
    tellDone(t('sources.checkedOut', { ref }));
    onChange();
  });
  const branches = new Set(refs.filter(({ kind }) => kind === 'branch').map((each) => each.name));
  const choices = refs.filter(({ kind, name: each }) => kind !== 'remote' || !branches.has(each));
  const chosen = choices.find((each) => each.name === ref);
  return (
    <Section title={t('sources.checkout')}>
      <div class="toolbar">
        <SelectField
          label={t('sources.ref')}
          value={ref}
          options={choices.map((each) => [each.name, `${each.name} · ${t(`sources.ref-${each.kind}`)}`])}
          onChange={setRef}
        />
        <Button busy={isBusy} disabled={chosen === undefined || chosen.commit === commit} onClick={() => checkout()}>
          {t('sources.useRef')}
        </Button>
      </div>
    </Section>
  );
}
