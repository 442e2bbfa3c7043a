import { useEffect } from 'preact/hooks';
import type { Box, ClusterAnswer, DatabaseHost } from '#panel/shapes/cluster.ts';
import { Badge, Tag } from '../components/badge.tsx';
import { Section } from '../components/page-frame.tsx';
import { Notice } from '../components/states.tsx';
import { t } from '../core/i18n.ts';
import { useLoaded } from '../core/use-loaded.ts';

/** A fail-over is seen that soon: the sidecar itself looks at the hosts of the database every two seconds. */
const RELOAD_MS = 3000;

/** Boxes that share the database, which of them this page comes from, and its host of the database; nothing if there is one of each and all is well. */
export function BoxesSection() {
  const { data, reload } = useLoaded<ClusterAnswer>('/api/cluster');
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, RELOAD_MS);
    return () => clearInterval(timer);
  }, [reload]);
  if (data === null) return null;
  const { own, others, database, lacksStandby } = data;
  if (others.length === 0 && database?.hasOthers !== true && !lacksStandby) return null;
  return (
    <Section title={t('overview.boxes')}>
      <p class="soft">{t('overview.boxes-here', { box: own.box })}</p>
      {database !== null && <DatabaseHostLine database={database} />}
      {lacksStandby && (
        <Notice kind="warn">
          <p>{t('overview.database-no-standby')}</p>
        </Notice>
      )}
      <ul class="boxes" aria-label={t('overview.boxes')}>
        <BoxRow box={own} isOwn />
        {others.map((box) => (
          <BoxRow key={box.instance} box={box} />
        ))}
      </ul>
    </Section>
  );
}

function DatabaseHostLine({ database: { host, insteadOf } }: { database: DatabaseHost }) {
  if (insteadOf === null) return <p class="soft database-host">{t('overview.database-at', { host })}</p>;
  return (
    <Notice kind="warn">
      <p class="database-host">{t('overview.database-instead', { host, first: insteadOf })}</p>
    </Notice>
  );
}

function BoxRow({ box: { box, url, version, isAlive }, isOwn = false }: { box: Box; isOwn?: boolean }) {
  return (
    <li aria-current={isOwn ? 'true' : undefined}>
      <Badge tone={isAlive ? 'good' : 'bad'}>{t(isAlive ? 'overview.box-alive' : 'overview.box-silent')}</Badge>
      <span class="words">
        <strong>{box}</strong>
        {isOwn && <Tag>{t('overview.box-own')}</Tag>}
      </span>
      <span class="soft">{url}</span>
      <span class="soft">{version}</span>
    </li>
  );
}
