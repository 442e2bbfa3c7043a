import { useEffect, useState } from 'preact/hooks';
import type { Player } from '#panel/shapes/players.ts';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { PageFrame, Section } from '../components/page-frame.tsx';
import { Empty, Ready } from '../components/states.tsx';
import { live } from '../core/events.ts';
import { number } from '../core/format.ts';
import { t } from '../core/i18n.ts';
import { PanelFault } from '../core/panel-fault.ts';
import { useCan } from '../core/session.ts';
import { useStore } from '../core/store.ts';
import { type Loaded, useLoaded } from '../core/use-loaded.ts';
import { KickDialog } from './kick-dialog.tsx';

const READ_MS = 5000;

/** Players of the game server, read again while they are shown. */
export function PlayersPage() {
  const loaded = useLoaded<{ players: readonly Player[] }>('/api/players');
  const state = useStore(live, (value) => value.status?.state);
  const [kicked, setKicked] = useState<Player | null>(null);
  const isListed = loaded.data !== null && loaded.error === null;
  // The server reports its players once it runs.
  useEffect(() => {
    if (state !== undefined) loaded.reload();
  }, [state]);
  useEffect(() => {
    if (!isListed) return;
    const timer = setInterval(() => document.hidden || loaded.reload(), READ_MS);
    return () => clearInterval(timer);
  }, [isListed]);
  const isUnavailable = loaded.error instanceof PanelFault && loaded.error.key === 'players.unavailable';
  return (
    <PageFrame title={t('common.players')}>
      {isUnavailable ? (
        <Unavailable onRetry={loaded.reload} />
      ) : (
        <Ready of={loaded}>{({ players }) => <PlayerList players={players} onKick={setKicked} />}</Ready>
      )}
      {kicked !== null && <Kick player={kicked} loaded={loaded} onClose={() => setKicked(null)} />}
    </PageFrame>
  );
}

interface PlayerListProps {
  readonly players: readonly Player[];
  readonly onKick: (player: Player) => void;
}

function PlayerList({ players, onKick }: PlayerListProps) {
  const mayKick = useCan()('players.kick');
  if (players.length === 0) return <Empty icon="players" title={t('players.none')} />;
  const kick = (player: Player) => (
    <span class="row-actions">
      <Button kind="quiet" title={t('players.kickPlayer', { name: player.name })} onClick={() => onKick(player)}>
        {t('players.kick')}
      </Button>
    </span>
  );
  const columns: Column<Player>[] = [
    // A name may hold marks of direction: it must not turn the rest of its row.
    { title: t('players.name'), cell: ({ name }) => <bdi class="long">{name}</bdi> },
    { title: t('players.number'), isNumber: true, cell: ({ id }) => String(id) },
    { title: t('players.ping'), isNumber: true, cell: ({ ping }) => t('players.pingMs', { ms: number(ping) }) },
    ...(mayKick ? [{ title: t('players.actions'), isActions: true, cell: kick }] : []),
  ];
  const count = t('players.count', { count: players.length });
  return (
    <Section title={count}>
      <DataTable
        label={t('common.players')}
        columns={columns}
        rows={players}
        keyOf={({ id, name }) => `${id} ${name}`}
      />
    </Section>
  );
}

interface KickProps {
  readonly player: Player;
  readonly loaded: Loaded<unknown>;
  readonly onClose: () => void;
}

function Kick({ player, loaded, onClose }: KickProps) {
  const close = () => {
    onClose();
    loaded.reload();
  };
  return <KickDialog player={player} onClose={close} />;
}

/** Why there is no list, and what the owner can do. */
function Unavailable({ onRetry }: { onRetry: () => void }) {
  const status = useStore(live, (value) => value.status);
  if (status !== null && status.backend !== 'fxserver') {
    return (
      <Empty icon="players" title={t('players.other')}>
        {<p>{t('players.otherText')}</p>}
      </Empty>
    );
  }
  const isRunning = status?.state === 'running';
  return (
    <Empty icon="players" title={t(isRunning ? 'players.silent' : 'players.down')}>
      <p>{t(isRunning ? 'players.silentText' : 'players.downText')}</p>
      {isRunning ? (
        <Button onClick={onRetry}>{t('common.tryAgain')}</Button>
      ) : (
        <a href="#/overview">{t('overview.title')}</a>
      )}
    </Empty>
  );
}
