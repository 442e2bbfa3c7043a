import { useEffect } from 'preact/hooks';
import type { Box, ClusterAnswer } from '#panel/shapes/cluster.ts';
import { Badge, Tag } from '../components/badge.tsx';
import { Section } from '../components/page-frame.tsx';
import { t } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** A sidecar writes its row as often. */
const RELOAD_MS = 10_000;

/** Boxes that share the database, and which of them this page comes from; nothing if there is one. */
export function BoxesSection() {
  const { data, reload } = useLoaded<ClusterAnswer>('/api/cluster');
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, RELOAD_MS);
    return () => clearInterval(timer);
  }, [reload]);
  if (data === null || data.others.length === 0) return null;
  const { own, others } = data;
  return (
    <Section title={t('overview.boxes')}>
      <p class="soft">{t('overview.boxes-here', { box: own.box })}</p>
      <ul class="boxes" aria-label={t('overview.boxes')}>
        <BoxRow box={own} isOwn />
        {others.map((box) => (
          <BoxRow key={box.instance} box={box} />
        ))}
      </ul>
    </Section>
  );
}

function BoxRow({ box: { box, url, version, isAlive }, isOwn = false }: { box: Box; isOwn?: boolean }) {
  return (
    <li aria-current={isOwn ? 'true' : undefined}>
      <Badge tone={isAlive ? 'good' : 'bad'}>{t(isAlive ? 'overview.box-alive' : 'overview.box-silent')}</Badge>
      <strong>{box}</strong>
      {isOwn && <Tag>{t('overview.box-own')}</Tag>}
      <span class="soft">{url}</span>
      <span class="soft">{version}</span>
    </li>
  );
}
