import { useState } from 'preact/hooks';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import type { RemovedProject } from '#panel/shapes/sources.ts';
import { Button } from '../components/button.tsx';
import { Section } from '../components/page-frame.tsx';
import { Time } from '../components/time.tsx';
import { tellDone } from '../components/toast.tsx';
import { api } from '../core/api.ts';
import { t } from '../core/i18n.ts';
import { linkTo } from '../core/router.ts';
import { useAction } from '../core/use-action.ts';
import { NameDialog } from './name-dialog.tsx';

/** Removes a project to the trash; its bundle stays on the server. */
export function ProjectRemoval({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title={t('tools.deletion')}>
      <p class="soft lead">{t('sources.removeHint')}</p>
      <p class="row">
        <Button kind="danger" icon="trash" onClick={() => setOpen(true)}>
          {t('sources.remove')}
        </Button>
      </p>
      {isOpen && <RemovalDialog name={name} onClose={() => setOpen(false)} />}
    </Section>
  );
}

function RemovalDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [remove, isBusy] = useAction(async (confirm: string) => {
    const { status } = await api.post<{ status: JobStatus }>('/api/bundle-tools/projects/remove', { name, confirm });
    location.hash = linkTo('tools', ['jobs', status.id]);
  });
  return (
    <NameDialog name={name} action={t('sources.remove')} isBusy={isBusy} onRemove={remove} onClose={onClose}>
      <p>{t('sources.removeHint')}</p>
    </NameDialog>
  );
}

interface RemovedProjectsProps {
  readonly removed: readonly RemovedProject[];
  readonly onRestored: () => void;
}

/** Removed projects, with the way back. */
export function RemovedProjects({ removed, onRestored }: RemovedProjectsProps) {
  const [restore, isBusy] = useAction(async ({ id, name }: RemovedProject) => {
    await api.post('/api/bundle-tools/projects/restore', { id });
    tellDone(t('sources.restored', { name }));
    onRestored();
  });
  if (removed.length === 0) return null;
  return (
    <Section title={t('sources.removed')}>
      <ul class="plain-list">
        {removed.map((project) => (
          <li key={project.id} class="row">
            <span class="file-name">{project.name}</span>
            <span class="soft">
              {t('tools.until')} <Time iso={project.until} isAbsolute />
            </span>
            <Button kind="quiet" icon="undo" busy={isBusy} onClick={() => restore(project)}>
              {t('tools.restore')}
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
