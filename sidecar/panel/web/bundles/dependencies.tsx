import type { BundleInfo } from '#panel/shapes/bundles.ts';
import { Badge, None } from '../components/badge.tsx';
import { t } from '../core/i18n.ts';
import { missingOf } from './bundle-list.ts';

/** Bundles that a bundle needs; the missing ones stand out. */
export function Dependencies({ bundle, all }: { bundle: BundleInfo; all: readonly BundleInfo[] }) {
  const missing = missingOf(bundle, all);
  if (bundle.dependencies.length === 0) return <None />;
  return (
    <ul class="words">
      {bundle.dependencies.map((name) => (
        <li key={name}>{missing.includes(name) ? <Badge tone="bad">{t('bundles.missing', { name })}</Badge> : name}</li>
      ))}
    </ul>
  );
}
