import type { Random } from './random.ts';

/** Names as people have them. A database that survives these survives your players. */
const FIRST = [
  ...['Zoë', 'Jürgen', 'Łukasz', 'Søren', 'Chloé', 'Íñigo', 'Ağça', 'Anđela', 'Þóra', 'Nguyễn', 'María-José', 'Björk'],
  ...[
    'Frank',
    'Trevor',
    'Amanda',
    'Lamar',
    'Tracey',
    'Jimmy',
    'Denise',
    'Wade',
    'Olga',
    'Δημήτρης',
    'Иван',
    '美咲',
    '민준',
  ],
  ...['Siobhán', 'François', 'Renée', 'Håkon', 'Żaneta', 'Ōkami', 'Dvořák', 'Noël', 'Çelik', 'Ştefan', 'Ezra', 'Ada'],
] as const;

const LAST = [
  ...["O'Brien", "D'Angelo", 'Müller', 'de la Cruz', 'Smith', 'Lindström', 'Kowalczyk', "N'Diaye", 'Gómez', 'Ångström'],
  ...['Clinton', 'Philips', 'De Santa', 'Jäger', 'Straße', 'Öztürk', 'Nováková', 'Papadopoulos', 'Æbelø', "L'Écuyer"],
] as const;

const NICKNAMES = ['🦊', '"Ace"', '👩‍🚒', 'Jr.', '🇧🇷', '‘Doc’', '100%', 'back\\slash', '_under_', '🔥🔥'] as const;

export const JOBS = ['police', 'medic', 'mechanic', 'taxi', 'unemployed'] as const;

/** Every eighth name has a nickname, on average. */
export function makeName(random: Random): string {
  const name = `${random.pick(FIRST)} ${random.pick(LAST)}`;
  return random.below(8) === 0 ? `${name} ${random.pick(NICKNAMES)}` : name;
}
