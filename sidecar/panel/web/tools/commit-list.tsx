import type { ProjectCommit } from '#panel/shapes/sources.ts';
import { Time } from '../components/time.tsx';

/** Commits in the order given, each in a line. */
export function CommitList({ commits }: { commits: readonly ProjectCommit[] }) {
  if (commits.length === 0) return null;
  return (
    <ul class="plain-list">
      {commits.map(({ commit, author, at, subject }) => (
        <li key={commit} class="row">
          <code>{commit.slice(0, 12)}</code>
          <span>{subject}</span>
          <span class="soft">
            {author} · <Time iso={at} />
          </span>
        </li>
      ))}
    </ul>
  );
}
