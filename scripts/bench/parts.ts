import { aggregateSection, aggregateTargets, measureAggregates } from './aggregate/measure-aggregates.ts';
import { backupSection, backupTargets, measureBackups } from './backup/measure-backups.ts';
import { measureRows, rowSection, rowTargets } from './backup/measure-rows.ts';
import { batchSection, measureBatches } from './batch/measure-batches.ts';
import { clusterSection, clusterTargets } from './cluster/cluster-section.ts';
import { measureCluster } from './cluster/measure-cluster.ts';
import { ENGINE_SECONDS, SECONDS } from './durations.ts';
import { engineSection, engineTargets, measureEngines } from './engines/measure-engines.ts';
import { measureGameThread } from './game-thread/measure-game-thread.ts';
import type { Measured } from './measured.ts';
import { ownerAnswer } from './page/owner-answer.ts';
import { measureInstall } from './panel/measure-install.ts';
import { measureUpdate } from './panel/measure-update.ts';
import { panelSection, panelTargets } from './panel/panel-section.ts';
import { measurePocketbase, pocketbaseSection, pocketbaseTargets } from './peers/measure-pocketbase.ts';
import { apiSection, measureApi } from './sidecar/measure-api.ts';
import { coldSection, coldTargets, measureColdFile } from './sidecar/measure-cold-file.ts';
import { measureTransports, transportSection, transportTargets } from './sidecar/measure-transports.ts';
import { measureTransfers, transferSection, transferTargets } from './transfer/measure-transfers.ts';
import { measureQueue, queueSection } from './write-behind/measure-queue.ts';

export interface Part {
  /** As BENCH_PARTS names it. */
  readonly name: string;
  readonly title: string;
  /** `isQuiet`: the machine did nothing else before it began. */
  readonly measure: (isQuiet: boolean) => Promise<Measured>;
}

/** In the order of the page, which is that of its readers' questions. */
export const PARTS: readonly Part[] = [
  {
    name: 'game',
    title: "the game's thread",
    async measure() {
      return ownerAnswer(await measureGameThread(SECONDS));
    },
  },
  {
    name: 'pocketbase',
    title: 'the sidecar against PocketBase',
    async measure(isQuiet) {
      const figures = await measurePocketbase();
      return { targets: pocketbaseTargets(figures, isQuiet), section: pocketbaseSection(figures) };
    },
  },
  {
    name: 'transfers',
    title: 'transfers',
    async measure(isQuiet) {
      const figures = await measureTransfers();
      return { targets: transferTargets(figures, isQuiet), section: transferSection(figures) };
    },
  },
  {
    name: 'transports',
    title: 'the stream and POST',
    async measure(isQuiet) {
      const figures = await measureTransports();
      return { targets: transportTargets(figures, isQuiet), section: transportSection(figures) };
    },
  },
  {
    name: 'cold',
    title: 'a cold file',
    async measure() {
      const figure = await measureColdFile();
      return { targets: coldTargets(figure), section: coldSection(figure) };
    },
  },
  {
    name: 'backups',
    title: 'backups that leave the machine',
    async measure() {
      const figures = await measureBackups();
      return { targets: backupTargets(figures), section: backupSection(figures) };
    },
  },
  {
    name: 'rows',
    title: 'rows in and out',
    async measure() {
      const figures = await measureRows();
      return { targets: rowTargets(figures), section: rowSection(figures) };
    },
  },
  {
    name: 'api',
    title: 'the signed API over POST',
    async measure() {
      return { targets: [], section: apiSection(await measureApi()) };
    },
  },
  {
    name: 'engines',
    title: 'engines',
    async measure() {
      const figures = await measureEngines(ENGINE_SECONDS);
      return { targets: engineTargets(figures), section: engineSection(figures) };
    },
  },
  {
    name: 'aggregates',
    title: 'aggregates',
    async measure(isQuiet) {
      const figures = await measureAggregates(ENGINE_SECONDS);
      return { targets: aggregateTargets(figures, isQuiet), section: aggregateSection(figures) };
    },
  },
  {
    name: 'batches',
    title: 'saving players',
    async measure() {
      return { targets: [], section: batchSection(await measureBatches(ENGINE_SECONDS)) };
    },
  },
  {
    name: 'queue',
    title: 'write-behind',
    async measure() {
      return { targets: [], section: queueSection(await measureQueue(ENGINE_SECONDS)) };
    },
  },
  {
    name: 'cluster',
    title: 'several boxes',
    async measure(isQuiet) {
      const figures = await measureCluster(ENGINE_SECONDS);
      return { targets: clusterTargets(figures, isQuiet), section: clusterSection(figures) };
    },
  },
  {
    name: 'panel',
    title: "the panel's work beside the API",
    async measure() {
      const figures = { install: await measureInstall(), update: await measureUpdate() };
      return { targets: panelTargets(figures), section: panelSection(figures) };
    },
  },
];
