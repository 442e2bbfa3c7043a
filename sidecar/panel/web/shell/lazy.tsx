import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Loading } from '../components/states.tsx';
import { t } from '../core/i18n.ts';

type Load = () => Promise<ComponentType>;

const loaded = new Map<Load, ComponentType>();

/** A part of the page that is read when it is first shown. */
export function Lazy({ load }: { load: Load }) {
  const [, setTurn] = useState(0);
  const [failed, setFailed] = useState<Load | null>(null);
  const Component = loaded.get(load);
  useEffect(() => {
    if (loaded.has(load)) return;
    load().then(
      (component) => {
        loaded.set(load, component);
        setTurn((turn) => turn + 1);
      },
      () => setFailed(() => load),
    );
  }, [load]);
  if (Component !== undefined) return <Component />;
  return failed === load ? <Reload /> : <Loading />;
}

/** After an update of the panel its parts have other names; only a reload of the page finds them. */
function Reload() {
  return (
    <div class="notice bad" role="alert">
      <p>{t('common.partMissing')}</p>
      <Button onClick={() => location.reload()}>{t('common.reloadPage')}</Button>
    </div>
  );
}
