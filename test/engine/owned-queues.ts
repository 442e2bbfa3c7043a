/** Rows of `_queues` as versions before 2026-12 kept them: the last owner of each namespace, and the earlier ones. */
export const OWNED = [
  {
    ...{ namespace: 'game', journal: 'b', token: 3, position: 70 },
    past: [
      { journal: 'a', token: 1, position: 5 },
      { journal: 'b', token: 2, position: 9 },
    ],
  },
  {
    ...{ namespace: 'left', journal: null, token: 1, position: 4 },
    past: [{ journal: 'a', token: 1, position: 4 }],
  },
];

/** The same as places of journals. */
export const MOVED = [
  { namespace: 'game', journal: 'a', token: 1, position: 5, past: [], writtenMsAgo: null },
  { namespace: 'game', journal: 'b', token: 3, position: 70, past: [{ token: 2, position: 9 }], writtenMsAgo: null },
  { namespace: 'left', journal: 'a', token: 1, position: 4, past: [], writtenMsAgo: null },
];
