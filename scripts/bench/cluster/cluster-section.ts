import { costTarget, count, factTarget, ratioText, speedTarget, type Target } from '../target.ts';
import type { ClusterFigures } from './measure-cluster.ts';
import type { OneBoxFigure } from './measure-one-box.ts';
import type { PauseFigure } from './measure-pauses.ts';
import type { NonceFigure, SpreadKind } from './measure-rates.ts';

const LEAST_SPREAD: Readonly<Record<SpreadKind, number>> = { insert: 0.75, find: 0.9, batch: 0.9 };
const LEAST_FOREIGN: Readonly<Record<NonceFigure['engine'], number>> = { PostgreSQL: 0.8, Galera: 0.9 };
const LEAST_CONNECTOR = 1;
/** Share of the calls a second that one sidecar did before. */
const LEAST_ONE_BOX = 0.97;
/** `evs.suspect_timeout` of Galera itself, and of the nodes that notice a dead one sooner. */
const SUSPICION_MS = 5000;
const QUICK_SUSPICION_MS = 2000;
const MOST_BEYOND_MS = 1500;
const MOST_SIDECAR_MS = 1000;

export function clusterTargets(figures: ClusterFigures, isQuiet: boolean): Target[] {
  const { spread, nonces, nodeDeath, quickNodeDeath, sidecarDeath, oneBox } = figures;
  const deaths = { 'a node': nodeDeath, 'a node, with a short suspicion': quickNodeDeath, 'a sidecar': sidecarDeath };
  return [
    ...oneBox.map((figure) => oneBoxTarget(figure, isQuiet)),
    ...spread.map(({ kind, onThree, onOne }) =>
      speedTarget(
        `${kind}: three sidecars on three nodes of Galera against three on one node`,
        onThree / onOne,
        LEAST_SPREAD[kind],
        `${count(onThree)} of ${count(onOne)}/s`,
        isQuiet,
      ),
    ),
    ...nonces.flatMap((figure) => nonceTargets(figure, isQuiet)),
    pauseTarget(
      'longest call at the others when a node of Galera is killed, with the time-outs of Galera itself',
      nodeDeath,
      SUSPICION_MS + MOST_BEYOND_MS,
    ),
    pauseTarget(
      `the same, with an evs.suspect_timeout of ${QUICK_SUSPICION_MS / 1000} s`,
      quickNodeDeath,
      QUICK_SUSPICION_MS + MOST_BEYOND_MS,
    ),
    pauseTarget(
      'longest call through a connector with two addresses when its sidecar is killed',
      sidecarDeath,
      MOST_SIDECAR_MS,
    ),
    ...Object.entries(deaths).map(([dead, { acknowledged, lost, doubled }]) =>
      factTarget(
        `acknowledged inserts after the death of ${dead}`,
        lost === 0 && doubled === 0,
        `${lost} lost, ${doubled} doubled of ${count(acknowledged)}`,
        '0 lost, 0 doubled',
      ),
    ),
  ];
}

function nonceTargets({ engine, alone, foreign, connector }: NonceFigure, isQuiet: boolean): Target[] {
  const detail = (side: typeof alone) => `${count(side.perSecond)} of ${count(alone.perSecond)}/s`;
  const against = `on ${engine} with a second sidecar alive against alone`;
  return [
    speedTarget(
      `insert of a client that names no sidecar, ${against}`,
      foreign.perSecond / alone.perSecond,
      LEAST_FOREIGN[engine],
      detail(foreign),
      isQuiet,
    ),
    speedTarget(
      `insert of the connector, ${against}`,
      connector.perSecond / alone.perSecond,
      LEAST_CONNECTOR,
      detail(connector),
      isQuiet,
    ),
  ];
}

function oneBoxTarget({ engine, kind, now, before }: OneBoxFigure, isQuiet: boolean): Target {
  const cpu = `${now.cpuMicros.toFixed(0)} of ${before.cpuMicros.toFixed(0)} µs of processor`;
  return speedTarget(
    `${kind} on ${engine}: one sidecar of this build against BENCH_BEFORE`,
    now.perSecond / before.perSecond,
    LEAST_ONE_BOX,
    `${count(now.perSecond)} of ${count(before.perSecond)}/s, ${cpu}`,
    isQuiet,
  );
}

function pauseTarget(what: string, { longestMs }: PauseFigure, mostMs: number): Target {
  return costTarget(`${what}, in seconds`, longestMs / 1000, mostMs / 1000);
}

/** Rates, processor time and pauses. */
export function clusterSection({ spread, nonces, nodeDeath, quickNodeDeath, sidecarDeath }: ClusterFigures): string {
  const spreadRows = spread.map(
    ({ kind, onThree, onOne }) => `| ${kind} | ${count(onThree)} | ${count(onOne)} | ${ratioText(onThree / onOne)} |`,
  );
  const nonceRows = nonces.map(({ engine, alone, foreign, connector }) => {
    const cell = (side: typeof alone) => `${count(side.perSecond)} (${side.cpuMicros.toFixed(0)} µs)`;
    return `| ${engine} | ${cell(alone)} | ${cell(foreign)} | ${cell(connector)} |`;
  });
  const seconds = (figure: PauseFigure) => (figure.longestMs / 1000).toFixed(2);
  return `
## Several boxes

Three sidecars on three nodes of MariaDB Galera against three on one node of it, calls a second, all on this one machine, so that no gain can show:

| | three nodes | one node | ratio |
|---|---:|---:|---:|
${spreadRows.join('\n')}

A sidecar beside a second one: a write of a client that names no sidecar records its nonce in its own transaction, one of the
connector does not ([cluster.md](cluster.md)). Inserts a second, in brackets the sidecar's processor time for one:

| | alone | client that names no sidecar | connector |
|---|---:|---:|---:|
${nonceRows.join('\n')}

A node of Galera is killed under ${count(nodeDeath.acknowledged)} inserts: the longest call at the others took ${seconds(nodeDeath)} s with
Galera's own time-outs (\`evs.suspect_timeout\` ${SUSPICION_MS / 1000} s), and ${seconds(quickNodeDeath)} s with an \`evs.suspect_timeout\` of ${QUICK_SUSPICION_MS / 1000} s. A sidecar is killed under ${count(sidecarDeath.acknowledged)} inserts of a connector with two addresses: the longest
call took ${seconds(sidecarDeath)} s.
`;
}
