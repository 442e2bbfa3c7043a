import { PageFrame } from '../components/page-frame.tsx';
import { Tabs } from '../components/tabs.tsx';
import { t } from '../core/i18n.ts';
import { linkTo, usePlace } from '../core/router.ts';
import { KeysView } from './keys-view.tsx';
import { QuarantineView } from './quarantine-view.tsx';
import { QueueView } from './queue-view.tsx';
import { RowsView } from './rows-view.tsx';
import { SlowView } from './slow-view.tsx';
import { TablesView } from './tables-view.tsx';

/** `#/database/rows/NAMESPACE/TABLE` is one table; the parts beside it are tabs. */
const PARTS = ['tables', 'queue', 'quarantine', 'slow', 'keys'] as const;

export function DatabasePage() {
  const { rest } = usePlace();
  const [part = 'tables', namespace, table] = rest;
  if (part === 'rows' && namespace !== undefined && table !== undefined) {
    return <RowsView key={`${namespace} ${table}`} namespace={namespace} table={table} />;
  }
  const tabs = PARTS.map((name) => ({
    link: linkTo('database', name === 'tables' ? [] : [name]),
    label: t(`database.${name}`),
    isHere: name === part,
  }));
  return (
    <PageFrame title={t('database.title')}>
      <Tabs label={t('database.parts')} tabs={tabs} />
      <Part name={part} />
    </PageFrame>
  );
}

function Part({ name }: { name: string }) {
  switch (name) {
    case 'queue':
      return <QueueView />;
    case 'quarantine':
      return <QuarantineView />;
    case 'slow':
      return <SlowView />;
    case 'keys':
      return <KeysView />;
    default:
      return <TablesView />;
  }
}
