import { useState } from 'preact/hooks';
import type { ProjectRef, ProjectView } from '#panel/shapes/sources.ts';
import { SelectField } from '../components/field.tsx';
import { Section } from '../components/page-frame.tsx';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { headWords } from './compared-pair.ts';
import { TakeBackLink } from './take-back-link.tsx';

interface CompareFormProps {
  readonly project: ProjectView;
  readonly refs: readonly ProjectRef[];
}

/** Leads to the comparison of two refs, or of a ref with what lies on the server. */
export function CompareForm({ project: { name, branch, installed }, refs }: CompareFormProps) {
  const [base, setBase] = useState(branch);
  const [head, setHead] = useState('');
  const named = refs.map(({ name: ref, kind }) => (kind === 'remote' ? `origin/${ref}` : ref));
  const heads = [...(installed === null ? [] : ['installed']), ...named.filter((ref) => ref !== base)];
  const chosen = heads.includes(head) ? head : (heads[0] ?? '');
  const shown = (ref: string) => [ref, headWords(ref)] as const;
  return (
    <Section title={t('merge.compare')}>
      <div class="toolbar">
        <SelectField
          label={t('merge.into')}
          value={base}
          options={[...new Set([branch, ...named])].map(shown)}
          onChange={setBase}
        />
        <SelectField label={t('merge.from')} value={chosen} options={heads.map(shown)} onChange={setHead} />
        {chosen !== '' && (
          <a class="button" href={linkTo('tools', ['sources', name, 'compare'], { base, head: chosen })}>
            {t('merge.compare')}
          </a>
        )}
        <TakeBackLink project={name} base={base} />
      </div>
    </Section>
  );
}
